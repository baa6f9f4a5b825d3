"""What a run shows in the terminal: a line for each step, the progress of long ones, errors once, and the end.

`words` has the sentences, `preview` the answer to ``--dry-run``, `screen` what is shown when, and `handler` draws it.
"""

from reident.terminal.handler import SHOWN, install

__all__ = ["SHOWN", "install"]
