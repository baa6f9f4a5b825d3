"""Files that come with the workflow and are named by a study, or files of the same kind beside the study file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from reident.errors import InputError
from reident.study import reading as studyfile

CONFIG = Path(__file__).parents[4] / "config"
"""The folder of everything that comes with the workflow."""


def check(study_file: Path, location: tuple[str, ...], name: str, folder: Path) -> None:
    """Check that a bundled file has this name.

    Raises
    ------
    InputError
        With the line of the study file.
    """
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in names:
        raise error(
            study_file,
            location,
            f"must be {', '.join(f'`{choice}`' for choice in names)} or the path of a file that ends in `.yaml`."
            f"{near(name, names) or ' Correct it.'}",
        )


def near(name: str, names: Sequence[str]) -> str:
    """Return a question with the one of some names that is most like another one; empty if none is."""
    close = difflib.get_close_matches(name, names, n=1)
    return f" Did you mean `{close[0]}`?" if close else ""


def error(path: Path, location: tuple[str | int, ...], message: str) -> InputError:
    """Return an error of a study file, with its line and key."""
    line = studyfile.line_of(studyfile.read(path, decide=False)[1], location)
    return InputError(f"{path}, line {line}: `{studyfile.dotted_key(location)}` {message}")
