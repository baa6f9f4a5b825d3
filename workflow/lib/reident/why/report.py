"""The variables that carry the confirmed claims, and the changes that would have prevented them (METHODS §6.3)."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.recodings import LEFT_OUT, NEIGHBOURS
from reident.page import style
from reident.page.columns import columns
from reident.page.common import share_rows
from reident.page.layout import ReportColumn, block, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure
from reident.page.terms import narrow_title, some, title
from reident.page.wording import count, escape, label_cells, number, percent, rates

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("why")
COUNTS = ["net_change", "n_prevented", "n_newly_confirmed"]
MINUS = "\u2212"

_NUMBER = re.compile(r"(width|top|bottom) (\S+)")


def of_metrics(results: Results, kind: str) -> pd.DataFrame | None:
    """Return the lines of all metrics about `recodings` or `variables`, or None if the study does not ask why."""
    paths = {metric: f"why/{metric}.{kind}.csv" for metric in results.metrics}
    lines = [results.table(path).assign(metric=metric) for metric, path in paths.items() if results.has(path)]
    return pd.concat(lines, ignore_index=True) if lines else None


def recoding_name(text: str) -> str:
    """Return a recoding in words: those of the code in the language of the report, those of the study as they are."""
    words = {LEFT_OUT: "left_out", NEIGHBOURS: "neighbours"}
    if text in words:
        return TEXT(f"recodings.{words[text]}")
    matches = [_NUMBER.fullmatch(piece) for piece in text.split(", ")]
    if not all(matches):
        return escape(text)
    return ", ".join(TEXT(f"recodings.{match[1]}", n=_number(match[2])) for match in matches if match is not None)


def _number(text: str) -> str:
    try:
        return number(float(text))
    except ValueError:  # a fraction such as 1/3
        return text


@block("rates.csv")
def why_premise(results: Results) -> str | None:
    """Explain the term "carry a claim", and the changes that were tried."""
    lines = of_metrics(results, "recodings")
    if lines is None:
        return None
    tried = lines.drop_duplicates(["variable", "recoding"])
    return paragraphs(TEXT("premise.text", changes=some(len(tried), "change")), TEXT("premise.net_change"))


@block("rates.csv")
def why_findings(results: Results) -> str | None:
    """Say for each metric which variable carries most claims, and which coarser values would prevent most."""
    lines = of_metrics(results, "recodings")
    if lines is None:
        return None
    return items(
        f"**{title(str(metric))}.** {_finding(recodings)}" for metric, recodings in lines.groupby("metric", sort=False)
    )


def _finding(lines: pd.DataFrame) -> str:
    n = int(lines["n_confirmed"].iloc[0])
    if not n:
        return TEXT("findings.none_confirmed")
    if not lines["n_prevented"].any():
        return TEXT("findings.nothing", confirmed=some(n, "confirmed_record"))
    left_out, coarser = (lines[(lines["recoding"] == LEFT_OUT) == kind] for kind in (True, False))
    texts = []
    found = {"confirmed": some(n, "confirmed_record")}
    if left_out["n_prevented"].any():
        texts.append(TEXT("findings.left_out", **found, **_most(left_out)))
    else:
        texts.append(TEXT("findings.not_left_out", **found))
    if coarser["n_prevented"].any():
        line = coarser.loc[coarser["n_prevented"].idxmax()]
        name = recoding_name(str(line["recoding"]))
        texts.append(TEXT("findings.coarser", recoding=name, **_most(coarser)))
    return " ".join(texts)


def _most(lines: pd.DataFrame) -> dict[str, str]:
    """Return the words for the change that prevents most; the first in the order of the study among equal ones."""
    line = lines.loc[lines["n_prevented"].idxmax()]
    return {
        "variable": escape(str(line["variable"])),
        "records": some(int(line["n_prevented"]), "record"),
        "share": percent(line["prevented_rate"]),
        "new": count(line["n_newly_confirmed"]),
        "net": signed(line["net_change"]),
    }


@block("rates.csv")
def why_variables(results: Results) -> str | None:
    """Show the share of the smallest unique sets of confirmed pairs that contain each variable, by metric."""
    lines = of_metrics(results, "variables")
    if lines is None or not lines["n_unique"].any():
        return None
    shares = lines.pivot_table(index="variable", columns="metric", values="unique_share", sort=False, dropna=False)
    return table(
        TEXT("sets.caption"),
        ReportColumn(HEADING("variable"), label_cells(shares.index), "l", "1fr"),
        *(ReportColumn(narrow_title(metric), rates(shares[metric])) for metric in results.metrics if metric in shares),
    )


@block("rates.csv")
def why_recodings(results: Results) -> str | None:
    """Show by how much each change would change the number of confirmed records, by metric."""
    lines = of_metrics(results, "recodings")
    if lines is None or not lines[["n_confirmed", "n_newly_confirmed"]].any(axis=None):
        return None
    tried = lines[["variable", "recoding"]].drop_duplicates()
    tried["recoding"] = [recoding_name(str(text)) for text in tried["recoding"]]
    return table(
        TEXT("recodings_table.caption"),
        *columns(tried, HEADING, "variable:labels@1fr"),
        *columns(tried, TEXT, "recoding:text", group="recodings_table"),
        *(
            ReportColumn(
                narrow_title(metric),
                [
                    TEXT("recodings_table.cell", net=signed(net), lost=count(lost), new=count(new))
                    for net, lost, new in recodings[COUNTS].to_numpy().tolist()
                ],
            )
            for metric, recodings in lines.groupby("metric", sort=False)
        ),
        kind="compact",
    )


def signed(value: float) -> str:
    """Return a whole number with its sign; 0 has none."""
    return count(value) if not value else f"{'+' if value > 0 else MINUS}{count(abs(value))}"


KINDS = ("left_out", "coarser")


@block("rates.csv")
def why_carried_figure(results: Results) -> Figure | None:
    """Draw the share of claims prevented without each variable, and with its most effective coarser values."""
    lines = of_metrics(results, "recodings")
    if lines is None or not lines["n_confirmed"].any():
        return None
    lines = lines[lines["n_confirmed"] > 0]
    variables = list(dict.fromkeys(lines["variable"]))
    metrics = [metric for metric in results.metrics if metric in set(lines["metric"])]
    shares = {
        kind: lines[(lines["recoding"] == LEFT_OUT) == (kind == "left_out")]
        .groupby(["metric", "variable"])["prevented_rate"]
        .max()
        for kind in KINDS
    }

    panels = {
        title(metric): partial(_panel, {kind: _shares(shares[kind], metric, variables) for kind in KINDS})
        for metric in metrics
    }
    cells = []
    for metric in metrics:
        left_out = _shares(shares["left_out"], metric, variables).items()
        texts = ", ".join(f"{name} {percent(share)}" for name, share in left_out)
        cells.append(TEXT("figure.cell", metric=title(metric), shares=texts))
    alt, caption = TEXT("figure.alt", cells=" ".join(cells)), TEXT("figure.caption")
    look: dict[str, Any] = {"extra": 0.1, "across": 2, "between": 0.06}
    return style.row_figure(panels, variables, alt=alt, caption=caption, **look)


def _shares(shares: pd.Series, metric: str, variables: list[str]) -> pd.Series:
    values = shares[shares.index.get_level_values("metric") == metric].droplevel("metric")
    return values.reindex(variables)


def _panel(shares: dict[str, pd.Series], axes: Axes) -> None:
    at = range(len(shares["left_out"]))
    share_rows(axes, len(at))
    hollow = style.hollow(5.4, 2, style.LIMIT, clip_on=False)
    axes.plot(shares["coarser"], at, "o", label=TEXT("figure.coarser"), **hollow)
    full = style.full(3.6, clip_on=False)
    axes.plot(shares["left_out"], at, "o", label=TEXT("figure.left_out"), **full)
