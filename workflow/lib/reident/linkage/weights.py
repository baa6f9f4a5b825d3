"""Weights of evidence: how likely the comparison levels are among links and among other pairs (METHODS §4.6).

Counts of pairs are exact: of all pairs inside the strata, without a sample and without blocking. Where a pair is judged
by its pattern alone, the estimates depend on these counts alone, and sums over patterns are in the order of the
patterns; otherwise sums over pairs are in the order of the values. Neither depends on an order of records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.errors import InputError
from reident.kernels import evidence, patterns
from reident.kernels.evidence import Differences
from reident.linkage.metrics import candidates, fellegi_sunter
from reident.linkage.metrics.contract import Estimates, Progress, progress_of_share
from reident.linkage.metrics.fellegi_sunter import Compared, candidate_weight
from reident.linkage.metrics.levels import (
    ABSENT,
    AGREE,
    LEVELS,
    MISSING,
    Levels,
    Rules,
    begins,
    intervals,
    levels_of,
    of_categories,
    starts_of,
    whole_values,
)
from reident.linkage.pairing import Comparison, Pairing
from reident.linkage.pattern_links import START, LinkModel, maximise
from reident.linkage.settings import WeighingSettings
from reident.linkage.strata import links_inside, stratum_of_records
from reident.sections.exact import SCALE

DIGITS = 12
"""Significant digits of probabilities, which are then independent of the processor."""

FALL, EQUAL = 0.6, 1.5
"""Of numbers, EM over pairs starts with a share that falls by this exponent from level to level of the distance, and
with so many times that share at equality."""

BEFORE = 6
"""The links, spread as at the start, that EM over pairs adds to those that it expects, in each round."""

LEAST_HELD = 1 / 50
"""EM over pairs expects at least this share of the largest number of links."""

CLOSE, MAX_ROUNDS_OF_PAIRS = 1e-4, 60
"""EM over pairs ends when no probability changes by more than this, and the links by no more than this share of the
largest number of links; or after this number of rounds."""

COLUMNS = ["variable", "level", "n_pairs", "m", "u", "weight", "unit", "decimals", "above", "up_to"]


def estimate(
    settings: WeighingSettings,
    files: Mapping[str, pa.Table],
    strata: Mapping[str, pa.Table],
    manifest: pd.DataFrame,
    iuf: pa.Table | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Estimates:
    """Estimate the weights of the levels over all pairs of all strata of the whole binned files.

    An informed intruder knows the links.

    Raises
    ------
    InputError
        If a blind intruder compares so many variables that there are too many patterns.
    """
    comparison = Comparison(settings.variables, files, strata, len(manifest))
    sizes = manifest[["n_puf", "n_eif", "pairs"]].reset_index(drop=True).astype(int)
    occupied = sizes[sizes["pairs"] > 0]
    most = int(occupied[["n_puf", "n_eif"]].min(axis=1).sum())
    known = _known_links(settings, strata, iuf)
    incomplete = [
        any(table[variable.name].null_count > 0 for table in files.values()) for variable in settings.variables
    ]
    if settings.differences or settings.competition:
        found = _by_pair(settings, comparison, occupied, known, most, threads, progress)
    else:
        found = _by_pattern(settings, comparison, occupied, known, most, incomplete, threads, progress)
    return _estimates(settings, int(occupied["pairs"].sum()), *found, incomplete)


def _known_links(
    settings: WeighingSettings, strata: Mapping[str, pa.Table], iuf: pa.Table | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the rows of the true links that are compared, of both files; None for an intruder who knows none."""
    if not settings.informed or iuf is None:
        return None
    inside = links_inside(iuf, stratum_of_records(strata["puf"]), stratum_of_records(strata["eif"]))
    return iuf["puf"].to_numpy()[inside], iuf["eif"].to_numpy()[inside]


