"""From pairs to suspected pairs: ranks, ambiguous records, overlap, the rank limit (METHODS §5, §6)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reident.linkage.settings import WHOLE
from reident.page import style
from reident.page.columns import columns
from reident.page.common import DASHED
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look, Sheet
from reident.page.terms import metric_cells, some, title
from reident.page.wording import count, count_cells, defined, inside, listed, percent, rates
from reident.report.results import Results
from reident.sections.linkage import MAX_CANDIDATES

TEXT = Sentences("patterns")


CURVE_COLUMNS = ("stratum", "max_pairs", "n_suspected", "n_confirmed", "expected_correct", "metric")
RATIOS = {
    "suspected_rate": ("n_suspected", "n_puf"),
    "confirmed_rate": ("n_confirmed", "n_puf"),
    "expected_correct_rate": ("expected_correct", "n_suspected"),
    "conditional_rate": ("n_confirmed", "n_suspected"),
}
"""The rates that are drawn, as ratios of counts."""


def rank_curves(results: Results) -> pd.DataFrame:
    """Return counts and rates of the ranked metrics at every rank limit (METHODS §5)."""
    paths = {metric: f"confirmed/{metric}.limits.csv" for metric in results.ranked}
    lines = pd.concat(
        [pd.DataFrame(columns=CURVE_COLUMNS)]
        + [results.table(path).assign(metric=metric) for metric, path in paths.items() if results.has(path)]
    )
    lines = lines[lines["stratum"] == WHOLE].reset_index(drop=True)
    lines["n_puf"] = results.whole["n_puf"].iloc[0]
    for name, (numerator, denominator) in RATIOS.items():
        lines[name] = lines[numerator] / lines[denominator].where(lines[denominator] > 0)
    return lines


def levels(results: Results, metric: str) -> pd.DataFrame:
    """Return records and pairs by rank (unicity: by order): columns level, n_pufids, n_pairs."""
    name = f"suspected/{metric}.distribution.csv"
    if not results.has(name):
        return pd.DataFrame(columns=["level", "n_pufids", "n_pairs"])
    lines = results.table(name)
    lines = lines[lines["stratum"] == WHOLE]
    level = "order" if "order" in lines else "rank"
    return lines.rename(columns={level: "level"})[["level", "n_pufids", "n_pairs"]]


@block("rates.csv")
def ranks(results: Results) -> str:
    """Explain ranks and orders."""
    return paragraphs(
        TEXT("ranks.rank", pairs=some(results.max_pairs, "pair")) if results.ranked else None,
        TEXT("ranks.order") if len(results.ranked) < len(results.metrics) else None,
    )


@block("rates.csv")
def ambiguous(results: Results) -> str | None:
    """Return the table of suspected and ambiguous records of the ranked metrics."""
    if not results.ranked:
        return None
    lines = results.whole.loc[results.ranked].reset_index()
    candidates = lines["n_suspected"] + lines["n_ambiguous"]
    return table(
        TEXT("ambiguous"),
        ReportColumn(HEADING("metric"), metric_cells(results.ranked), "l", "1fr"),
        ReportColumn(HEADING("records_before"), count_cells(candidates)),
        *columns(lines, HEADING, "records_suspected=n_suspected records_ambiguous=n_ambiguous"),
        ReportColumn(HEADING("share_ambiguous"), rates(lines["n_ambiguous"] / candidates.where(candidates > 0))),
    )


@block("description/overlap.csv")
def overlap(results: Results) -> str | None:
    """Say how many records are suspected, and confirmed, by one metric only and by all."""
    if len(results.metrics) < 2:
        return None
    lines = results.table("description/overlap.csv")
    size = lines["metrics"].str.count(r"\+") + 1
    texts = []
    for name in ("suspected", "confirmed"):
        n, single, by_all = (
            int(lines.loc[(lines["set"] == name) & chosen, "n_pufids"].sum())
            for chosen in (size > 0, size == 1, size == len(results.metrics))
        )
        if n:
            shares = {"single_share": percent(single / n), "all_share": percent(by_all / n)}
            texts.append(TEXT(f"overlap.{name}", n=n, single=single, all=by_all, **shares))
    return " ".join([TEXT("overlap.text"), *texts]) if texts else TEXT("overlap.nothing")


@block("rates.csv")
def rank_limit(results: Results) -> str | None:
    """Say how the rank limit changes the conditional rates."""
    lines, limit = rank_curves(results), results.max_pairs
    if lines.empty:
        return None
    last = int(lines["max_pairs"].max())
    metrics = []
    for metric in results.ranked:
        by_limit = lines[lines["metric"] == metric].set_index("max_pairs")["conditional_rate"]
        points = {"first": by_limit.get(1), "current": by_limit.get(limit), "last": by_limit.get(last)}
        if any(map(defined, points.values())):
            shares = {name: percent(rate) for name, rate in points.items()}
            metrics.append(TEXT("rank_limit.metric", metric=title(metric), limit=limit, max=last, **shares))
    text = TEXT("rank_limit.text", limit=limit)
    return f"{text} {TEXT('rank_limit.rates', metrics='; '.join(metrics))}" if metrics else text


MAX_SETS = 24
"""Sets of metrics that are shown: the largest ones."""


@block("rates.csv")
def ranks_figure(results: Results) -> Figure | None:
    """Draw records and pairs by rank, or by order for unicity, one panel per metric."""
    by_metric = {metric: lines for metric in results.metrics if len(lines := levels(results, metric))}
    uniform = [metric for metric, lines in by_metric.items() if _is_uniform(lines)]
    by_metric = {metric: lines for metric, lines in by_metric.items() if metric not in uniform}
    if not by_metric:
        return None
    names = {metric: "rank" if metric in results.ranked else "order" for metric in by_metric}

    def draw(sheet: Sheet) -> None:
        for axes, (metric, lines) in zip(sheet.panels, by_metric.items(), strict=False):
            _bars(axes, lines)
            axes.set_xlabel(TEXT(f"ranks.figure.{names[metric]}_axis"))
            axes.set_title(title(metric))
        for axes in sheet.panels[len(by_metric) :]:
            axes.set_visible(False)
        sheet.key()

    caption = TEXT("ranks.figure.caption", keep=max(results.study["rank_filter"]["keep"], MAX_CANDIDATES))
    if len(results.ranked) < len(results.metrics):
        caption += f" {TEXT('ranks.figure.order')}"
    if uniform:
        metrics = listed([title(metric) for metric in uniform])
        caption += " " + TEXT("ranks.figure.uniform", n=len(uniform), metrics=metrics)
    alt = _ranks_alt(by_metric, names)
    return style.figure(draw, panels=max(2, len(by_metric)), height=1.95, alt=alt, caption=caption)


def _is_uniform(lines: pd.DataFrame) -> bool:
    """Return whether nearly every record has one pair of each rank: a block of bars that shows nothing."""
    pairs = lines["n_pairs"]
    return len(lines) > 2 and pairs.min() >= 0.8 * pairs.max() and pairs.sum() <= 1.1 * lines["n_pufids"].sum()


def _bars(axes: Axes, lines: pd.DataFrame) -> None:
    level = lines["level"]
    axes.bar(level, lines["n_pairs"], width=0.8, color=style.SUSPECTED, label=TEXT("ranks.figure.pairs"))
    axes.bar(level, lines["n_pufids"], width=0.44, color=style.CONFIRMED, label=TEXT("ranks.figure.records"))
    style.count_axis(axes, "y")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.set_xlim(level.min() - 0.7, level.max() + 0.7)


def _ranks_alt(by_metric: dict[str, pd.DataFrame], names: dict[str, str]) -> str:
    texts = [TEXT("ranks.figure.alt.start")]
    for metric, lines in by_metric.items():
        name, cells = names[metric], []
        for row in lines.head(8).itertuples():
            fields = {"level": row.level, "records": row.n_pufids, "pairs": row.n_pairs}
            cells.append(TEXT(f"ranks.figure.alt.cell_{name}", **{key: round(n) for key, n in fields.items()}))
        if len(lines) > 8:
            cells.append(TEXT("ranks.figure.alt.more", n=len(lines) - 8))
        texts.append(TEXT(f"ranks.figure.alt.{name}", metric=title(metric), cells=", ".join(cells)))
    return " ".join(texts)


def intersections(results: Results, outcome: str) -> pd.DataFrame:
    """Return the records that are suspected, or confirmed, by the exact set of metrics: columns metrics, records."""
    lines = results.table("description/overlap.csv")
    lines = lines[lines["set"] == outcome].rename(columns={"n_pufids": "records"})[["metrics", "records"]]
    return lines.sort_values(["records", "metrics"], ascending=[False, True], ignore_index=True)


@block("description/overlap.csv")
def overlap_suspected_figure(results: Results) -> Figure | None:
    """Draw the suspected records by the set of metrics that suspects them."""
    return _overlap(results, "suspected", style.SUSPECTED)


@block("description/overlap.csv")
def overlap_confirmed_figure(results: Results) -> Figure | None:
    """Draw the confirmed records by the set of metrics that confirms them."""
    return _overlap(results, "confirmed", style.CONFIRMED)


def _overlap(results: Results, outcome: str, colour: str) -> Figure | None:
    sets = intersections(results, outcome)
    if len(results.metrics) < 2 or sets.empty:
        return None
    top_sets = sets.head(MAX_SETS)

    def draw(sheet: Sheet) -> None:
        upper, lower = sheet.panels
        _towers(upper, top_sets, colour, narrow=sheet.narrow)
        _matrix(lower, top_sets, results)

    caption = TEXT(f"overlap.figure.caption.{outcome}")
    if len(sets) > len(top_sets):
        caption += f" {TEXT('overlap.figure.largest', shown=len(top_sets), total=len(sets))}"
    matrix = 0.06 + 0.17 * len(results.metrics)
    return style.figure(
        draw,
        panels=2,
        height=1.5 + matrix,
        alt=_overlap_alt(sets, outcome),
        caption=caption,
        stacked=True,
        sharex=True,
        height_ratios=[1.3, matrix],
    )


def _towers(axes: Axes, sets: pd.DataFrame, colour: str, *, narrow: bool) -> None:
    axes.bar(range(len(sets)), sets["records"], width=0.62, color=colour)
    look: Look = {"ha": "center", "va": "bottom", "fontsize": 6.5, "color": style.INK}
    look |= {"xytext": (0, 2), "textcoords": "offset points", "rotation": 90 * narrow}
    for place, n in enumerate(sets["records"]):
        axes.annotate(count(n), (place, n), **look)
    style.count_axis(axes, "y")
    axes.set_ylim(0, (1.4 if narrow else 1.15) * max(1, sets["records"].max()))
    axes.tick_params(axis="x", labelbottom=False)


def _matrix(axes: Axes, sets: pd.DataFrame, results: Results) -> None:
    metrics = results.metrics
    for place, names in enumerate(sets["metrics"]):
        inside = [row for row, metric in enumerate(metrics) if metric in names.split("+")]
        axes.plot([place] * len(metrics), range(len(metrics)), "o", color=style.RULE, markersize=5, zorder=1)
        axes.plot([place, place], [min(inside), max(inside)], color=style.INK, linewidth=1.3, zorder=2)
        axes.plot([place] * len(inside), inside, "o", color=style.INK, markersize=5, zorder=3)
    axes.set_yticks(range(len(metrics)), [title(metric) for metric in metrics])
    axes.set_ylim(len(metrics) - 0.4, -0.6)
    axes.set_xlim(-0.6, max(len(sets), 6) - 0.4)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _overlap_alt(sets: pd.DataFrame, outcome: str) -> str:
    cells = []
    for row in sets.head(MAX_SETS).itertuples():
        metrics = listed([title(name) for name in row.metrics.split("+")])
        cells.append(TEXT("overlap.figure.cell", metrics=metrics, records=round(row.records)))
    return TEXT(f"overlap.figure.alt.{outcome}", n=len(sets), cells="; ".join(cells))


FULL = 1.02
"""The end of an axis of shares that goes to 100 %."""


def panels() -> dict[str, str]:
    """Return the titles of the panels, by column of the rates."""
    return TEXT.group("rank_limit.figure.panels")


@block("rates.csv")
def rank_limit_figure(results: Results) -> Figure | None:
    """Draw the rates of the ranked metrics by rank limit."""
    lines = rank_curves(results)
    if not lines["n_suspected"].any():
        return None

    caption = TEXT("rank_limit.figure.caption", max=int(lines["max_pairs"].max()))
    if results.limit is not None:
        caption += f" {TEXT('rank_limit.figure.limit')}"
    caption += f" {TEXT('rank_limit.figure.claims')}"
    look: dict[str, Any] = {"height": 2.15, "across": 1, "between": 0.04, "key": True}
    return style.figure(
        {name: partial(_curves, lines, column, results) for column, name in panels().items()},
        alt=_limit_alt(results, lines),
        caption=caption,
        xlabel=TEXT("rank_limit.figure.axis"),
        **look,
    )


BAND = 0.4
"""Half the width of the band that marks the study's rank limit, in rank limits."""


