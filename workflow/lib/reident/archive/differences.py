"""The rates of two releases, and the intervals of their differences (METHODS §10, "Comparing releases").

A rate that counts records has an interval in each release, and its difference has Newcombe's hybrid score interval for
two independent samples. Rates that share out guesses or count pairs have a difference alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from reident.linkage.intervals import Interval, are_independent, of_study, score
from reident.linkage.settings import WHOLE

Group: TypeAlias = tuple[str, ...] | None
"""The values of the strata variables that name a stratum in both releases; None for the whole study."""

FRACTIONS = {
    "suspected_rate": ("n_suspected", "n_puf"),
    "confirmed_rate": ("n_confirmed", "n_puf"),
    "conditional_rate": ("n_confirmed", "n_suspected"),
    "single_rate": ("n_single_confirmed", "n_single"),
}
"""The rates that count records, with their numerator and denominator."""

OTHERS = ("expected_correct_rate", "best_rank_correct_rate", "reach", "pair_precision", "baseline_rate")
"""The rates without independent trials, which have a difference and no interval of it."""

RISK = ("confirmed_rate", "conditional_rate")
"""The rates by which the risk grows or falls: how many records are found, and how often a claim is right."""

GREW, FELL, UNCLEAR, SAME, OPEN = "grew", "fell", "unclear", "same", "open"
"""What a difference says: the interval is above 0; below 0; has 0 in it; no difference; there is none to judge."""


class Share(NamedTuple):
    """A rate of one release: its numerator, denominator, value and interval; None where it is undefined."""

    hits: int | None = None
    records: int | None = None
    rate: float | None = None
    low: float | None = None
    high: float | None = None


class Difference(NamedTuple):
    """A rate in both releases."""

    metric: str
    group: Group
    rate: str
    before: Share
    after: Share
    change: float | None  # the rate after less the rate before
    low: float | None  # the interval of the change
    high: float | None
    direction: str  # GREW, FELL, UNCLEAR, SAME or OPEN


class Attack(NamedTuple):
    """The rates of one release."""

    rates: pd.DataFrame  # ``rates.csv``
    groups: Mapping[str, Group]  # of each stratum, by its id; strata without one are left out
    method: str  # of the intervals of the study
    level: float  # their confidence level


def newcombe(before: Share, after: Share) -> Interval:
    """Return the hybrid score interval of the difference of two rates from the interval of each.

    With Wilson's intervals it is Newcombe's (1998) method 10; with others, Zou and Donner's (2008) generalisation.
    """
    if None in (before.rate, before.low, before.high, after.rate, after.low, after.high):
        return Interval(None, None)
    _, _, p1, low1, high1 = before
    _, _, p2, low2, high2 = after
    change = p2 - p1  # type: ignore[operator] # not None, as checked above
    low = change - math.hypot(p2 - low2, high1 - p1)  # type: ignore[operator]
    high = change + math.hypot(high2 - p2, p1 - low1)  # type: ignore[operator]
    return Interval(max(-1.0, low), min(1.0, high))


def compare(before: Attack, after: Attack, *, same_records: bool) -> list[Difference]:
    """Compare every rate of the metrics that both releases have, for the whole study and for each common group.

    Parameters
    ----------
    before, after : Attack
    same_records : bool
        Whether both attacks are on the same released file: the difference is then exact for its records, which are no
        two samples, and has no interval.

    Returns
    -------
    list of Difference
        By metric as in `after`, group (the whole study first, then as in `after`) and rate.
    """
    lines, differences = _lines(before), []
    for key, line in _lines(after).items():
        for rate in (*FRACTIONS, *OTHERS) if key in lines else ():
            pair = _share(lines[key], rate, before), _share(line, rate, after)
            ends = Interval(None, None)
            if rate in FRACTIONS and not same_records:
                ends = newcombe(*_comparable(rate, pair, before, after))
            differences.append(_difference(key, rate, pair, ends, exact=same_records))
    return differences


def _lines(attack: Attack) -> dict[tuple[str, Group], dict[str, Any]]:
    """Return the lines of the rates by metric and group."""
    groups = {**attack.groups, WHOLE: None}
    return {
        (line["metric"], groups[line["stratum"]]): line
        for line in attack.rates.to_dict("records")
        if line["stratum"] in groups
    }


def _share(line: dict[str, Any], rate: str, attack: Attack) -> Share:
    """Return a rate of one release with its interval: that of the study, or for other rates one by its method."""
    if rate not in FRACTIONS:
        return Share(rate=number(line.get(rate)))
    hits, records = (number(line.get(name)) for name in FRACTIONS[rate])
    if hits is None or not records:
        return Share(None if hits is None else int(hits), None if records is None else int(records))
    ends = Interval(number(line.get("conditional_low")), number(line.get("conditional_high")))
    if rate != "conditional_rate":
        ends = of_study(int(hits), int(records), attack.method, attack.level)
    return Share(int(hits), int(records), hits / records, *ends)


def number(value: Any) -> float | None:
    """Return a cell as a number; None if it is empty or text."""
    try:
        return None if value is None or pd.isna(value) else float(value)
    except ValueError:
        return None


def _comparable(rate: str, pair: tuple[Share, Share], before: Attack, after: Attack) -> Iterator[Share]:
    """Yield the rate of each release with the interval that makes the interval of the difference.

    Where records depend on each other in one of the releases, only the conditional rate has such intervals: those of
    the studies, if they have the same level.
    """
    independent = are_independent(before.method) and are_independent(after.method)
    for share in pair:
        if not independent:
            usable = rate == "conditional_rate" and before.level == after.level
            yield share if usable else Share(share.hits, share.records, share.rate)
        elif share.records:
            yield share._replace(**score(share.hits or 0, share.records, after.level)._asdict())
        else:
            yield share


def _difference(
    key: tuple[str, Group], rate: str, pair: tuple[Share, Share], ends: Interval, *, exact: bool
) -> Difference:
    before, after = pair
    if before.rate is None or after.rate is None:
        return Difference(*key, rate, *pair, None, None, None, OPEN)
    change = after.rate - before.rate
    if rate in OTHERS:
        direction = OPEN
    elif before[:2] == after[:2] or change == 0:
        direction = SAME
    elif exact:
        direction = GREW if change > 0 else FELL
    elif ends.low is None or ends.high is None:
        direction = OPEN
    else:
        direction = GREW if ends.low > 0 else FELL if ends.high < 0 else UNCLEAR
    return Difference(*key, rate, *pair, change, *ends, direction)


COLUMNS = (
    "metric", "scope", "group", "rate", "hits_before", "records_before", "rate_before", "low_before", "high_before",
    "hits_after", "records_after", "rate_after", "low_after", "high_after", "difference", "difference_low",
    "difference_high", "direction",
)  # fmt: skip


def table(lines: Sequence[Difference]) -> pd.DataFrame:
    """Return the differences as a table of :data:`COLUMNS`, one line per metric, group and rate."""
    rows = [
        (
            line.metric, "whole" if line.group is None else "stratum", " · ".join(line.group or ()), line.rate,
            *line.before, *line.after, line.change, line.low, line.high, line.direction,
        )
        for line in lines
    ]  # fmt: skip
    counts = [name for name in COLUMNS if name.startswith(("hits", "records"))]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(counts, "Int64"))
