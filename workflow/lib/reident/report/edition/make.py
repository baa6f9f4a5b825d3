"""Make the pages of a releasable edition from copies of its public files alone (METHODS §11)."""

from __future__ import annotations

import datetime
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import nbformat

from reident import language
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


def make(folder: Path, notebook: Path, font: Path | None = None, say: Callable[[str], object] = lambda _: None) -> Made:
    """Execute the notebook ``releasable.ipynb`` on a copy of the public files in a folder alone, and render it.

    The same public files and font give the same bytes. If the files are not those of an edition, an :class:`InputError`
    says why. ``say(warning)`` takes a sentence on letters that no font has.
    """
    edition = Edition(folder)
    with tempfile.TemporaryDirectory(prefix="reident-edition-") as place:
        copy = Path(place) / "releasable"
        copy.mkdir()
        for name in (*FORMS, RECORD):
            shutil.copyfile(folder / name, copy / name)
        executed = execute(notebook, {"edition": copy}, font)
    return Made(executed, pages(executed, edition, font, say))


def pages(
    notebook: nbformat.NotebookNode,
    edition: Edition,
    font: Path | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Rendered:
    """Return the pages of an executed notebook of an edition."""
    record, policy = edition.record, edition.policy
    with language.use(edition.language):
        banner = TEXT("page.exact") if edition.exact else ""
        if policy.internal and not edition.exact:
            banner = TEXT("page.internal", policy=policy.title)
        about = About(
            title=record["title"],
            subtitle=TEXT("page.subtitle"),
            agency=record.get("agency") or "",
            study=record["study"],
            date=datetime.date.fromisoformat(record["date"]) if record.get("date") else None,
            footer=TEXT("page.footer_exact") if edition.exact else TEXT("page.footer"),
            front=TEXT("page.front"),
            banner=banner,
            style=STYLE.read_text(encoding="utf-8"),
            language=edition.language,
        )
        return render(read(notebook), about, font, say)
