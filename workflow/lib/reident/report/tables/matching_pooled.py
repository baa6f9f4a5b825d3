"""The intruder who uses all synthetic files, and who may not know whether a target is in them (METHODS §8)."""

from __future__ import annotations

import pandas as pd

from reident.report.layout import Column, paragraphs, part, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.tables.common import without_repeats
from reident.report.tables.matching import (
    CERTAIN,
    MEAN,
    POOLED,
    SCENARIOS,
    UNCERTAIN,
    by_intruder,
    decimals_of,
    pooled,
    summary_columns,
    synthetic_files,
)
from reident.report.tables.matching_sets import short_name
from reident.report.wording import UNDEFINED, count, defined, escape, word

TEXT = Sentences("matching")
HEADING = Sentences("headings")


@part(SCENARIOS, POOLED)
def matching_pooled(results: Results) -> str | None:
    """Compare the files one by one with all of them together, and targets known to be in them with others."""
    m, lines = len(synthetic_files(results)), results.table(POOLED)
    is_uncertain = (lines["membership"] == UNCERTAIN).any()
    if m == 1 and not is_uncertain:
        return None
    shown = pd.concat(
        [
            found.assign(uses=uses, intruder=found.index)
            for uses, found in _uses(results, m)
            if not found.empty
        ]
    )
    order = {name: at for at, name in enumerate(dict.fromkeys(lines["scenario"]))}
    shown = shown[shown["intruder"].isin(order)]
    shown = shown.sort_values("intruder", key=lambda names: names.map(order), kind="stable")
    names = [f"**{escape(short_name(str(name)))}**" for name in shown["intruder"]]
    return paragraphs(
        TEXT("pooled.together", number=word(m)) if m > 1 else None,
        TEXT("pooled.uncertain") if is_uncertain else None,
        table(
            TEXT("pooled.caption"),
            Column(TEXT("verdict.columns.intruder"), without_repeats(names), "l", "1.2fr"),
            Column(TEXT("pooled.columns.uses"), list(shown["uses"]), "l", "2fr"),
            *summary_columns(shown),
            Column(HEADING("unique_matches"), decimals_of(shown["unique_matches"]), "r", "1fr"),
            Column(TEXT("pooled.columns.own_probability"), decimals_of(shown["own_probability"]), "r", "1fr"),
            Column(TEXT("pooled.columns.no_record"), [_counted(n) for n in shown["no_record"]], "r", "1fr"),
            kind="compact",
        ),
    )


def _uses(results: Results, m: int) -> list[tuple[str, pd.DataFrame]]:
    """Return what intruders use, in words, with their summaries."""
    certain = (TEXT("pooled.certain", n=m, number=word(m)), pooled(results, CERTAIN))
    uncertain = (TEXT("pooled.unknown"), pooled(results, UNCERTAIN))
    if m == 1:
        return [certain, uncertain]
    return [(TEXT("pooled.mean"), by_intruder(results, MEAN)), certain, uncertain]


def _counted(n: float) -> str:
    return count(n) if defined(n) else UNDEFINED
