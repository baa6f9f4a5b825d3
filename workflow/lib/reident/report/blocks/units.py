"""Units and their members: what is found of whole units, and by their size (METHODS §4.7)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.settings import WHOLE
from reident.page import style
from reident.page.columns import columns
from reident.page.common import portion, share_of, size_class
from reident.page.layout import ReportColumn, block, box, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look
from reident.page.terms import metric_cells, some, title
from reident.page.wording import count
from reident.report.results import Results

TEXT = Sentences("units")
MEMBERS, SIZES = "units/members.csv", "units/sizes.csv"
NAMED = "n_named_members"


def _whole(results: Results) -> pd.DataFrame:
    """Return the counts of members of the whole study, indexed by metric."""
    lines = results.table(MEMBERS)
    return lines[lines["stratum"] == WHOLE].set_index("metric").loc[results.metrics]


@block("rates.csv", MEMBERS)
def units_front(results: Results) -> str:
    """Say in the brief what a unit is, how many units and members there are, and how many are found."""
    lines = _whole(results)
    n_units, n_members = (round(lines[name].iloc[0]) for name in ("n_units", "n_members"))
    texts = [TEXT("front.text", units=some(n_units, results.noun), members=some(n_members, "member"))]
    if results.confirmable:
        best = results.whole["n_confirmed"].idxmax()
        found = round(lines.at[best, "n_confirmed_members"])
        of_units = round(results.whole.at[best, "n_confirmed"])
        key = "one" if len(results.metrics) == 1 else "most"
        people = portion(count(found), found / n_members, n_members, some(n_members, "member"))
        fields = {"metric": title(str(best)), "members": people}
        texts.append(TEXT(f"front.found_{key}", n=of_units, units=some(n_units, results.noun), **fields))
        if NAMED in lines and found:
            texts.append(TEXT("front.named", n=round(lines.at[best, NAMED])))
    return box("test", " ".join(texts))


@block("rates.csv", MEMBERS)
def units_members(results: Results) -> str:
    """Return the members of suspected and confirmed units by metric."""
    lines = results.known(_whole(results)).reset_index()
    named = []
    if NAMED in lines:
        named = columns(lines, TEXT, "named=n_named_members named_rate=named_member_rate", "1fr", group="members")
    return paragraphs(
        TEXT("members.text"),
        table(
            TEXT("members.caption", members=some(round(lines["n_members"].iloc[0]), "member")),
            ReportColumn(HEADING("metric"), metric_cells(lines["metric"]), "l"),
            *columns(lines, TEXT, "suspected=n_suspected_members suspected_rate=suspected_member_rate", "1fr",
                     group="members"),
            *columns(lines, TEXT, "confirmed=n_confirmed_members confirmed_rate=confirmed_member_rate", "1fr",
                     group="members"),
            *named,
        ),
    )  # fmt: skip


def _by_size(results: Results) -> tuple[str, pd.DataFrame]:
    """Return the metric that confirms most units, and its counts by size."""
    best = str(results.whole["n_confirmed"].idxmax())
    lines = results.table(SIZES)
    return best, lines[lines["metric"] == best].reset_index(drop=True)


def _classes(lines: pd.DataFrame) -> list[str]:
    return [size_class(low, high) for low, high in zip(lines["least"], lines["most"].astype(float), strict=True)]


@block("rates.csv", SIZES)
def units_figure(results: Results) -> Figure | None:
    """Draw the units that are suspected and confirmed by their number of members."""
    metric, lines = _by_size(results)
    if not lines["n_suspected"].any() or not results.confirmable:
        return None
    shares = {
        "confirmed": lines["n_confirmed"] / lines["n_units"],
        "suspected_only": (lines["n_suspected"] - lines["n_confirmed"]) / lines["n_units"],
    }
    colours = {"confirmed": style.CONFIRMED, "suspected_only": style.SUSPECTED}

    def draw(axes: Axes) -> None:
        start = 0 * lines["n_units"]
        for name, share in shares.items():
            look: Look = {"height": 0.56, "linewidth": 0.4, "edgecolor": "white", "color": colours[name]}
            axes.barh(range(len(lines)), share, left=start, label=TEXT(f"sizes.figure.{name}"), **look)
            start = start + share
        style.percent_axis(axes, 1.0)

    names, n = _classes(lines), lines["n_units"].tolist()
    labels = [TEXT("sizes.figure.row", size=name, n=count(total)) for name, total in zip(names, n, strict=True)]
    alt = [TEXT("sizes.figure.alt.start", metric=title(metric))]
    for at, name in enumerate(names):
        fields = {"suspected": share_of(lines.at[at, "n_suspected"] / n[at], n[at])}
        fields |= {"confirmed": share_of(shares["confirmed"][at], n[at])}
        alt.append(TEXT("sizes.figure.alt.size", size=name, n=count(n[at]), **fields))
    caption = TEXT("sizes.figure.caption", metric=title(metric))
    return style.row_figure({"": draw}, labels, extra=0.3, alt=" ".join(alt), caption=caption)


@block("rates.csv", SIZES)
def units_sizes(results: Results) -> str:
    """Return the units by their number of members, and those that the metric cannot reach."""
    metric, lines = _by_size(results)
    lines = results.known(lines)
    return table(
        TEXT("sizes.caption", metric=title(metric)),
        ReportColumn(TEXT("sizes.size"), _classes(lines), "l"),
        *columns(lines, TEXT, "units=n_units suspected=n_suspected confirmed=n_confirmed linked=n_linked", "1fr",
                 group="sizes"),
        *columns(lines, TEXT, "out_of_reach=n_out_of_reach", "1fr", group="sizes"),
    )  # fmt: skip
