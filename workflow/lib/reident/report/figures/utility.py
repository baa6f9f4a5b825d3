"""Draw the risk of each variant against its loss of utility (METHODS §13)."""

from __future__ import annotations

import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator

from reident.report.figures.rates import top_of
from reident.report.figures.variants import label
from reident.report.layout import part
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.style import (
    CONFIRMED,
    LIMIT,
    MUTED,
    Figure,
    Look,
    Sheet,
    figure,
    percent_tick,
    share_axis,
)
from reident.report.tables.utility import COMPARISON, compared, loss_name, risk_of, short, shown_loss
from reident.report.tables.variants import RATES
from reident.report.wording import declared, number, percent

TEXT = Sentences("utility")
BEST: Look = {"marker": "o", "color": CONFIRMED, "markersize": 5}
OTHER: Look = {"marker": "o", "color": "white", "markeredgecolor": MUTED, "markersize": 5}


@part(COMPARISON, RATES)
def utility_frontier(results: Results) -> Figure | None:
    """Draw risk against loss, one dot per variant; those that no other variant dominates are joined."""
    lines = compared(results)
    if lines.empty:
        return None
    risk, best = risk_of(results), lines[lines["best"]].sort_values(["loss", "risk"])
    is_share = results.study["utility"]["loss"] != "pmse"

    def draw(sheet: Sheet) -> None:
        (axes,) = sheet.panels
        others = lines[~lines["best"]]
        axes.plot(
            best["loss"],
            best["risk"],
            label=TEXT("frontier.best"),
            linewidth=1,
            zorder=3,
            clip_on=False,
            **BEST,
        )
        if len(others):
            axes.plot(
                others["loss"],
                others["risk"],
                linestyle="none",
                label=TEXT("frontier.other"),
                zorder=4,
                clip_on=False,
                **OTHER,
            )
        share_axis(axes, top_of(list(lines["risk"]), risk.limit))
        axes.set_xlim(0, 1.08 * lines["loss"].max() or 1)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        tick = percent_tick if is_share else lambda value, _: short(value)
        axes.xaxis.set_major_formatter(FuncFormatter(tick))
        axes.set_xlabel(TEXT("frontier.x", loss=loss_name(results)))
        axes.set_title(TEXT("frontier.y", risk=risk.name))
        for line in lines.itertuples():
            axes.annotate(
                f"{line.number}",
                (line.loss, line.risk),
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=6.5,
                color=MUTED,
                zorder=5,
            )
        if risk.limit is not None:
            axes.axhline(
                risk.limit, color=LIMIT, linewidth=1.1, linestyle=(0, (4, 2)), label=TEXT("frontier.line")
            )
        sheet.key()

    caption = TEXT("frontier.caption")
    if risk.limit is not None:
        caption += " " + TEXT("frontier.limit", limit=declared(risk.limit))
    return figure(draw, height=2.9, alt=_alt(results, lines), caption=caption)


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
