"""`reident init`: drafts a study file from the files themselves, and describes it in a few lines."""

from __future__ import annotations

import os
from pathlib import Path

from reident.drafting import filerisk, linked, masked, synthetic, values
from reident.drafting.progress import start
from reident.drafting.sheet import number
from reident.errors import InputError
from reident.study import reading as studyfile
from reident.study.model import load


def _draft(kind: str | None, files: list[Path], out: Path) -> tuple[str, list[str]]:
    """Return the text of a study file, and sentences about the files for the terminal, without a value of them."""
    if kind == "file_risk":
        return filerisk.make(files[0], out)
    if kind == "microaggregate":
        return masked.make(files[0], out)
    if kind == "synthetic":
        return synthetic.make(files[0], files[1:], out)
    if kind == "values":
        confidential, released, external = files
        return values.make(confidential, released, external, out)
    return linked.make(files, out)


def _write(out: Path, text: str) -> None:
    """Write the draft, for its owner alone; never over a file that is there."""
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a new file, and no other
            stream.write(text)
    except FileExistsError:
        raise _exists(out) from None
    except OSError as error:
        raise InputError(f"{out}: the draft cannot be written ({error.strerror}). Check the folder.") from None


def _exists(out: Path) -> InputError:
    return InputError(f"{out}: the file exists, and is not overwritten. Choose another name with `--out`.")


def _summary(facts: list[str], out: Path) -> str:
    open_ = _undecided(out)
    lines = [*facts, f"Draft: {out}"]
    if open_:
        where = ", ".join(map(str, open_[:20])) + (" …" if len(open_) > 20 else "")
        lines.append(
            f"To be decided: {number(len(open_), 'line')} with TODO ({where}). The study does not run "
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
    """Return the mistake that keeps a draft without TODO from being a study; empty without one."""
    try:
        load(out)
    except InputError as error:
        return str(error)
    return ""


def draft(kind: str | None, files: list[Path], out: Path) -> str:
    """Draft a study file from the files of the study, and return the remarks on it.

    The kind is ``file_risk``, ``synthetic``, ``values``, ``microaggregate``, or None for an attack. Nothing may be at
    `out`.
    """
    if os.path.lexists(out):
        raise _exists(out)
    start()
    text, facts = _draft(kind, files, out)
    _write(out, text)
    return _summary(facts, out)
