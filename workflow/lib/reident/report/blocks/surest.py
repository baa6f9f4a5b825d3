"""The certainty of an intruder: the surest claims, and the agreement of metrics (METHODS §6.7, §6.8)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.settings import AGREEMENT, WHOLE
from reident.linkage.surest import NUMBERS
from reident.outcomes import LIMITS, SUREST, VERDICT
from reident.page import style
from reident.page.columns import columns
from reident.page.common import DASHED, interval_column, verdict_on
from reident.page.layout import ReportColumn, block, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Sheet
from reident.page.terms import metric_cells, title
from reident.page.wording import count, count_cells, declared, defined, fixed_cells, listed, rates
from reident.report.results import Results

TEXT = Sentences("surest")
SUMMARY, CURVE, AGREEMENTS = "surest/summary.csv", "surest/curve.csv", "agreement/rates.csv"
AT = "n_at_95_percent"
"""The number of claims that the brief names: a share of right ones that an intruder may act on."""


def summary(results: Results) -> pd.DataFrame:
    """Return the lines of the surest claims by metric, in the order of the report, the agreement of metrics last."""
    lines = results.table(SUMMARY).set_index("metric", drop=False)
    return lines.loc[[*results.metrics, *([AGREEMENT] if AGREEMENT in lines.index else [])]]


def _right(value: float) -> str:
    """Return a number of right claims, of which some may be expected ones."""
    return count(value) if value == round(value) else TEXT("about", n=count(value))


@block("rates.csv", SUMMARY, LIMITS, VERDICT)
def surest_overall(results: Results) -> str | None:
    """Give the verdict on the surest claims, where the study sets a limit for them."""
    return verdict_on(results, SUREST, TEXT, "nothing", _limits)


def _limits(results: Results, limits: pd.DataFrame) -> list[str]:
    values = [TEXT("limit.value", n=count(line.value), metric=title(line.metric)) for line in limits.itertuples()]
    share = declared(results.decision["surest"]["right"])
    return [TEXT("limit.text", share=share, limit=count(limits["bound"].iloc[0]), values=listed(values))]


@block(SUMMARY)
def surest_text(results: Results) -> str:
    """Explain the order of claims, and the limits of the intruder's knowledge."""
    return TEXT("text.one" if len(results.metrics) == 1 else "text.several")


@block("rates.csv", SUMMARY)
def surest_table(results: Results) -> str:
    """Return how many of the surest claims of each metric are right."""
    lines = results.known(summary(results))
    right = [
        ReportColumn(
            TEXT("table.right_of", n=name.replace("_percent", " %")),
            fixed_cells(lines[f"right_of_{name}"], 1),
            width="1fr",
        )
        for name in (*map(str, NUMBERS), "1_percent", "10_percent")
    ]
    largest = [
        ReportColumn(TEXT("table.at", share=f"{share} %"), count_cells(lines[f"n_at_{share}_percent"]), width="1fr")
        for share in (50, 80, 90, 95)
    ]
    return table(
        TEXT("table.caption"),
        ReportColumn(HEADING("metric"), metric_cells(lines["metric"]), "l"),
        ReportColumn(TEXT("table.claims"), count_cells(lines["n_claims"]), width="1fr"),
        ReportColumn(TEXT("table.right"), rates(lines["right_rate"]), width="1fr"),
        *right,
        *largest,
        kind="compact",
    )


@block("rates.csv", SUMMARY, CURVE)
def surest_figure(results: Results) -> Figure | None:
    """Draw right claims against claims, the surest first, with the diagonal of claims that are all right."""
    lines, curve = summary(results), results.table(CURVE)
    if curve.empty or not results.confirmable:
        return None
    limit = results.decision.get("surest")

    def draw(sheet: Sheet) -> None:
        axes = sheet.panels[0]
        for metric in lines["metric"]:
            _draw(axes, metric, curve[curve["metric"] == metric])
        top, right = curve["n_claims"].max(), curve["n_right"].max()
        axes.plot([0, top], [0, top], color=style.MUTED, linewidth=0.8, zorder=1, label=TEXT("figure.all_right"))
        if limit:
            share = limit["right"]
            axes.plot([0, top], [0, share * top], **DASHED, label=TEXT("figure.limit", share=declared(share)))
        for which in ("x", "y"):
            style.count_axis(axes, which)
        axes.set_xlim(0, top)
        axes.set_ylim(0, max(1.06 * right, 1))
        axes.set_xlabel(TEXT("figure.claims"))
        axes.set_ylabel(TEXT("figure.right"))
        sheet.key()

    return style.figure(draw, height=2.9, alt=_alt(results, lines), caption=TEXT("figure.caption"))


def _draw(axes: Axes, metric: str, points: pd.DataFrame) -> None:
    colour, marker = style.LINES.get(metric, (style.MUTED, "o"))
    at, right = [0, *points["n_claims"]], [0, *points["n_right"]]
    every = max(len(at) // 8, 1)
    axes.plot(at, right, marker, linestyle="-", color=colour, linewidth=1.2, markersize=3.2, markevery=every, zorder=3,
              label=title(metric))  # fmt: skip


def _alt(results: Results, lines: pd.DataFrame) -> str:
    texts = [TEXT("figure.alt.start")]
    for line in lines.to_dict("records"):
        points = [
            TEXT("figure.alt.point", n=count(n), right=_right(line[f"right_of_{n}"]))
            for n in NUMBERS
            if defined(line[f"right_of_{n}"])
        ]
        points.append(TEXT("figure.alt.point", n=count(line["n_claims"]), right=_right(line["n_right"])))
        texts.append(TEXT("figure.alt.line", metric=title(line["metric"]), points=", ".join(points)))
    if limit := results.decision.get("surest"):
        texts.append(TEXT("figure.alt.limit", share=declared(limit["right"]), n=count(limit["at_most"])))
    return " ".join(texts)


@block("rates.csv", AGREEMENTS)
def agreement_table(results: Results) -> str | None:
    """Return the rates of the pairs that at least k metrics suspect."""
    lines = results.known(results.table(AGREEMENTS))
    lines = lines[lines["stratum"] == WHOLE].reset_index(drop=True)
    if lines.empty:
        return None
    m = len(lines)
    which = [TEXT("agreement.least", k=k, n=m) if k < m else TEXT("agreement.all", n=m) for k in lines["metrics"]]
    return paragraphs(
        TEXT("agreement.text"),
        table(
            TEXT("agreement.caption", file=AGREEMENTS),
            ReportColumn(TEXT("agreement.metrics"), which, "l"),
            *columns(
                lines, HEADING, "suspected_records=n_suspected confirmed_records=n_confirmed conditional_rate", "1fr"
            ),
            interval_column(results, lines, "1.3fr"),
            *columns(lines, HEADING, "baseline=baseline_rate best_rank_correct=best_rank_correct_rate", "1fr"),
            *columns(lines, HEADING, "single=n_single single_confirmed=n_single_confirmed single_rate", "1fr"),
            kind="compact",
        ),
    )
