"""The command `reident`: drafts a study file from the files themselves, and says in a few lines what it found."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from reident.drafting import filerisk, linked, masked, synthetic
from reident.drafting.draft import Draft
from reident.errors import InputError
from reident.study import reading as studyfile
from reident.study.model import load

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
  reident init --microaggregate business.csv        a file to be micro-aggregated

exit status: 0 if the draft was written, also with TODOs; 1 for wrong input; 2 for a wrong command line
"""
_NUMBERS = {
    None: "PUF EIF [IUF]",
    "file_risk": "one file",
    "synthetic": "CONFIDENTIAL SYNTHETIC …",
    "microaggregate": "one file",
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reident", description="Re-identification studies of public use files."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    init = commands.add_parser(
        "init",
        help="draft a study file from the files of the study",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="reident init [--out STUDY] PUF EIF [IUF]\n"
        "       reident init [--out STUDY] (--file-risk FILE | --synthetic CONFIDENTIAL SYNTHETIC … | "
        "--microaggregate FILE)",
    )
    init.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="the files, in the order shown above"
    )
    kind = init.add_mutually_exclusive_group()
    for name, text in (
        ("file_risk", "the risk of one file, without an intruder's file"),
        ("synthetic", "a confidential file and its synthetic files"),
        ("microaggregate", "a file that is to be micro-aggregated"),
    ):
        option = "--" + name.replace("_", "-")
        kind.add_argument(option, dest="kind", action="store_const", const=name, help=text)
    init.add_argument(
        "--out",
        type=Path,
        default=Path("study.yaml"),
        metavar="STUDY",
        help="the study file, default study.yaml",
    )
    return parser


def _draft(kind: str | None, files: list[Path], out: Path) -> Draft:
    if kind == "file_risk":
        return filerisk.make(files[0], out)
    if kind == "microaggregate":
        return masked.make(files[0], out)
    if kind == "synthetic":
        return synthetic.make(files[0], files[1:], out)
    return linked.make(files, out)


def _counts(kind: str | None, n: int) -> bool:
    return {None: n in (2, 3), "synthetic": n >= 2}.get(kind, n == 1)


def _write(out: Path, text: str) -> None:
    """Write the draft, for its owner alone; never over a file that is there.

    Raises
    ------
    InputError
    """
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a new file, and no other
            stream.write(text)
    except FileExistsError:
        raise _exists(out) from None
    except OSError as error:
        raise InputError(
            f"{out}: the draft cannot be written ({error.strerror}). Check the folder."
        ) from None


def _exists(out: Path) -> InputError:
    return InputError(f"{out}: the file exists, and is not overwritten. Choose another name with `--out`.")


def _summary(made: Draft, out: Path) -> str:
    open_ = _undecided(out)
    lines = [*made.facts, f"Draft: {out}"]
    if open_:
        where = ", ".join(map(str, open_[:20])) + (" …" if len(open_) > 20 else "")
        lines.append(
            f"To be decided: {len(open_)} line{'s' * (len(open_) != 1)} with TODO ({where}). The study does not run "
            "while one is left."
        )
    elif mistake := _mistake(out):
        lines.append(f"To be corrected: {mistake}")
    else:
        lines.append("Nothing is left to be decided. Check the reasons in the draft, then run:")
        lines.append(f"  .venv/bin/snakemake --config study={out}")
    return "".join(f"{line}\n" for line in lines)


def _undecided(out: Path) -> list[int]:
    """Return the lines on which something is to be decided."""
    return sorted({mistake.line for mistake in studyfile.todos(*studyfile.read(out, decide=False))})


def _mistake(out: Path) -> str:
    """Return what keeps a draft without TODO from being a study; empty if nothing does."""
    try:
        load(out)
    except InputError as error:
        return str(error)
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    if not _counts(given.kind, len(given.files)):
        wanted = _NUMBERS[given.kind]
        parser.error(
            f"init takes {wanted} here, but {len(given.files)} file(s) are given; see reident init --help"
        )
    try:
        if os.path.lexists(given.out):
            raise _exists(given.out)
        made = _draft(given.kind, given.files, given.out)
        _write(given.out, made.text)
    except InputError as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    sys.stdout.write(_summary(made, given.out))
    return 0