def _by_pair(
    settings: WeighingSettings,
    comparison: Comparison,
    occupied: pd.DataFrame,
    known: tuple[np.ndarray, np.ndarray] | None,
    most: int,
    threads: int,
    progress: Progress | None,
) -> tuple[list[Levels], np.ndarray, LinkModel]:
    """Return the levels, the pairs at each, and the links where pairs are judged one by one; by stratum, its sizes."""
    pairing = comparison.pairings(occupied.index.to_numpy())
    levels = levels_of(pairing, Rules(settings.partial, settings.differences, settings.bands))
    values, starts = whole_values(pairing, levels), starts_of(pairing)
    columns = zip(levels, values[0].T, values[1].T, strict=True)
    counts = np.concatenate([_pairs_at(found, Differences(puf, eif, starts)) for found, puf, eif in columns])
    n_pairs = int(occupied["pairs"].sum())
    if settings.informed:
        return levels, counts, _informed(comparison, levels, known, n_pairs)
    how, listed = {"competition": settings.competition}, None
    if n_pairs <= candidates.MAX_PAIRS:
        files = evidence.compare(*values, starts)
    else:
        odds = _odds(_start_prior(most, n_pairs))
        weights = np.rint(np.log2(_start(levels) / _shares_of(levels, counts + 0.5)) * SCALE).astype(np.int64)
        listed = candidates.candidates(values, starts, levels, weights, candidate_weight(odds), threads, progress)
        progress = None

    def expect(factors: np.ndarray, prior: float) -> tuple[np.ndarray, float]:
        if listed is not None:
            return candidates.Listed(listed, levels, factors, _odds(prior), **how).expected()
        return evidence.Evidence(files, intervals(levels), factors, _odds(prior), **how, threads=threads).expected()

    return levels, counts, maximise_pairs(levels, counts, n_pairs, most, expect, progress)


def _odds(prior: float) -> float:
    return prior / (1 - prior)


def _start_prior(most: int, n_pairs: int) -> float:
    """Return the prior with which EM over pairs starts: half of the largest number of links."""
    return (most / 2 + 0.5) / (n_pairs + 1)


def _pairs_at(levels: Levels, differences: Differences) -> np.ndarray:
    """Count the pairs at each level of a variable; int64 (levels,)."""
    up_to = [differences.at_most(end) for end in levels.ends]
    counts = dict.fromkeys(levels.distinct, 0)
    for name, number in zip(levels.names, np.diff([0, *up_to, differences.n_pairs]).tolist(), strict=True):
        counts[name] += number
    return np.array([*counts.values()], np.int64)