def _curves(lines: pd.DataFrame, column: str, results: Results, axes: Axes) -> None:
    last = int(lines["max_pairs"].max())
    style.stripe(axes.axvspan, results.max_pairs, BAND)
    for metric in results.ranked:
        by_limit = lines[lines["metric"] == metric]
        colour, marker = style.LINES.get(metric, (style.MUTED, "o"))
        look: Look = {"color": colour, "marker": marker, "markersize": 2.6, "linewidth": 1.2}
        axes.plot(by_limit["max_pairs"], by_limit[column], label=title(metric), **look)
    style.share_axis(axes, FULL)
    style.limit_ticks(axes, results.max_pairs, last)
    if results.limit is not None and column == [*panels()][-1]:
        axes.axhline(results.limit, **DASHED)


def _limit_alt(results: Results, lines: pd.DataFrame) -> str:
    texts = [TEXT("rank_limit.figure.alt.start")]
    limits_ = sorted({1, results.max_pairs, int(lines["max_pairs"].max())})
    for metric in results.ranked:
        by_limit = lines[lines["metric"] == metric].set_index("max_pairs")
        for column, name in panels().items():
            points = [
                TEXT("rank_limit.figure.alt.point", share=percent(by_limit.at[at, column]), limit=at)
                for at in limits_
                if at in by_limit.index
            ]
            fields = {"metric": title(metric), "rate": inside(name), "points": ", ".join(points)}
            texts.append(TEXT("rank_limit.figure.alt.line", **fields))
    return " ".join(texts)
