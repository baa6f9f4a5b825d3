"""The ledger: what every step read and wrote, by SHA-256, and whether the chain still closes.

Snakemake schedules by time stamps and its own records; it does not see an edited intermediate result whose time stamp
was kept. A step therefore hashes what it reads and refuses a result that its maker did not write, writes under a
temporary name in the same folder, syncs, renames, and then writes its entry. :meth:`reident.ledger.chain.Chain.walk`
follows the entries back to the sources.
"""

import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reident.ledger.running import Step, step

__all__ = ["Step", "step"]

if "/.snakemake/scripts/" in sys.argv[0]:
    # Ctrl-C ends a step at once and without a traceback: the terminal says that the run is stopped.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def __getattr__(name: str) -> Any:
    """Import what runs a step where it is asked for: looking at a ledger needs no data frames."""
    if name in __all__:
        from reident.ledger import running  # noqa: PLC0415

        return getattr(running, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