def _links_at(comparison: Comparison, levels: Sequence[Levels], known: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Count the true links that are compared at each level of each variable; float64 (levels,)."""
    puf, eif = whole_values(comparison.whole(), levels)
    counts = []
    for found, ours, theirs in zip(levels, puf.T, eif.T, strict=True):
        a, b = ours[known[0]], theirs[known[1]]
        present = (a != ABSENT) & (b != ABSENT)
        at = np.searchsorted(found.ends, b[present] - a[present])
        number = np.array([found.distinct.index(name) for name in found.names])
        counts.append(np.bincount(number[at], minlength=len(found.distinct)))
    return np.concatenate(counts).astype(np.float64)


def _informed(
    comparison: Comparison, levels: Sequence[Levels], known: tuple[np.ndarray, np.ndarray] | None, n_pairs: int
) -> LinkModel:
    """Return the probabilities for an intruder who knows the links."""
    if known is None:
        raise ValueError("an informed intruder needs the links")
    links = _links_at(comparison, levels, known)
    return LinkModel(links, _shares_of(levels, links + 0.5), (len(known[0]) + 0.5) / (n_pairs + 1))


def maximise_pairs(
    levels: Sequence[Levels],
    counts: np.ndarray,
    n_pairs: int,
    most: int,
    expect: Callable[[np.ndarray, float], tuple[np.ndarray, float]],
    progress: Progress | None = None,
) -> LinkModel:
    """Estimate the links by the EM algorithm over all pairs, see METHODS §4.6.

    Parameters
    ----------
    counts : int64 (n_levels,)
        The pairs at each level.
    most : int
        The largest number of links: one for every record of the smaller file of each stratum.
    expect : callable
        ``expect(factors, prior)`` returns the links that are expected at each level, and in all.
    """
    start = _start(levels)
    even = np.concatenate([np.full(len(found.distinct), 1 / len(found.distinct)) for found in levels])
    before = BEFORE * (0.9 * start + 0.1 * even)
    m, links, prior = start, np.zeros(len(counts)), _start_prior(most, n_pairs)
    rounds, converged = 0, False
    while rounds < MAX_ROUNDS_OF_PAIRS and not converged:
        rounds += 1
        m_before, prior_before = m, prior
        links, n_links = expect(m / _shares_of(levels, counts - links + 0.5), prior)
        m = _shares_of(levels, links + before)
        prior = (min(max(n_links, LEAST_HELD * most), most) + 0.5) / (n_pairs + 1)
        change = max(float(np.abs(m - m_before).max(initial=0)), abs(prior - prior_before) * n_pairs / most)
        converged = change <= CLOSE
        if progress is not None:
            progress(1 - min(1.0, math.log(max(change, CLOSE) / CLOSE) / math.log(1 / CLOSE)))
    return LinkModel(links, m, prior, (most + 0.5) / (n_pairs + 1), rounds, converged)


def _start(levels: Sequence[Levels]) -> np.ndarray:
    """Return the probabilities of all levels among links with which EM over pairs starts."""
    return np.concatenate([_start_of(found) for found in levels])


def _start_of(levels: Levels) -> np.ndarray:
    """Return the probabilities of the levels of a variable among links with which EM starts."""
    names = levels.distinct
    if levels.scale is None:
        return np.array([START if name == AGREE else (1 - START) / (len(names) - 1) for name in names])
    distance = np.array([0 if name == AGREE else int(name.rpartition("_")[2]) for name in names])
    shares = np.exp(-FALL * distance) * np.where(distance, 1, EQUAL)
    return shares / shares.sum()


def _shares_of(levels: Sequence[Levels], amounts: np.ndarray) -> np.ndarray:
    """Return the share of each level among the amounts of its variable."""
    parts = np.split(amounts, begins(levels)[1:-1])
    return np.concatenate([part / math.fsum(part.tolist()) for part in parts])


def _by_pattern(
    settings: WeighingSettings,
    comparison: Comparison,
    occupied: pd.DataFrame,
    known: tuple[np.ndarray, np.ndarray] | None,
    most: int,
    incomplete: list[bool],
    threads: int,
    progress: Progress | None,
) -> tuple[list[Levels], np.ndarray, LinkModel]:
    """Return the same as :func:`_by_pair` where pairs of one pattern are alike."""
    near = [variable.name in settings.partial for variable in settings.variables]
    levels = [of_categories(near=partly) for partly in near]
    pairs, start, n_pairs = np.zeros((len(near), len(LEVELS)), np.int64), 0.0, int(occupied["pairs"].sum())
    largest = comparison.pairing(int(occupied["pairs"].idxmax()))
    tally = None if settings.informed else _tally(settings, largest, near, incomplete, threads)
    for stratum, n in occupied["pairs"].items():
        records = fellegi_sunter.compared(comparison.pairing(stratum), settings.partial)
        pairs += _level_counts(records)
        if tally is not None:
            tally.add(records.puf, records.eif, progress_of_share(progress, start, n / n_pairs))
            start += n / n_pairs
    counts = _of_levels(levels, pairs)
    if tally is None:
        return levels, counts, _informed(comparison, levels, known, n_pairs)
    model = maximise(tally.counts(), near, incomplete, most / n_pairs)
    links = _of_levels(levels, model.links)
    return levels, counts, model._replace(links=links, m=_shares_of(levels, np.maximum(links, 0) + 0.5))


def _of_levels(levels: Sequence[Levels], amounts: np.ndarray) -> np.ndarray:
    """Return the amounts of the levels that each variable has, from those of all of :data:`LEVELS`, (v, 4)."""
    return np.concatenate(
        [row[[LEVELS.index(name) for name in found.distinct]] for found, row in zip(levels, amounts, strict=True)]
    )


def _tally(
    settings: WeighingSettings, largest: Pairing, near: list[bool], incomplete: list[bool], threads: int
) -> patterns.Tally:
    """Return an empty count of all pairs by pattern, for variables in an order that is fast in the largest stratum."""
    if patterns.n_patterns(near, incomplete) > patterns.MAX_PATTERNS:
        raise InputError(
            f"`metrics.fellegi_sunter` with `m: blind` counts at most {patterns.MAX_PATTERNS:,} comparison patterns, "
            f"but {len(near)} linking variables have more. Use fewer linking variables, or `m: informed`."
        )
    records = fellegi_sunter.compared(largest, settings.partial)
    order = patterns.by_agreement(records.puf, records.eif).tolist()
    return patterns.Tally(near, incomplete, order, threads)


def _level_counts(records: Compared) -> np.ndarray:
    """Count the pairs of a stratum by variable and level; int64 (v, 4)."""
    counts = np.zeros((len(records.near), len(LEVELS)), np.int64)
    for at, near in enumerate(records.near):
        columns = [table[:, at] for table in (records.puf, records.eif)]
        present = [column[column >= 0].astype(np.int64) for column in columns]
        width = max((int(column.max(initial=-1)) for column in present), default=-1) + 2
        puf, eif = (np.bincount(column, minlength=width) for column in present)
        agree = int(puf @ eif)
        partial = int(puf[1:] @ eif[:-1] + puf[:-1] @ eif[1:]) if near else 0
        both, all_pairs = len(present[0]) * len(present[1]), len(columns[0]) * len(columns[1])
        counts[at] = agree, partial, both - agree - partial, all_pairs - both
    return counts


def _estimates(
    settings: WeighingSettings,
    n_pairs: int,
    levels: Sequence[Levels],
    counts: np.ndarray,
    model: LinkModel,
    incomplete: Sequence[bool],
) -> Estimates:
    """Turn counts of pairs and the shares of the links into weights."""
    u = _shares_of(levels, np.maximum(counts - model.links, 0) + 0.5)
    rows: list[tuple[object, ...]] = []
    at = 0
    for variable, found, partly in zip(settings.variables, levels, incomplete, strict=True):
        present = 0
        for name in found.distinct:
            level_m, level_u = _rounded(model.m[at]), _rounded(u[at])
            unit, decimals = found.scale or (math.nan, pd.NA)
            shares = level_m, level_u, weight(level_m, level_u)
            rows.append((variable.name, name, int(counts[at]), *shares, unit, decimals, *found.bounds(name)))
            present, at = present + int(counts[at]), at + 1
        if partly:
            rows.append(
                (variable.name, MISSING, n_pairs - present, None, None, 0.0, math.nan, pd.NA, math.nan, math.nan)
            )
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"decimals": "Int64"})
    prior = _rounded(max(model.prior, 0.5 / (n_pairs + 1)))
    least = fellegi_sunter.least_weight(settings.probability, settings.weight, prior)
    line = {
        "n_pairs": n_pairs,
        "prior": prior,
        "largest_prior": _rounded(model.largest_prior),
        "rounds": model.rounds,
        "converged": "yes" if model.converged else "no",
        "least_weight": least / SCALE,
        "tolerance": fellegi_sunter.largest_tolerance(table, least),
    }
    return Estimates(table, pd.DataFrame([line]))


def weight(m: float, u: float) -> float:
    """Return log2(m / u), the weight of a level in bits, to 12 decimals."""
    return fellegi_sunter.scaled(math.log2(m) - math.log2(u)) / SCALE


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
