"""Show the results of an intruder who holds several files (METHODS §6.6)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes

from reident.linkage.settings import ALL, ANY, EXACTLY, ONE, WHOLE
from reident.outcomes import LIMITS, TOGETHER, VERDICT
from reident.page import style
from reident.page.columns import columns
from reident.page.common import FEW, interval_column, portion, share_of, top_of, verdict_on
from reident.page.layout import ReportColumn, block, box, items, paragraphs, table
from reident.page.sentences import HEADING, Sentences
from reident.page.style import Figure, Look
from reident.page.terms import metric_cells, some, title
from reident.page.wording import (
    apart,
    count,
    declared,
    defined,
    escape,
    label_cells,
    listed,
    percent,
    without_repeats,
    word,
)

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("together")
RATES = "together/rates.csv"
MAX_LABEL = 30
"""Characters of a file's label that is not broken into lines."""

MAX_FILES = 6
"""Files up to which a figure names every number of them in its key."""


def whole_of(results: Results, metric: str) -> pd.DataFrame:
    """Return the lines of a metric about the whole study."""
    lines = results.table(RATES)
    return lines[(lines["metric"] == metric) & (lines["stratum"] == WHOLE)].reset_index(drop=True)


def line_of(lines: pd.DataFrame, files: str) -> pd.Series:
    """Return the line of a metric about any or all of the files."""
    return lines[lines["files"] == files].iloc[0]


def best_of(lines: pd.DataFrame) -> pd.Series:
    """Return the line of the single file that confirms most records, the first of equal ones."""
    single = lines[lines["files"] == ONE]
    return single.loc[single["n_confirmed"].idxmax()]


def labels(results: Results) -> list[str]:
    """Return the labels of the files."""
    lines = whole_of(results, results.metrics[0])
    return [str(label) for label in lines.loc[lines["files"] == ONE, "label"]]


def _gain(lines: pd.DataFrame, n_files: int) -> str:
    """Return how many more records any of the files confirms than the best one alone; empty with one file."""
    joint, best = round(line_of(lines, ANY)["n_confirmed"]), best_of(lines)
    n_best = round(best["n_confirmed"])
    if n_files == 1:
        return ""
    fields: dict[str, Any] = {"n": n_files, "file": escape(best["label"])}
    if joint == n_best:
        return TEXT("gain.same", **fields)
    more = count(joint - n_best) if n_best < FEW else percent((joint - n_best) / n_best)
    return TEXT("gain.more", more=more, **fields)


@block("rates.csv", RATES, LIMITS, VERDICT)
def together_overall(results: Results) -> str | None:
    """Give the verdict on the intruder with all files, where the study sets a limit for it."""
    return verdict_on(results, TOGETHER, TEXT, "nothing", _limits)


def _limits(results: Results, limits: pd.DataFrame) -> list[str]:
    return [_limit(results, of, lines) for of, lines in limits.groupby(["limit", "bound"], sort=False)]


def _limit(results: Results, of: tuple[str, float], lines: pd.DataFrame) -> str:
    """Return a limit with the value of each metric."""
    limit, bound = of
    values = []
    for line in lines.itertuples():
        joint = line_of(whole_of(results, str(line.metric)), ANY)
        n = joint["n_puf" if limit == "together_confirmed_rate_at_most" else "n_suspected"]
        text = share_of(line.value, n) if n < FEW else apart(line.value, bound)[0]
        values.append(TEXT("limits.value", value=text, n=count(n), metric=title(str(line.metric))))
    return TEXT(f"limits.{limit}", limit=declared(bound), values=listed(values))


@block("rates.csv", "strata/account.csv", RATES)
def together_front(results: Results) -> str | None:
    """Say in the brief how many people an intruder finds who holds all files, by the metric that finds most."""
    names = labels(results)
    if len(names) == 1 or not results.confirmable:
        return None
    by_metric = {metric: whole_of(results, metric) for metric in results.metrics}
    metric = max(by_metric, key=lambda name: line_of(by_metric[name], ANY)["n_confirmed"])
    lines = by_metric[metric]
    intruder = TEXT("front.intruder", n=len(names), number=word(len(names)), names=listed(label_cells(names)))
    text = TEXT("front.nobody", intruder=intruder)
    if n := round(line_of(lines, ANY)["n_confirmed"]):
        fields = {"people": some(n, "person"), "metric": title(metric), "gain": _gain(lines, len(names))}
        text = TEXT("front.found", intruder=intruder, **fields)
    return box("findings", text)


@block("rates.csv", RATES)
def together_findings(results: Results) -> str:
    """Report the records that any and all of the files find, the share of correct guesses, and corroboration."""
    names = labels(results)
    text = TEXT("text", n=len(names), number=word(len(names)), names=listed(label_cells(names)))
    findings = [TEXT("metric", metric=title(metric), text=_finding(results, metric)) for metric in results.metrics]
    shared = line_of(whole_of(results, results.metrics[0]), ANY)["n_corroborated"]
    return paragraphs(text, items(findings), TEXT("corroborates") if defined(shared) and len(names) > 1 else None)


