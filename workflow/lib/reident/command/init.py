"""`reident init`: a study file drafted from the files of the study."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from reident.command.commands import add_command

_DESCRIPTION = """\
Draft a study file from the files of the study: formats, keys, linking variables
with their types, missing codes and recodes, and strata. Every guess has its
reason as a comment; what the files do not tell is TODO, and a study does not run
while one is left. No value of the files is in the draft, but codes of categories
that at least three records have.
"""
_EPILOG = """\
examples:
  reident init puf.csv eif.csv links.csv            an attack: the PUF, the intruder's file, the true links
  reident init --file-risk survey.csv               the risk of one file: uniques, DIS, SUDA
  reident init --synthetic real.csv syn1.csv syn2.csv   the confidential file, then its synthetic files
  reident init --values real.csv syn.csv eif.csv    the confidential file, the released one, the intruder's file
  reident init --microaggregate business.csv        a file to be micro-aggregated

exit status: 0 if the draft was written, also with TODOs; 1 for wrong input; 2 for a wrong command line
"""
_USAGE = """\
reident init [--out STUDY] PUF EIF [IUF]
       reident init [--out STUDY] (--file-risk FILE | --synthetic CONFIDENTIAL SYNTHETIC … |
                    --values CONFIDENTIAL RELEASED EIF | --microaggregate FILE)"""
_NUMBERS = {
    None: "PUF EIF [IUF]",
    "file_risk": "one file",
    "synthetic": "CONFIDENTIAL SYNTHETIC …",
    "values": "CONFIDENTIAL RELEASED EIF",
    "microaggregate": "one file",
}


def declare(commands: Any) -> None:
    """Add this part of the command to its parser."""
    text = "draft a study file from the files of the study"
    parser = add_command(commands, "init", text, _DESCRIPTION, _EPILOG, run, _USAGE)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="the files, in the order shown above")
    kind = parser.add_mutually_exclusive_group()
    for name, text in (
        ("file_risk", "the risk of one file, without an intruder's file"),
        ("synthetic", "a confidential file and its synthetic files"),
        ("values", "a confidential file, a released file without records of people, the intruder's file"),
        ("microaggregate", "a file that is to be micro-aggregated"),
    ):
        option = "--" + name.replace("_", "-")
        kind.add_argument(option, dest="kind", action="store_const", const=name, help=text)
    parser.add_argument(
        "--out", type=Path, default=Path("study.yaml"), metavar="STUDY", help="the study file, default study.yaml"
    )
    parser.set_defaults(refuse=parser.error)


def _counts(kind: str | None, n: int) -> bool:
    return {None: n in (2, 3), "synthetic": n >= 2, "values": n == 3}.get(kind, n == 1)


def run(args: argparse.Namespace) -> int:
    """Write the draft, and describe it in a few lines.

    Raises
    ------
    InputError
    """
    from reident.drafting.command import draft

    if not _counts(args.kind, len(args.files)):
        numbers = _NUMBERS[args.kind]
        args.refuse(f"init takes {numbers} here, but {len(args.files)} file(s) are given; see reident init --help")
    sys.stdout.write(draft(args.kind, args.files, args.out))
    return 0
