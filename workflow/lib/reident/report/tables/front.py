"""The front page: the verdict of each metric and what was found, in plain sentences (METHODS §6)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from reident.report.layout import Column, block, items, paragraphs, part, table
from reident.report.results import Results, title
from reident.report.wording import (
    UNDEFINED,
    apart,
    count,
    declared,
    defined,
    listed,
    percent,
    percents,
    sentence,
    some,
    span,
    word,
)


class Verdict(NamedTuple):
    """How a metric stands to the limit: ``above``, ``within``, ``unsure``, ``nothing``, ``unknown`` or ``open``."""

    kind: str
    words: str


_WORDS = {
    "above": "▲ Above the limit",
    "within": "✓ Within the limit",
    "unsure": "✓ Within, but uncertain",
    "nothing": "✓ Nothing suspected",
    "unknown": "No verdict",
    "open": "No limit given",
}


def verdict(line: pd.Series, limit: float | None, *, confirmable: bool = True) -> Verdict:
    """The verdict on one line of the rates: conditional rate ≤ limit passes.

    ``unsure`` passes too, but the interval reaches above the limit; ``nothing`` is a metric without
    a suspected record, whose conditional rate is not defined; ``unknown`` is a metric of a study in which
    nothing is `confirmable`; ``open`` is a study without a limit.
    """
    if limit is None:
        kind = "open"
    elif not confirmable:
        kind = "unknown"
    elif line["n_suspected"] == 0:
        kind = "nothing"
    elif line["conditional_rate"] > limit:
        kind = "above"
    else:
        kind = "unsure" if line["conditional_high"] > limit else "within"
    return Verdict(kind, _WORDS[kind])


@part("rates.csv")
def overall(results: Results) -> str:
    """The verdict on the study, set apart."""
    limit = results.limit
    if not results.confirmable:
        strata = " and to the codes of the strata variables" if results.true_links[0] else ""
        return block(
            "verdict unknown",
            "**No verdict**",
            f"{unconfirmable(results)} This report measures no risk of the attack, whatever its rates: see to the "
            f"internal use file{strata}.",
        )
    if limit is None:
        return block(
            "verdict open",
            "**No verdict**",
            "The study names no limit, so that this report measures the risk and passes no judgement on it.",
        )
    by_kind: dict[str, list[str]] = {}
    for metric, line in results.whole.iterrows():
        by_kind.setdefault(verdict(line, limit).kind, []).append(title(str(metric)))
    above = by_kind.get("above", [])
    what = f"limit of {declared(limit)} for the conditional rate"
    if not above:
        said = _all_within(by_kind, len(results.metrics), what) + _mostly_lost(results)
        return block("verdict within", "**Within the limit**", said)
    rest = len(results.metrics) - len(above)
    if rest == 0:
        said = f"{_every(len(above))} above the {what}: {listed(above)}."
    else:
        verb = "is" if len(above) == 1 else "are"
        number = f"{word(len(above)).capitalize()} of {word(rest + len(above))} metrics"
        said = f"{number} {verb} above the {what}: {listed(above)}."
    return block("verdict above", "**Above the limit**", said)


def unconfirmable(results: Results) -> str:
    """Why nothing can be confirmed, in a sentence."""
    links, _ = results.true_links
    if not links:
        return "There is no true link between the files, so that no suspicion can be confirmed."
    only = (
        "The one true link does not lie" if links == 1 else f"Not one of the {count(links)} true links lies"
    )
    return f"{only} inside a stratum, so that no suspicion can be confirmed."


def _mostly_lost(results: Results) -> str:
    """What a verdict of passing adds where it rests on the smaller part of the true links."""
    if not results.has("strata/account.csv"):
        return ""
    links, inside = results.true_links
    if 2 * inside >= links:
        return ""
    return (
        f" **It rests on {count(inside)} of {some(links, 'true link')}**: the others lie outside the strata, where no "
        "metric can find them."
    )


def _every(number: int) -> str:
    if number == 1:
        return "The one metric is"
    return "Both metrics are" if number == 2 else f"All {word(number)} metrics are"


def _all_within(by_kind: dict[str, list[str]], number: int, what: str) -> str:
    said = [f"{_every(number)} within the {what}."]
    if "unsure" in by_kind:
        said.append(
            f"The interval of {listed(by_kind['unsure'])} reaches above it, so that chance may have helped."
        )
    if "nothing" in by_kind:
        said.append(f"{listed(by_kind['nothing'])} suspected no record at all.")
    return " ".join(said)


@part("rates.csv")
def findings(results: Results) -> str:
    """Three sentences: how much is suspected, how much of it is right, how many records that makes."""
    return block("findings", items([_suspected(results), _right(results), _reidentified(results)]))


def _between(shares: pd.Series) -> str:
    """``between 1 % (A) and 2 % (B)``, or the one value there is."""
    low, high = shares.idxmin(), shares.idxmax()
    if percent(shares[low]) == percent(shares[high]):
        return percent(shares[high])
    return f"between {percent(shares[low])} ({title(low)}) and {percent(shares[high])} ({title(high)})"


def _suspected(results: Results) -> str:
    shares, first = results.whole["suspected_rate"], results.whole.iloc[0]
    lead = "**What an intruder would claim.**"
    n_puf, n_eif = (some(round(first[n]), "record") for n in ("n_puf", "n_eif"))
    if shares.max() == 0:
        return f"{lead} An intruder with {n_eif} of known people would recognise none of the {n_puf} in the file."
    depending = ", depending on the metric" if percent(shares.min()) != percent(shares.max()) else ""
    return (
        f"{lead} An intruder with {n_eif} of known people would claim to recognise {_between(shares)} of the {n_puf} "
        f"in the file{depending}."
    )


def _right(results: Results) -> str:
    whole = results.whole[results.whole["n_suspected"] > 0]
    lead = "**How often the claim is right.**"
    if not results.confirmable:
        return f"{lead} This cannot be told. {unconfirmable(results)}"
    if whole.empty:
        return f"{lead} Nothing is suspected, so that there is no claim to be right or wrong."
    if whole["n_confirmed"].sum() == 0:
        return (
            f"{lead} Not one claim is right; at the {declared(results.level)} level, at most "
            f"{percent(whole['conditional_high'].max())} could have been."
        )
    chance = whole["baseline_rate"].max()
    drawing = f"; of claims made at random it would be {percent(chance)}" if defined(chance) else ""
    if len(whole) > 1 and drawing:
        drawing += " at most"
    return f"{lead} {sentence(_between(whole['conditional_rate']))} of these claims are right{drawing}."


def _reidentified(results: Results) -> str:
    lead = "**What that comes to.**"
    if not results.confirmable:
        return f"{lead} How many records of the file are re-identified cannot be told either."
    n = reidentified(results)
    if n == 0:
        return f"{lead} No record of the file is re-identified by any metric."
    share = percent(n / results.whole["n_puf"].iloc[0])
    verb = "is" if n == 1 else "are"
    by = " by at least one of the metrics" if len(results.metrics) > 1 else ""
    return f"{lead} {some(n, 'record')} of the file ({share}) {verb} truly re-identified{by}."


def reidentified(results: Results) -> int:
    """PUF records that at least one metric confirms; where the overlap is not known, of the best metric."""
    if not results.has("description/overlap.csv"):
        return int(results.whole["n_confirmed"].max())
    overlap = results.table("description/overlap.csv")
    return int(overlap.loc[overlap["set"] == "confirmed", "n_pufids"].sum())


@part("rates.csv")
def verdicts(results: Results) -> str:
    """The table of verdicts."""
    whole, limit = results.whole, results.limit
    names = [f"**{title(metric)}**" for metric in results.metrics]
    rates = percents(whole["conditional_rate"])
    if limit is not None:
        rates = [
            apart(rate, limit)[0] if defined(rate) and percent(rate, 1) == percent(limit, 1) else shown
            for rate, shown in zip(whole["conditional_rate"], rates, strict=True)
        ]
    columns = [
        Column("Conditional rate", rates),
        Column(
            f"{declared(results.level)} interval",
            [span(*ends) for ends in zip(whole["conditional_low"], whole["conditional_high"], strict=True)],
        ),
        Column("Suspected records", [count(n) for n in whole["n_suspected"]]),
        Column("Confirmed", [count(n) for n in whole["n_confirmed"]]),
    ]
    if limit is None:
        caption = "The metrics at a glance. The conditional rate is the share of suspected records that are confirmed."
    else:
        found = [verdict(line, limit, confirmable=results.confirmable) for _, line in whole.iterrows()]
        words = [f"[{v.words}]{{.{v.kind}}}" for v in found]
        columns.insert(0, Column("Verdict", words, "l", "1fr"))
        caption = (
            "Verdict per metric. The conditional rate, the share of suspected records that are confirmed, may be "
            f"at most {declared(limit)}."
        )
    columns.insert(0, Column("Metric", names, "l", "1fr" if limit is None else "auto"))
    return paragraphs(table(caption, *columns), _undefined_note(whole))


def _undefined_note(whole: pd.DataFrame) -> str | None:
    if (whole["n_suspected"] > 0).all():
        return None
    return block("note", f"{UNDEFINED} not defined: without a suspected record there is no conditional rate.")