def _finding(results: Results, metric: str) -> str:
    lines, n_files = whole_of(results, metric), len(labels(results))
    joint, every = line_of(lines, ANY), line_of(lines, ALL)
    n_puf, n_suspected = joint["n_puf"], joint["n_suspected"]
    if not n_suspected:
        return TEXT("nothing_suspected")
    n = round(joint["n_confirmed"])
    records = portion(count(n), joint["confirmed_rate"], n_puf, some(round(n_puf), "puf_record"))
    texts = [TEXT("any", n=n, portion=records, gain=_gain(lines, n_files))]
    if n_files > 1:
        texts.append(TEXT("all", n=round(every["n_confirmed"])))
    fields = {"share": share_of(joint["best_rank_correct_rate"], n_suspected), "suspected": count(n_suspected)}
    texts.append(TEXT("guess", n=n_files, **fields))
    if defined(joint["n_corroborated"]) and n_files > 1:
        shared = round(joint["n_corroborated"])
        right = share_of(joint["corroborated_confirmed_rate"], shared) if shared else ""
        texts.append(TEXT("corroborated", n=shared, **({"right": right} if shared else {})))
    return " ".join(texts)


@block("rates.csv", RATES)
def together_table(results: Results) -> str:
    """Return the rates of each file alone, of any, of all and of exactly as many, by metric."""
    lines = pd.concat([_rows(whole_of(results, metric)) for metric in results.metrics], ignore_index=True)
    which = [_which(line) for _, line in lines.iterrows()]
    return table(
        TEXT("table.caption", file=RATES),
        ReportColumn(HEADING("metric"), without_repeats(metric_cells(lines["metric"])), "l"),
        ReportColumn(TEXT("table.files"), which, "l", "auto" if max(map(len, which)) <= MAX_LABEL else "1.5fr"),
        *columns(
            lines,
            HEADING,
            "suspected_records=n_suspected confirmed_records=n_confirmed confirmed_rate conditional_rate",
        ),
        interval_column(results, lines),
        *columns(lines, HEADING, "best_rank_correct=best_rank_correct_rate"),
        kind="compact",
    )


def _rows(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of the table: exactly all of the files are all of them."""
    n_files = str((lines["files"] == ONE).sum())
    return lines[(lines["files"] != EXACTLY) | (lines["label"].astype(str) != n_files)]


def _which(line: pd.Series) -> str:
    if line["files"] == ONE:
        return TEXT("table.one", file=escape(line["label"]))
    if line["files"] == EXACTLY:
        return TEXT("table.exactly", n=int(line["label"]))
    return TEXT(f"table.{line['files']}")


PANELS = {"suspected": "suspected_rate", "confirmed": "confirmed_rate"}


@block("rates.csv", RATES)
def together_figure(results: Results) -> Figure | None:
    """Draw the shares that exactly 1, 2 … of the files find as stacked bars, and the best single file as a mark."""
    by_metric = {metric: whole_of(results, metric) for metric in results.metrics}
    if not any(line_of(lines, ANY)["n_suspected"] for lines in by_metric.values()):
        return None

    def draw(column: str, axes: Axes) -> None:
        _stack(axes, list(by_metric.values()), column)
        tops = [line_of(lines, ANY)[column] for lines in by_metric.values()]
        style.percent_axis(axes, top_of(tops, None), 3)

    panels = {TEXT(f"figure.{panel}"): partial(draw, column) for panel, column in PANELS.items()}
    names = [title(metric) for metric in results.metrics]
    about: dict[str, Any] = {"alt": _alt(results), "caption": TEXT("figure.caption")}
    return style.row_figure(panels, names, extra=0.7, between=0.05, **about)


def _stack(axes: Axes, by_metric: list[pd.DataFrame], column: str) -> None:
    """Draw the bars of one rate: the records that all files find first, those of one file last."""
    n_files = (by_metric[0]["files"] == ONE).sum()
    rows, start = range(len(by_metric)), [0.0] * len(by_metric)
    for number in range(n_files, 0, -1):
        shares = [lines[(lines["files"] == EXACTLY) & (lines["label"].astype(str) == str(number))][column].item()
                  for lines in by_metric]  # fmt: skip
        named = n_files <= MAX_FILES or number in (1, n_files)
        label = TEXT("figure.exactly", n=number) if named else "_"
        look: Look = {"color": style.CONFIRMED, "alpha": 0.25 + 0.75 * (number - 1) / max(n_files - 1, 1)}
        axes.barh(rows, shares, left=start, height=0.6, label=label, linewidth=0, **look)
        start = [low + share for low, share in zip(start, shares, strict=True)]
    best = [best_of(lines)[column] for lines in by_metric]
    axes.plot(best, rows, "|", label=TEXT("figure.best"), **style.TICK | {"color": style.INK, "zorder": 4})


def _alt(results: Results) -> str:
    texts = [TEXT("figure.alt.start")]
    for metric in results.metrics:
        lines = whole_of(results, metric)
        for panel, column in PANELS.items():
            rates = [
                TEXT("figure.alt.exactly", n=int(line["label"]), share=percent(line[column]))
                for _, line in lines[lines["files"] == EXACTLY].iterrows()
            ]
            fields = {"metric": title(metric), "panel": TEXT(f"figure.{panel}"), "rates": ", ".join(rates)}
            texts.append(TEXT("figure.alt.line", **fields, best=percent(best_of(lines)[column])))
    return " ".join(texts)
