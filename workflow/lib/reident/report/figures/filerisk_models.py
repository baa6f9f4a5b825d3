"""Figure of what models of the population estimate, with intervals, beside the truth (METHODS §7.1)."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from reident.filerisk.estimates import IN_SAMPLE, MATCHES
from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    LIMIT,
    SUSPECTED,
    Figure,
    Look,
    Sheet,
    count_axis,
    figure,
    height_of,
    letters,
    rows,
)
from reident.report.tables.filerisk_models import MODELS, interval_of, name_of
from reident.report.wording import defined, fixed

TEXT = Sentences("filerisk_models")
SHOWN = (IN_SAMPLE, MATCHES)
"""The quantities of sample uniques, which several models estimate."""


@part(MODELS)
def risk_models(results: Results) -> Figure | None:
    """Draw the estimates of each model with their intervals, and the truth; nothing without an estimate."""
    table = results.table(MODELS)
    lines = table[table["quantity"].isin(SHOWN) & table["estimate"].notna()]
    if lines.empty:
        return None
    models = list(dict.fromkeys(lines["model"]))
    known = bool(lines["truth"].notna().any())

    def draw(sheet: Sheet) -> None:
        for axes, quantity in zip(sheet.panels, SHOWN, strict=True):
            own = lines[lines["quantity"] == quantity]
            for row in own.itertuples():
                _mark(axes, models.index(row.model), row)
            if known and len(own):
                truth: Look = {"color": LIMIT, "linewidth": 1, "linestyle": (0, (4, 3)), "zorder": 1}
                axes.axvline(own["truth"].iloc[0], label=TEXT("figure.truth"), **truth)
            axes.set_title(TEXT(f"figure.{quantity}"))
            axes.set_xlim(left=0)
            count_axis(axes, "x")
        rows(sheet.panels[0], [name_of(model) for model in models], letters(sheet))
        if known:
            sheet.key()

    caption = TEXT("figure.caption")
    return figure(
        draw,
        panels=2,
        height=height_of(len(models)) + 0.2,
        alt=TEXT("figure.alt", quantities=". ".join(_in_words(lines, quantity) for quantity in SHOWN)),
        caption=TEXT("figure.caption_truth", caption=caption) if known else caption,
        across=1,
        sharey=True,
        between=0.06,
    )


def _mark(axes: Axes, place: int, row: Any) -> None:
    """Draw an estimate, filled if its model is recommended, over its interval."""
    if defined(row.low):
        axes.hlines(place, row.low, row.high, color=SUSPECTED, linewidth=5, zorder=2)
    face = CONFIRMED if row.recommended else "white"
    axes.plot(row.estimate, place, "o", color=face, markeredgecolor=CONFIRMED, markersize=5, zorder=3)


def _in_words(lines: pd.DataFrame, quantity: str) -> str:
    """Return the estimates of a quantity for the alternative text."""
    own = lines[lines["quantity"] == quantity]
    shown = [
        f"{name_of(row.model)} {fixed(row.estimate, 1)}"
        + (f" ({interval_of(row.low, row.high)})" if defined(row.low) else "")
        for row in own.itertuples()
    ]
    if len(own) and defined(own["truth"].iloc[0]):
        shown.append(f"{TEXT('figure.truth')} {fixed(own['truth'].iloc[0], 1)}")
    return f"{TEXT(f'figure.{quantity}')}: {'; '.join(shown)}"
