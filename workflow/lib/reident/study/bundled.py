"""Files that come with the workflow and are named by a study, or files of the same kind beside the study file."""

from __future__ import annotations

from pathlib import Path

from reident.errors import InputError
from reident.study import reading as studyfile

CONFIG = Path(__file__).parents[4] / "config"
"""The folder of everything that comes with the workflow."""


def check(study_file: Path, location: tuple[str | int, ...], name: str, folder: Path) -> None:
    """Check that a bundled file has this name.

    Raises
    ------
    InputError
        With the line of the study file.
    """
    if not folder.is_dir():
        what = f"names `{name}`, which comes with a checkout, and this is the installed package alone"
        raise error(study_file, location, f"{what}. Give the path of a copy, or run the command of a checkout.")
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in names:
        raise error(
            study_file,
            location,
            f"must be {', '.join(f'`{choice}`' for choice in names)} or the path of a file that ends in `.yaml`."
            f"{studyfile.near(name, names) or ' Correct it.'}",
        )


def error(path: Path, location: tuple[str | int, ...], message: str) -> InputError:
    """Return an error of a study file, with its line and key."""
    line = studyfile.line_of(studyfile.read(path, decide=False)[1], location)
    return InputError(f"{path}, line {line}: `{studyfile.dotted_key(location)}` {message}")
