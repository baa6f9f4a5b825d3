"""The command `reident`: tasks beside the workflow, on studies and on sealed studies.

Each part of the command imports what it needs when it is asked for: an answer must not wait for what others need.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence

from reident.command import commands, init
from reident.errors import InputError

__all__ = ["main"]

STOPPED = 130
"""The exit status after Ctrl-C, as of a shell."""


class _Version(argparse.Action):
    """Show the version, which other commands need not wait for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from reident.pipeline import release

        parser.exit(message=f"reident {release.version() or '(version unknown)'}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="reident",
        description="Re-identification studies of public use files. A study is run by `snakemake`.",
        epilog="`reident COMMAND --help` describes a command with examples.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for part in (init, commands):
        part.declare(parsers)
    words = sys.argv[1:] if arguments is None else arguments
    if words and not words[0].startswith("-") and words[0] not in parsers.choices:
        from reident.study.reading import near

        names = "" if (question := near(words[0], parsers.choices)) else f" Choose from {', '.join(parsers.choices)}."
        parser.error(f"`{words[0]}` is not a command.{question}{names}")
    args = parser.parse_args(words)
    os.umask(0o077)  # everything that a command writes is its owner's alone
    try:
        return int(args.run(args))
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        sys.stderr.write(f"Error: {str(error.filename)[:40]}…: the name of a file is too long. Give a shorter one.\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        return STOPPED
