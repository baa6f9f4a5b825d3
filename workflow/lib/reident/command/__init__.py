"""The command `reident`: what needs no run of the workflow.

Each part of the command imports what it needs when it is asked for: an answer must not wait for what others need.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from reident.command import check, init
from reident.errors import InputError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="reident", description="Re-identification studies of public use files."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for part in (init, check):
        part.declare(commands)
    given = parser.parse_args(arguments)
    try:
        return int(given.run(given))
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
