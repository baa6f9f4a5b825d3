"""Show what an intruder with a larger file would confirm (METHODS §6.5)."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

from reident.report.layout import Column, items, paragraphs, part, table
from reident.report.results import Results
from reident.report.sentences import Sentences
from reident.report.titles import title
from reident.report.wording import (
    UNDEFINED,
    count,
    declared,
    defined,
    digits,
    percent,
    rates,
    span,
    without_unit,
)

LARGER = "larger/rates.csv"
OK, BEYOND, UNRANKED = "ok", "beyond_population", "unranked"
CONFIRMED, GUESSED = "confirmed_rate", "best_guess_rate"
TEXT = Sentences("larger")
HEADING = Sentences("headings")


def curve(results: Results, metric: str, quantity: str = CONFIRMED) -> pd.DataFrame:
    """Return the sizes of a metric with their observed and estimated rates, the smallest first."""
    lines = results.table(LARGER)
    return lines[(lines["metric"] == metric) & (lines["quantity"] == quantity)]


def extrapolated(results: Results, metric: str, quantity: str = CONFIRMED) -> pd.DataFrame:
    """Return the larger sizes of a metric that have an estimate."""
    lines = curve(results, metric, quantity)
    return lines[(lines["times"] > 1) & lines["estimate"].notna()]


def multiple(times: float) -> str:
    """Return the size of a file as a multiple of the intruder's file; the parts that are drawn as fractions."""
    if times < 1:
        return TEXT("multiple", times=str(Fraction(times)))
    return TEXT("multiple", times=digits(f"{float(f'{times:.3g}'):,g}"))


def population(results: Results) -> int | None:
    """Return the declared number of people, or None."""
    return results.study["larger_intruder"]["population"]


@part(LARGER)
def larger_findings(results: Results) -> str:
    """Say what each metric confirms now, what it would confirm with the largest file, and what that assumes."""
    found = [
        TEXT("metric", metric=title(metric), text=_finding(results, metric)) for metric in results.metrics
    ]
    known = population(results)
    people = TEXT("estimated") if known is None else TEXT("declared", people=count(known))
    any_curve = any(len(extrapolated(results, metric)) for metric in results.metrics)
    return paragraphs(TEXT("text"), items(found), TEXT("assumes", people=people) if any_curve else None)


def _finding(results: Results, metric: str) -> str:
    """Return the sentences on a metric."""
    lines = curve(results, metric)
    now, beyond = lines[lines["times"] == 1].iloc[0], extrapolated(results, metric)
    guesses, further = curve(results, metric, GUESSED), extrapolated(results, metric, GUESSED)
    guess = guesses[guesses["times"] == 1].iloc[0]
    text = TEXT("now", rate=percent(now["observed"]))
    if guess["status"] != UNRANKED:
        text += " " + TEXT("guess", rate=percent(guess["observed"]))
    status = now["status"]
    if status != OK:
        return f"{text} {TEXT(f'statuses.{status}')}"
    if len(beyond):
        last = beyond.iloc[-1]
        fields = {"rate": percent(last["estimate"]), "interval": span(last["low"], last["high"])}
        text += " " + TEXT("then", times=multiple(last["times"]), size=count(last["n_eif"]), **fields)
    if len(further):
        last = further.iloc[-1]
        text += " " + TEXT("guessed", level=declared(results.level), interval=span(last["low"], last["high"]))
    if (lines["status"] == BEYOND).any():
        text += " " + TEXT(f"statuses.{BEYOND}")
    return text


@part(LARGER)
def larger_table(results: Results) -> str:
    """Return the rates by the size of the file: observed up to the intruder's file, estimated beyond it."""
    lines = results.table(LARGER)
    lines = lines.assign(shown=lines["observed"].where(lines["observed"].notna(), lines["estimate"]))
    sizes = lines[lines["quantity"] == CONFIRMED]
    keys = [(line.metric, line.times) for line in sizes.itertuples()]
    names = [
        title(metric) if at == 0 or keys[at - 1][0] != metric else "" for at, (metric, _) in enumerate(keys)
    ]

    def column(quantity: str, heading: str, width: str = "1fr") -> Column:
        own = lines[lines["quantity"] == quantity].set_index(["metric", "times"])
        return Column(heading, rates(own["shown"].reindex(keys)), width=width)

    def interval(quantity: str) -> Column:
        own = lines[lines["quantity"] == quantity].set_index(["metric", "times"]).reindex(keys)
        ends = zip(own["low"], own["high"], strict=True)
        cells = [without_unit(span(low, high)) if defined(low) else UNDEFINED for low, high in ends]
        return Column(TEXT("table.columns.interval", level=declared(results.level)), cells, width="1.2fr")

    return table(
        TEXT("table.caption", level=declared(results.level), file=LARGER),
        Column(HEADING("metric"), [f"**{name}**" if name else "" for name in names], "l"),
        Column(TEXT("table.columns.times"), [multiple(times) for times in sizes["times"]]),
        Column(TEXT("table.columns.size"), [count(n) for n in sizes["n_eif"]]),
        column(CONFIRMED, HEADING("confirmed_rate")),
        interval(CONFIRMED),
        column(GUESSED, TEXT("table.columns.guess"), "1.3fr"),
        interval(GUESSED),
        column("suspected_rate", HEADING("suspected_rate")),
        column("conditional_rate", HEADING("conditional_rate")),
        column("expected_correct_rate", HEADING("expected_correct")),
        kind="compact own-limit",
    )
