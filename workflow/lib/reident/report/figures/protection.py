"""Draw the rates before and after protection (METHODS §6.1)."""

from __future__ import annotations

import pandas as pd

from reident.report.figures.rates import limit_line, top_of
from reident.report.figures.variants import label
from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    LINES,
    MUTED,
    RULE,
    Figure,
    Sheet,
    figure,
    height_of,
    letters,
    percent_axis,
    rows,
)
from reident.report.tables.protection import PROTECTION, before_line, whole_of
from reident.report.tables.variants import RATES, changed_metrics, is_reference, lines_of, shown_lines
from reident.report.titles import title
from reident.report.wording import inside, percent

TEXT = Sentences("protection")
MAX_METRICS = 3
"""Panels of the figure by variant."""


@part(PROTECTION)
def protection(results: Results) -> Figure | None:
    """Draw the three rates before and after protection, one row per metric."""
    whole = whole_of(results)
    if not whole[["n_suspected_before", "n_suspected_after"]].any(axis=None):
        return None

    def draw(sheet: Sheet) -> None:
        for axes, (column, name) in zip(sheet.panels, _panels().items(), strict=True):
            before, after = whole[f"{column}_before"], whole[f"{column}_after"]
            at, limit = range(len(whole)), results.limit if column == "conditional_rate" else None
            axes.hlines(at, before, after, color=RULE, linewidth=2.4, zorder=1)
            axes.plot(
                before, at, "o", color="white", markeredgecolor=MUTED, markersize=5, zorder=2, clip_on=False,
                label=TEXT("figure.before"),
            )  # fmt: skip
            axes.plot(
                after,
                at,
                "o",
                color=CONFIRMED,
                markersize=5,
                zorder=3,
                clip_on=False,
                label=TEXT("figure.after"),
            )
            percent_axis(axes, top_of([*before, *after], limit), 3)
            limit_line(axes, limit)
            axes.set_title(name, pad=14 if results.limit is not None else 7)
        for axes in sheet.left():
            rows(axes, [title(metric) for metric in results.metrics], letters(sheet))
        sheet.key()

    caption = TEXT("figure.caption")
    if results.limit is not None:
        caption += f" {TEXT('figure.limit')}"
    alt = _alt(whole)
    height = 0.8 + height_of(len(whole))
    return figure(
        draw,
        panels=3,
        height=height,
        alt=alt,
        caption=caption,
        across=1,
        between=0.06,
        own_limit=True,
        sharey=True,
    )


def _panels() -> dict[str, str]:
    """Return the titles of the panels, by column of the rates."""
    return TEXT.group("figure.panels")


def _alt(whole: pd.DataFrame) -> str:
    texts = [TEXT("figure.alt.start")]
    for metric, line in whole.iterrows():
        cells = [
            TEXT(
                "figure.alt.cell",
                rate=inside(name),
                before=percent(line[f"{column}_before"]),
                after=percent(line[f"{column}_after"]),
            )
            for column, name in _panels().items()
        ]
        texts.append(TEXT("figure.alt.line", metric=title(str(metric)), cells=", ".join(cells)))
    return " ".join(texts)


@part(PROTECTION, RATES)
def protection_by_variant(results: Results) -> Figure | None:
    """Draw the confirmed rate before protection and of every variant, one panel per metric."""
    metrics = [metric for metric in changed_metrics(results) if metric in results.metrics][:MAX_METRICS]
    by_metric = {metric: shown_lines(lines_of(results, metric), "confirmed_rate") for metric in metrics}
    first = by_metric[metrics[0]]
    before = {metric: before_line(results, metric)["confirmed_rate"] for metric in metrics}
    names = [TEXT("variants.before"), *(label(results, line) for _, line in first.iterrows())]

    def draw(sheet: Sheet) -> None:
        for axes, (metric, lines) in zip(sheet.panels, by_metric.items(), strict=True):
            shares = lines.set_index("variant")["confirmed_rate"].reindex(first["variant"])
            for place in [at for at, marked in enumerate(is_reference(first), start=1) if marked]:
                axes.axhspan(place - 0.45, place + 0.45, color="#e9ecef", linewidth=0, zorder=0)
            axes.hlines(range(len(names)), 0, 1, color=RULE, linewidth=0.6, zorder=1)
            colour, _ = LINES.get(metric, (CONFIRMED, "o"))
            axes.plot(before[metric], 0, "o", color="white", markeredgecolor=MUTED, markersize=5, zorder=3)
            axes.plot(
                shares, range(1, len(names)), "o", color=colour, markersize=4.4, zorder=3, clip_on=False
            )
            percent_axis(axes, top_of([before[metric], *shares], None), 3)
            axes.set_title(title(metric))
        for axes in sheet.left():
            rows(axes, names, letters(sheet))

    texts = [TEXT("figure.variants_alt.start")]
    for metric, lines in by_metric.items():
        shares = [before[metric], *lines.set_index("variant")["confirmed_rate"].reindex(first["variant"])]
        texts += [
            TEXT("figure.variants_alt.line", metric=title(metric), variant=name, share=percent(share))
            for name, share in zip(names, shares, strict=True)
        ]
    return figure(
        draw, panels=len(metrics), height=0.45 + height_of(len(names)), alt=" ".join(texts),
        caption=TEXT("figure.variants"), across=1, between=0.05, sharey=True,
    )  # fmt: skip
