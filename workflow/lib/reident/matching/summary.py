"""The three summaries of matching-based risk, by file and scenario, and the tables of the step (METHODS §8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage import sums
from reident.matching.counting import Encoded, Matches, MatchingSettings, Regions, encode, locate, match
from reident.matching.pooling import pool
from reident.matching.prepare import POPULATION, ROW
from reident.matching.section import NamedSet

MEAN, CONFIDENTIAL = "mean", "confidential"
CERTAIN, UNCERTAIN = "certain", "uncertain"
"""Whether the pooled intruder knows that a target is in the file."""

CLASSES = ((0, 0), (1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, None))
"""Numbers of matching records, from – to, by which the distribution of c is told."""


class Risk(NamedTuple):
    """The summaries of one file, with the columns that `columns.csv` declares.

    The rate of false matches is NaN without a unique match; the number of unique matches is whole for one file.
    """

    expected_match_risk: float
    true_match_rate: float
    false_match_rate: float
    unique_matches: float
    targets: int


class Matched(NamedTuple):
    """The tables of the step, with the columns that `columns.csv` declares."""

    records: pa.Table
    summary: pd.DataFrame
    scenarios: pd.DataFrame
    distribution: pd.DataFrame
    variables: pd.DataFrame
    pooled: pd.DataFrame


def summarise(c: np.ndarray, t: np.ndarray) -> Risk:
    """Return the summaries of one file, from c and T of its targets; all zero and NaN without a target."""
    c, t = np.asarray(c), np.asarray(t, bool)
    n = len(c)
    unique = c == 1
    true, s = int((unique & t).sum()), int(unique.sum())
    # Grouped by c and summed with one rounding: the same on every machine, whatever the order of records.
    expected = sums.of_shares(np.bincount(c[t & (c > 0)]))
    nan = float("nan")
    return Risk(expected, true / n if n else nan, (s - true) / s if s else nan, s, n)


def mean_of(risks: Sequence[Risk]) -> Risk:
    """Return the mean over synthetic files; a false match rate counts where it is defined."""
    expected, true, false, unique = (sums.mean_of_known(risk[at] for risk in risks) for at in range(4))
    return Risk(expected, true, false, unique, risks[0].targets)


def match_files(settings: MatchingSettings, confidential: pa.Table, synthetic: pa.Table) -> Matched:
    """Match every scenario of a study in the prepared files."""
    encoded = encode(settings, confidential, synthetic)
    risks: list[list[Risk]] = []
    set_matches: list[tuple[NamedSet, Matches]] = []
    pooled: list[pd.DataFrame] = []
    sets = settings.sets

    def keep(named_set: NamedSet, regions: Regions, matches: Matches) -> None:
        set_matches.append((named_set, matches))
        pooled.append(_pooled(settings, confidential, encoded, named_set.name, regions, matches))

    for named_set in sets:
        regions = locate(encoded, named_set.known + settings.synthesized)
        matches = match(encoded, regions)
        risks.append([summarise(*file) for file in zip(*matches, strict=True)])
        if named_set.listed:
            keep(named_set, regions, matches)
    order = danger([mean_of(set_risks[1:]) for set_risks in risks], sets)
    if any(not named_set.listed for named_set in sets):
        worst = next(at for at in order if not sets[at].listed)
        regions = locate(encoded, sets[worst].known + settings.synthesized)
        keep(sets[worst], regions, match(encoded, regions))
    place = {at: rank for rank, at in enumerate(order, start=1)}
    scenarios = pd.concat(
        [_lines(named_set, place[at], risks[at]) for at, named_set in enumerate(sets)], ignore_index=True
    )
    first = set_matches[0][0].name
    summary = scenarios.loc[scenarios["scenario"] == first, ["file", *Risk._fields]].reset_index(drop=True)
    return Matched(
        pa.concat_tables(
            [_records(settings, confidential, encoded, named_set.name, m) for named_set, m in set_matches]
        ),
        summary,
        scenarios,
        pd.concat([_distribution(named_set.name, m) for named_set, m in set_matches], ignore_index=True),
        _variables(settings, confidential, synthetic, encoded),
        pd.concat(pooled, ignore_index=True),
    )


def danger(means: Sequence[Risk], sets: Sequence[NamedSet]) -> list[int]:
    """Return positions of the sets, the most dangerous first.

    By expected match risk, then true match rate, then false match rate (a low one is dangerous);
    of equal ones the set with fewer variables, then the earlier one.
    """

    def key(at: int) -> tuple[float, ...]:
        risk = means[at]
        false = 2.0 if math.isnan(risk.false_match_rate) else risk.false_match_rate
        return -risk.expected_match_risk, -risk.true_match_rate, false, len(sets[at].known), at

    return sorted(range(len(sets)), key=key)


def _names(m: int) -> dict[int, str]:
    """Return the names of m synthetic files in tables by their numbers, and that of the confidential file, 0, last."""
    return {**{number: str(number) for number in range(1, m + 1)}, 0: CONFIDENTIAL}


def _lines(named_set: NamedSet, place: int, risks: list[Risk]) -> pd.DataFrame:
    """Return the lines of one set: each synthetic file, their mean, the confidential file."""
    confidential, *copies = risks
    lines = pd.DataFrame([*copies, mean_of(copies), confidential], columns=list(Risk._fields))
    return lines.assign(
        scenario=named_set.name,
        listed=named_set.listed,
        size=len(named_set.known),
        known=" + ".join(named_set.known),
        danger=place,
        file=[*map(str, range(1, len(risks))), MEAN, CONFIDENTIAL],
    )


def _pooled(
    settings: MatchingSettings,
    confidential: pa.Table,
    encoded: Encoded,
    scenario: str,
    regions: Regions,
    matches: Matches,
) -> pd.DataFrame:
    """Return the lines of one set: targets known to be in the file, and targets that may not be in it."""
    results = {CERTAIN: pool(encoded, regions, matches)}
    if (uncertain := settings.uncertain_targets) is not None:
        people = None
        if uncertain.population_count:
            people = confidential[POPULATION].to_numpy()[encoded.targets].astype(np.float64)
        results[UNCERTAIN] = pool(encoded, regions, matches, people, uncertain.sampling_fraction)
    lines = [
        (
            scenario,
            membership,
            *summarise(result.c, result.t),
            math.fsum(result.probability),
            int((result.c == 0).sum()),
        )
        for membership, result in results.items()
    ]
    return pd.DataFrame(lines, columns=["scenario", "membership", *Risk._fields, "own_probability", "no_record"])


def _records(
    settings: MatchingSettings, confidential: pa.Table, encoded: Encoded, scenario: str, matches: Matches
) -> pa.Table:
    n = len(encoded.targets)
    chosen = confidential.select(list(settings.key) or [ROW]).take(encoded.targets)
    data = {"scenario": pa.array([scenario] * n, pa.string())}
    names = [name.removeprefix(".") for name in chosen.column_names]
    data |= dict(zip(names, chosen.columns, strict=True))
    m = len(matches.c) - 1
    share = np.where(matches.t, 1 / np.maximum(matches.c, 1), 0.0)
    for place, file in _names(m).items():
        c, t = matches.c[place], matches.t[place]
        data[f"c_{file}"] = pa.array(c)
        data[f"T_{file}"] = pa.array(t)
        data[f"K_{file}"] = pa.array((c == 1) & t)
        data[f"F_{file}"] = pa.array((c == 1) & ~t)
    data["risk"] = pa.array(share[1:].mean(axis=0) if n else np.zeros(0))
    return pa.table(data)


def _distribution(scenario: str, matches: Matches) -> pd.DataFrame:
    m, lines = len(matches.c) - 1, []
    for place, file in _names(m).items():
        c, t = matches.c[place], matches.t[place]
        for low, high in CLASSES:
            inside = (c >= low) & (c <= (np.inf if high is None else high))
            line = summarise(c[inside], t[inside])
            n_own = int((inside & t).sum())
            lines.append((scenario, file, low, high, int(inside.sum()), n_own, line.expected_match_risk))
    columns = ["scenario", "file", "matches_from", "matches_to", "n_records", "n_own", "risk"]
    return pd.DataFrame(lines, columns=columns)


def _variables(
    settings: MatchingSettings, confidential: pa.Table, synthetic: pa.Table, encoded: Encoded
) -> pd.DataFrame:
    n, lines = confidential.num_rows, []
    m = synthetic.num_rows // max(n, 1)
    for name in settings.variables:
        radius = settings.radius.get(name)
        about = (
            name,
            "synthesized" if name in settings.synthesized else "known",
            "numeric" if radius else "categorical",
            radius.text if radius else "",
        )
        agree = _agreement(encoded, name)
        for place, file in _names(m).items():
            column = confidential[name] if place == 0 else synthetic[name].slice((place - 1) * n, n)
            distinct = pc.count_distinct(column, mode="only_valid").as_py()
            lines.append((*about, file, n, column.null_count, distinct, agree[place]))
    names = ["variable", "role", "type", "radius", "file", "n_records", "n_missing", "n_distinct", "n_agree"]
    return pd.DataFrame(lines, columns=names)


def _agreement(encoded: Encoded, name: str) -> list[int]:
    """By file, in how many records the record's own value is equal to the confidential one."""
    if name in encoded.codes:
        codes = encoded.codes[name]
        return ((codes == codes[0]) & (codes[0] >= 0)).sum(axis=1).tolist()
    ranks, low, high = encoded.numbers[name]
    return ((low <= ranks) & (ranks < high)).sum(axis=1).tolist()
