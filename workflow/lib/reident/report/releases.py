"""The page on two releases: what the board reads when a file is released again (METHODS §10)."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import nbformat
from nbformat import v4

from reident.archive.comparison import Comparison
from reident.report import language
from reident.report.figures import releases as figures
from reident.report.layout import Text
from reident.report.render import render
from reident.report.sentences import Sentences
from reident.report.tables import release_changes, releases

TEXT = Sentences("releases")


def page(comparison: Comparison) -> dict[str, str | bytes]:
    """Return the page on two releases by the suffix of its file.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    dict
        ``html`` and ``pdf`` in the language of the later release, the same bytes for the same releases.
    """
    after = comparison.after.study
    code = language.named(after)
    with language.use(code):
        made = render(
            _notebook(_front(comparison), _body(comparison)),
            title=after["title"] or after["id"],
            subtitle=TEXT("subtitle"),
            agency=after["agency"] or "",
            study=TEXT("both", before=comparison.before.name, after=comparison.after.name),
            date=None if after["date"] is None else datetime.date.fromisoformat(after["date"]),
            language=code,
        )
    return made._asdict()


def _front(comparison: Comparison) -> list[Any]:
    return [
        releases.conclusion(comparison),
        releases.findings(comparison),
        releases.front_rates(comparison),
    ]


def _body(comparison: Comparison) -> list[Any]:
    changes, of = release_changes, comparison
    sections: list[tuple[str, list[Any]]] = [
        (f"# {TEXT('section_rates')}", [figures.rates(of), releases.all_rates(of)]),
        (f"# {TEXT('section_groups')}", [releases.group_rates(of), changes.strata(of)]),
        (f"# {TEXT('section_measures')}", [changes.measures(of)]),
        (f"# {TEXT('section_changes')}", [" "]),
        (f"## {TEXT('files.heading')}", [changes.files(of)]),
        (f"## {TEXT('variables.heading')}", [changes.variables(of)]),
        (f"## {TEXT('codes.heading')}", [changes.codes(of)]),
        (f"## {TEXT('options.heading')}", [changes.options(of)]),
        (f"## {TEXT('code.heading')}", [changes.code(of)]),
        (f"## {TEXT('verdicts.heading')}", [changes.verdicts(of)]),
    ]
    return [piece for heading, pieces in sections if any(pieces) for piece in (heading, *pieces)]


def _notebook(front: Sequence[Any], body: Sequence[Any]) -> nbformat.NotebookNode:
    """Return an executed notebook that shows these pieces, as the report is rendered from one."""
    cells = []
    for tag, pieces in (("front", front), ("body", body)):
        cell = v4.new_code_cell(metadata={"tags": [tag]}, id=tag)
        for piece in filter(None, pieces):
            shown = Text(piece) if isinstance(piece, str) else piece
            bundle = shown._repr_mimebundle_()
            data, about = bundle if isinstance(bundle, tuple) else (bundle, {})
            cell.outputs.append(v4.new_output("display_data", data=data, metadata=about))
        cells.append(cell)
    return v4.new_notebook(cells=cells)
