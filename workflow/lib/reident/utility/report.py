"""The effect of protection on the data, and the risk of each variant beside its loss (METHODS §13)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.linkage.limits import COLUMNS, CONDITIONAL
from reident.linkage.metrics import REGISTRY
from reident.outcomes import OPEN, RESERVED, VERDICT, WITHIN
from reident.page import style
from reident.page.columns import columns
from reident.page.common import DASHED, number_or_day, top_of
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look, Sheet
from reident.page.variants import (
    MAX_VARIANTS,
    RATES,
    VERDICTS,
    label,
    set_columns,
    setting_names,
    variant_name,
    verdict_cell,
    verdicts_of,
)
from reident.page.wording import UNDEFINED, declared, defined, digits, escape, listed, number, percent, rates
from reident.utility.frontier import dominated

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("utility")
SUMMARY, VARIABLES = "utility/summary.csv", "utility/variables.csv"
PAIRS, ESTIMATES = "utility/pairs.csv", "utility/estimates.csv"
COMPARISON = "comparison/utility.csv"
MAX_PAIRS = 10
"""Pairs of variables that are shown: those that moved most."""

LIMITED = {limit: column for limit, column in COLUMNS.items() if limit != "confirmed_at_most"}
"""The rates that can stand for the risk, by their limits and in the order of these."""


def loss_name(results: Results) -> str:
    """Return the name of the measure that stands for the loss."""
    return TEXT(f"measures.{results.study['utility']['loss']}")


def shown_loss(results: Results, loss: float | None) -> str:
    """Return a loss with its unit: pMSE is a number, the other measures are shares."""
    if results.study["utility"]["loss"] == "pmse":
        return short(loss)
    return percent(loss)


def short(value: float | None) -> str:
    """Return a number with three significant digits and without an exponent: pMSE is often small."""
    return digits(f"{Decimal(f'{value:.3g}'):,f}") if defined(value) else UNDEFINED


@block(SUMMARY, VARIABLES, PAIRS)
def utility_findings(results: Results) -> str:
    """Say how much protection changed, how far distributions moved, and how well intervals agree."""
    line, variables = results.table(SUMMARY).iloc[0], results.table(VARIABLES)
    n = int(line["n_records_changed"])
    if not n:
        return paragraphs(TEXT("text"), TEXT("unchanged"))
    fields = {"records": percent(n / line["n_records"]), "values": percent(line["values_changed"])}
    worst = variables.loc[variables["distance"].idxmax()]
    moved = TEXT(
        "univariate",
        mean=percent(line["univariate"]),
        worst=percent(worst["distance"]),
        variable=escape(worst["variable"]),
    )
    if len(results.table(PAIRS)):
        moved += " " + TEXT("pairwise", mean=percent(line["pairwise"]), worst=percent(line["pairwise_worst"]))
    overlaps = " ".join(
        TEXT(f"overlaps.{name}", share=percent(line[name]))
        for name in ("overlap_means", "overlap_regression")
        if defined(line[name])
    )
    texts = [TEXT("changed", n=n, **fields), moved, _model(line), overlaps]
    return paragraphs(TEXT("text"), items(filter(None, texts)))


def _model(line: pd.Series) -> str:
    text = TEXT("pmse", pmse=short(line["pmse"]))
    if defined(line["pmse_ratio"]):
        text += " " + TEXT("ratio", ratio=short(line["pmse_ratio"]), expected=short(line["pmse_expected"]))
    return text


@block(VARIABLES, SUMMARY)
def utility_variables(results: Results) -> str:
    """Return the changes, the distance and the overlap of each variable."""
    lines, n = results.table(VARIABLES), results.table(SUMMARY)["n_records"].iloc[0]
    missing = zip(rates(lines["n_missing_original"] / n), rates(lines["n_missing_released"] / n), strict=True)
    lines = lines.assign(
        missing=[TEXT("beside", before=before, after=after) for before, after in missing],
        measure=[TEXT(f"distances.{measure}") for measure in lines["measure"]],
    )
    return table(
        TEXT("variables.caption"),
        *columns(lines, HEADING, "variable:bold@1fr"),
        *columns(lines, TEXT, "changed=values_changed missing:cell measure:text", group="variables.columns"),
        *columns(lines, TEXT, "distance overlap", group="variables.columns"),
    )


@block(PAIRS)
def utility_pairs(results: Results) -> str | None:
    """Return the pairs of variables whose joint distribution moved most."""
    lines = results.table(PAIRS)
    lines = lines[lines["distance"] > 0].sort_values("distance", ascending=False, kind="stable")
    if lines.empty:
        return None
    pairs = lines.head(MAX_PAIRS)
    return table(
        TEXT("pairs.caption", n=len(pairs), file=PAIRS),
        *columns(pairs, HEADING, "variable:label@1fr"),
        *columns(pairs, TEXT, "second=other:label@1fr", group="pairs"),
        *columns(pairs, TEXT, "distance", group="variables.columns"),
    )


@block(ESTIMATES)
def utility_estimates(results: Results) -> str | None:
    """Return means and coefficients before and after protection, with the overlap of their intervals."""
    lines = results.table(ESTIMATES)
    lines = lines[lines["estimate"] != "share"]
    if lines.empty:
        return None
    names = [
        TEXT(f"estimates.{line.estimate}", name=_term(results, line.variable, line.level))
        for line in lines.itertuples()
    ]
    cells = {
        side: [
            _estimate(results, *line)
            for line in lines[["variable", "estimate", side, f"{side}_low", f"{side}_high"]].itertuples(index=False)
        ]
        for side in ("original", "released")
    }
    lines = lines.assign(estimate=names, **cells)
    return table(
        TEXT("estimates.caption", level=declared(results.level), file=ESTIMATES),
        *columns(lines, TEXT, "estimate:text@1fr original:cell released:cell", group="estimates.columns"),
        *columns(lines, TEXT, "overlap", group="variables.columns"),
    )


def _term(results: Results, variable: str, level: str) -> str:
    if variable == "(intercept)":
        return TEXT("estimates.intercept")
    if not level:
        return escape(variable)
    return TEXT("estimates.level", variable=escape(variable), level=escape(results.label(variable, level)))


def _estimate(results: Results, variable: str, estimate: str, value: float, low: float, high: float) -> str:
    """Return an estimate with its interval; the mean of a date is a day."""
    show = number_or_day(results, variable, _digits) if estimate == "mean" else _digits
    if not defined(low):
        return show(value)
    return TEXT("estimates.interval", value=show(value), low=show(low), high=show(high))


def _digits(value: float) -> str:
    return number(float(f"{value:.4g}"))


class Risk(NamedTuple):
    """The rate that stands for the risk, and its limit where all metrics have the same."""

    column: str
    name: str
    limit: float | None


def risk_of(results: Results) -> Risk:
    """Return the first rate that `decision` limits; without a limit, the conditional rate."""
    name = next((name for name in LIMITED if results.decision.get(name) is not None), CONDITIONAL)
    limit = results.decision.get(name)
    upper = name == CONDITIONAL and results.decision.get("by") == "upper"
    column = "conditional_high" if upper else LIMITED[name]
    return Risk(column, TEXT(f"risks.{column}"), None if isinstance(limit, dict) else limit)


def compared(results: Results) -> pd.DataFrame:
    """Return the variants that have a loss, with their largest risk and whether no other one dominates them."""
    metric_rates = results.table(RATES)
    metric_rates = metric_rates[metric_rates["metric"].isin(set(REGISTRY))]
    risks = metric_rates.groupby("variant", sort=False)[risk_of(results).column].max().fillna(0.0)
    lines = results.table(COMPARISON)
    lines = lines[lines["loss"].notna()].reset_index(drop=True)
    lines = lines.assign(number=range(1, len(lines) + 1), risk=lines["variant"].map(risks).to_numpy())
    points = list(zip(lines["risk"], lines["loss"], strict=True))
    return lines.assign(best=[not is_worse for is_worse in dominated(points)])


@block(COMPARISON, RATES, VERDICTS, VERDICT)
def utility_variants(results: Results) -> str | None:
    """Return the risk, the loss and the verdict of every variant."""
    lines = compared(results)
    if lines.empty:
        return None
    variants = lines.head(MAX_VARIANTS)
    verdicts = verdicts_of(results).set_index("variant")["verdict"]
    caption = TEXT("variants.caption", loss=loss_name(results))
    if len(variants) < len(lines):
        caption += " " + TEXT("variants.first", shown=len(variants), total=len(lines), file=COMPARISON)
    cells = variants.assign(
        verdict=[verdict_cell(verdicts[name]) for name in variants["variant"]],
        loss=[shown_loss(results, loss) for loss in variants["loss"]],
        ratio=[short(ratio) for ratio in variants["pmse_ratio"]],
        best=[TEXT("variants.best") if best else "" for best in variants["best"]],
    )
    return table(
        caption,
        *columns(cells, TEXT, "number:count", group="variants.columns"),
        *set_columns(variants, setting_names(results)),
        *columns(cells, HEADING, "verdict:text"),
        ReportColumn(TEXT("variants.columns.risk", risk=risk_of(results).name), rates(variants["risk"])),
        *columns(cells, TEXT, "loss:cell changed=values_changed ratio:cell best:text", group="variants.columns"),
        kind="compact",
    )


@block(VERDICTS, VERDICT, COMPARISON, RATES)
def utility_choice(results: Results) -> str | None:
    """Return, for the brief, which variant within the limits loses least; nothing where none is within them."""
    verdicts = verdicts_of(results)
    if (verdicts["verdict"] == OPEN).all():
        return None
    passing = verdicts[verdicts["verdict"].isin([WITHIN, RESERVED])].set_index("variant")
    lines = compared(results)
    lines = lines[lines["variant"].isin(passing.index)]
    if lines.empty:
        return None
    least = lines[lines["loss"] == lines["loss"].min()]
    names = [variant_name(results, passing.loc[name]) for name in least["variant"]]
    loss = shown_loss(results, least["loss"].iloc[0])
    text = TEXT("choice.text", n=len(names), names=listed(names), measure=loss_name(results), loss=loss)
    return box("findings", items([f"{TEXT('choice.lead')} {text}"]))


@block(COMPARISON, RATES)
def utility_frontier_figure(results: Results) -> Figure | None:
    """Draw risk against loss, one dot per variant; those that no other variant dominates are joined."""
    lines = compared(results)
    if lines.empty:
        return None
    risk, best = risk_of(results), lines[lines["best"]].sort_values(["loss", "risk"])
    is_share = results.study["utility"]["loss"] != "pmse"

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        others = lines[~lines["best"]]
        look = style.full(5, marker="o", linewidth=1, clip_on=False)
        axes.plot(best["loss"], best["risk"], label=TEXT("frontier.best"), **look)
        if len(others):
            look = style.hollow(5, 4, clip_on=False)
            axes.plot(others["loss"], others["risk"], "o", label=TEXT("frontier.other"), **look)
        style.share_axis(axes, top_of(list(lines["risk"]), risk.limit))
        axes.set_xlim(0, 1.08 * lines["loss"].max() or 1)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        tick = style.percent_tick if is_share else lambda value, _: short(value)
        axes.xaxis.set_major_formatter(FuncFormatter(tick))
        axes.set_xlabel(TEXT("frontier.x", loss=loss_name(results)))
        axes.set_title(TEXT("frontier.y", risk=risk.name))
        small: Look = {"textcoords": "offset points", "fontsize": 6.5, "color": style.MUTED, "zorder": 5}
        for line in lines.itertuples():
            axes.annotate(f"{line.number}", (line.loss, line.risk), xytext=(4, 3), **small)
        if risk.limit is not None:
            axes.axhline(risk.limit, label=TEXT("frontier.line"), **DASHED | {"zorder": 2})
        sheet.key()

    caption = TEXT("frontier.caption")
    if risk.limit is not None:
        caption += " " + TEXT("frontier.limit", limit=declared(risk.limit))
    return style.figure(draw, height=2.9, alt=_alt(results, lines), caption=caption)


def _alt(results: Results, lines: pd.DataFrame) -> str:
    texts = [TEXT("frontier.alt.start", risk=risk_of(results).name, loss=loss_name(results))]
    for _, line in lines.iterrows():
        fields = {
            "number": number(line["number"]),
            "variant": label(results, line),
            "risk": percent(line["risk"]),
            "loss": shown_loss(results, line["loss"]),
        }
        texts.append(TEXT(f"frontier.alt.{'best' if line['best'] else 'other'}", **fields))
    return " ".join(texts)
