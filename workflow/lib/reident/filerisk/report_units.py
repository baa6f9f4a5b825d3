"""The risk of units of the file, such as households, by the values of all their members (METHODS §7.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from reident.filerisk.report import file_name
from reident.filerisk.report_thresholds import UNITS_TABLE as UNITS
from reident.page.columns import columns
from reident.page.common import keys_in_words, portion
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import Sentences
from reident.page.terms import some
from reident.page.wording import count, defined, escape, percent, span, without_unit

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("filerisk_units")
MAX_LINES = 20
"""The table shows the whole key, every scenario and at most this number of sets, those with most unique units."""


@block(UNITS)
def units_of_file(results: Results) -> str:
    """Say how many units are unique by their members on the whole key, and show the scenarios and sets."""
    lines = results.table(UNITS)
    whole = lines.iloc[0]
    n, unique, members = (round(whole[name]) for name in ("n_compared", "n_unique", "n_members"))
    texts = [
        TEXT(
            "premise",
            file=file_name(results),
            units=some(round(whole["n_units"]), "unit"),
            members=some(members, "record"),
        )
    ]
    if n:
        found = portion(count(unique), unique / n, n, some(n, "unit"))
        people = portion(
            count(round(whole["n_unique_members"])),
            whole["n_unique_members"] / members,
            members,
            some(members, "record"),
        )
        texts.append(TEXT("unique", n=unique, units=found, members=people, k=count(whole["smallest"])))
        if unique and defined(whole["dis"]):
            texts.append(
                TEXT("dis", dis=percent(whole["dis"]), low=percent(whole["dis_low"]), high=percent(whole["dis_high"]))
            )
    else:
        texts.append(TEXT("none"))
    return paragraphs(" ".join(texts), _table(lines))


def _table(lines: pd.DataFrame) -> str:
    sets = lines.iloc[1:][lines["scenario"].iloc[1:].fillna("") == ""]
    others = sets.sort_values("unique_share", ascending=False, kind="stable").head(MAX_LINES)
    shown = lines.loc[[*lines.index.difference(sets.index), *others.index]]
    names = [
        escape(line.scenario) if isinstance(line.scenario, str) and line.scenario else keys_in_words(line.keys)
        for line in shown.itertuples()
    ]
    ends = zip(shown["dis_low"], shown["dis_high"], strict=True)
    shown = shown.assign(dis_interval=[without_unit(span(*pair)) for pair in ends])
    return table(
        TEXT("caption", shown=MAX_LINES, table=UNITS),
        ReportColumn(TEXT("keys"), names, "l", "1.4fr"),
        *columns(shown, TEXT, "n_compared smallest n_unique unique_share below_3 below_5 dis", group="columns"),
        *columns(shown, TEXT, "dis_interval:cell@1.2fr", group="columns"),
        kind="compact",
    )
