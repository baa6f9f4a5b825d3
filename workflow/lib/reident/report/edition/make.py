"""Make the pages of a releasable edition from copies of its public files, in a folder that has nothing else.

METHODS §11.
"""

from __future__ import annotations

import datetime
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import nbformat

from reident.report import language
from reident.report.edition.reading import FORMS, RECORD, Edition
from reident.report.execute import execute
from reident.report.render import About, Rendered, read, render
from reident.report.sentences import Sentences

TEXT = Sentences("edition-tables")
STYLE = Path(__file__).with_name("edition.css")


class Made(NamedTuple):
    """The executed notebook of an edition, and its pages."""

    notebook: nbformat.NotebookNode
    pages: Rendered


def make(folder: Path, notebook: Path) -> Made:
    """Execute the notebook of an edition on a copy of its public files, and render it.

    Parameters
    ----------
    folder : pathlib.Path
        Holds the public files: the tables of :data:`reident.report.edition.reading.FORMS` and ``release.json``.
        Only these are copied.
    notebook : pathlib.Path
        ``releasable.ipynb``.

    Returns
    -------
    Made
        The same bytes for the same public files.

    Raises
    ------
    InputError
        If the public files are not those of an edition.
    """
    edition = Edition(folder)
    with tempfile.TemporaryDirectory(prefix="reident-edition-") as place:
        copy = Path(place) / "releasable"
        copy.mkdir()
        for name in (*FORMS, RECORD):
            shutil.copyfile(folder / name, copy / name)
        executed = execute(notebook, {"edition": copy})
    return Made(executed, pages(executed, edition))


def pages(notebook: nbformat.NotebookNode, edition: Edition) -> Rendered:
    """Return the pages of an executed notebook of an edition."""
    record, policy = edition.record, edition.policy
    with language.use(edition.language):
        about = About(
            title=record["title"],
            subtitle=TEXT("page.subtitle"),
            agency=record.get("agency") or "",
            study=record["study"],
            date=datetime.date.fromisoformat(record["date"]) if record.get("date") else None,
            footer=TEXT("page.footer_exact") if policy.exact else TEXT("page.footer"),
            front=TEXT("page.front"),
            banner=_banner(edition),
            style=STYLE.read_text(encoding="utf-8"),
            language=edition.language,
        )
        return render(read(notebook), about)


def _banner(edition: Edition) -> str:
    policy = edition.policy
    if policy.exact:
        return TEXT("page.exact")
    return TEXT("page.internal", policy=policy.title) if policy.internal else ""
