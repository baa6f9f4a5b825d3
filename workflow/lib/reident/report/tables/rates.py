"""Rates by metric and by stratum (METHODS §6)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reident.report.layout import Column, block, paragraphs, part, table
from reident.report.results import Results, title
from reident.report.tables.attack import shown_strata, strata_note
from reident.report.tables.front import unconfirmable
from reident.report.wording import (
    NO_BREAK,
    UNDEFINED,
    count,
    declared,
    defined,
    escape,
    listed,
    percent,
    percents,
    some,
    span,
    times,
)


@part("rates.csv")
def rates_by_metric(results: Results) -> str:
    """Suspected, confirmed and conditional rates of the whole study, with interval and baseline."""
    whole = results.whole
    names = [f"**{title(metric)}**" for metric in results.metrics]
    return paragraphs(
        table(
            f"Rates by metric, of {count(whole['n_puf'].iloc[0])} released records.",
            Column("Metric", names, "l", "1.35fr"),
            Column("Suspected records", [count(n) for n in whole["n_suspected"]], "r", "1.1fr"),
            Column("Suspected rate", percents(whole["suspected_rate"]), "r", "1.1fr"),
            Column("Confirmed records", [count(n) for n in whole["n_confirmed"]], "r", "1.1fr"),
            Column("Confirmed rate", percents(whole["confirmed_rate"]), "r", "1.1fr"),
            Column("Conditional rate", percents(whole["conditional_rate"]), "r", "1.15fr"),
            Column(
                f"{declared(results.level)} interval",
                [
                    span(*ends)
                    for ends in zip(whole["conditional_low"], whole["conditional_high"], strict=True)
                ],
                "r",
                "1.45fr",
            ),
            Column("Baseline", percents(whole["baseline_rate"]), "r", "1fr"),
            Column(
                "Rate ÷ baseline",
                [
                    times(*pair)
                    for pair in zip(whole["conditional_rate"], whole["baseline_rate"], strict=True)
                ],
                "r",
                "1fr",
            ),
        ),
        _bounds(results, whole),
        _reading(results),
    )


def _bounds(results: Results, whole: pd.DataFrame) -> str | None:
    """Where nothing is suspected or nothing confirmed, what can be said instead of a rate."""
    said = [] if results.confirmable else [unconfirmable(results)]
    for metric, line in whole.iterrows():
        name = title(str(metric))
        if line["n_suspected"] == 0:
            said.append(
                f"{name}: no record is suspected, so that the conditional rate is not defined ({UNDEFINED})."
            )
        elif line["n_confirmed"] == 0 and results.confirmable:
            said.append(
                f"{name}: none of {count(line['n_suspected'])} suspected records is confirmed; at the "
                f"{declared(results.level)} level the conditional rate is at most {percent(line['conditional_high'])}."
            )
    return block("note", *said) if said else None


def _reading(results: Results) -> str:
    """What each rate means."""
    return block(
        "reading",
        "**Suspected rate**: the share of released records for which some record of the intruder is close enough.",
        "**Confirmed rate**: the share of released records of which at least one suspected pair is a true link.",
        (
            "**Conditional rate**: confirmed ÷ suspected, how far an intruder can trust a suspicion. The interval "
            f"shows how much of it could be chance ({_interval(results)})."
        ),
        (
            "**Baseline**: the conditional rate of an intruder who, for each suspected record, draws as many records "
            "of its stratum at random."
        ),
    )


def _interval(results: Results) -> str:
    name = {"clopper-pearson": "Clopper–Pearson", "wilson": "Wilson"}
    method = results.study["rates"]["interval"]
    return f"{name.get(method, method)}, {declared(results.level)}"


@part("rates.csv")
def pairs_by_metric(results: Results) -> str:
    """Pairs, precision by pairs, reach."""
    whole = results.whole
    return table(
        "Pairs and reach. Reach is the share of the released records that have a true link and are confirmed.",
        Column("Metric", [f"**{title(metric)}**" for metric in results.metrics], "l", "1fr"),
        Column("Suspected pairs", [count(n) for n in whole["n_pairs"]]),
        Column(
            "Pairs per suspected record",
            [_ratio(a, b) for a, b in zip(whole["n_pairs"], whole["n_suspected"], strict=True)],
        ),
        Column("Confirmed pairs", [count(n) for n in whole["n_confirmed_pairs"]]),
        Column("Pair precision", percents(whole["pair_precision"])),
        Column("Reach", percents(whole["reach"])),
    )


def _ratio(part_: float, whole: float) -> str:
    return f"{part_ / whole:.1f}" if whole else UNDEFINED


@part("rates.csv", "strata/manifest.csv")
def rates_by_stratum(results: Results) -> str | None:
    """The conditional rate of every metric in every stratum, with its counts."""
    if not results.strata_names:
        return None
    strata = shown_strata(results)
    rates = results.table("rates.csv").set_index(["metric", "stratum"])
    columns = []
    for metric in results.metrics:
        own = rates.loc[metric].reindex(strata["stratum"])
        columns.append(Column(title(metric), percents(own["conditional_rate"])))
        columns.append(Column("[n]{.aside}", [_counts(row) for row in own.itertuples()], "l"))
    return table(
        f"Conditional rate by stratum; n, confirmed of suspected records.{strata_note(results)}",
        Column(escape(results.strata_heading), [escape(label) for label in strata["label"]], "l", "1fr"),
        *columns,
        kind="compact" if len(strata) > 20 or len(results.metrics) > 4 else "",
    )


def _counts(row: Any) -> str:
    if not (defined(row.n_suspected) and row.n_suspected):
        return ""
    return f"[{count(row.n_confirmed)} of {count(row.n_suspected)}]{{.aside}}".replace(" ", NO_BREAK)


@part("rates.csv", "strata/manifest.csv")
def strata_sentence(results: Results) -> str | None:
    """Where the highest conditional rates are, and in how many strata the limit is passed."""
    if not results.strata_names:
        return None
    rates = results.table("rates.csv")
    own = rates[rates["stratum"].isin(results.strata["stratum"]) & (rates["n_suspected"] > 0)]
    if own.empty:
        return "No stratum has a suspected record."
    text = "Risk is seldom spread evenly: a file that passes as a whole may still expose a small stratum."
    if results.limit is not None and results.confirmable:
        above = own[own["conditional_rate"] > results.limit].groupby("metric")["stratum"].nunique()
        said = [f"{count(above[metric])} by {title(metric)}" for metric in results.metrics if metric in above]
        n = some(own["stratum"].nunique(), "stratum", "strata")
        text += (
            f" Of {n} with a suspected record, the conditional rate is above the limit of {declared(results.limit)} in "
            f"{listed(said) if said else 'none, by any metric'}."
        )
    return text + " Intervals of small strata are wide; read the rates of a stratum with its counts."
