"""Weights of evidence: how likely the comparison levels are among links and among other pairs (METHODS §4.6).

Counts of pairs are exact: of all pairs inside the strata, without a sample and without blocking. The estimates depend
on these counts alone, hence on no order of records, and sums over patterns are in the order of the patterns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.errors import InputError
from reident.kernels import patterns
from reident.linkage.metrics import fellegi_sunter
from reident.linkage.metrics.contract import Estimates, Progress, progress_of_share
from reident.linkage.metrics.fellegi_sunter import LEVELS, Compared
from reident.linkage.pairing import Comparison
from reident.linkage.settings import WeighingSettings
from reident.linkage.strata import links_inside, stratum_of_records
from reident.sections.exact import SCALE

START = 0.9
"""The probability of agreement among links with which EM starts; the other levels share the rest."""

TOLERANCE = 1e-10
"""EM ends when no probability changes by more than this, and the prior by no more than this share of itself."""

MAX_ROUNDS = 10_000
"""EM ends after this number of rounds, whether it has converged or not."""

DIGITS = 12
"""Significant digits of probabilities, which are then independent of the processor."""

PRESENT = len(LEVELS) - 1
"""The levels of values that are present come first."""


class LinkModel(NamedTuple):
    """The links by variable and level of :data:`LEVELS`, (v, 4), and the prior, as known or as EM expects them.

    The prior is the share of links among all pairs, and `largest_prior` its bound in EM, NaN without EM.
    """

    links: np.ndarray
    prior: float
    largest_prior: float = math.nan
    rounds: int = 0
    converged: bool = True


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
    near = [variable.name in settings.partial for variable in settings.variables]
    incomplete = [
        any(table[variable.name].null_count > 0 for table in files.values()) for variable in settings.variables
    ]
    occupied = np.flatnonzero((manifest["pairs"] > 0).to_numpy())
    n_pairs, pairs = int(manifest["pairs"].sum()), np.zeros((len(near), len(LEVELS)), np.int64)
    tally = None if settings.informed else _tally(settings, comparison, manifest, near, incomplete, threads)
    start = 0.0
    for stratum in occupied.tolist():
        records = fellegi_sunter.compared(comparison.pairing(stratum), settings.partial)
        pairs += _level_counts(records)
        if tally is not None:
            share = int(manifest["pairs"].iloc[stratum]) / n_pairs
            tally.add(records.puf, records.eif, progress_of_share(progress, start, share))
            start += share
    if tally is None:
        if iuf is None:
            raise ValueError("an informed intruder needs the links")
        links, n_links = _link_counts(settings, comparison, strata, iuf)
        model = LinkModel(links, (n_links + 0.5) / (n_pairs + 1))
    else:
        sizes = manifest[["n_puf", "n_eif"]].astype(int).min(axis=1)
        most = int(sizes.iloc[occupied].sum()) / n_pairs
        model = maximise(tally.counts(), near, incomplete, most)
    return _estimates(settings, n_pairs, pairs, model, incomplete)


def _tally(
    settings: WeighingSettings,
    comparison: Comparison,
    manifest: pd.DataFrame,
    near: list[bool],
    incomplete: list[bool],
    threads: int,
) -> patterns.Tally:
    """Return an empty count of all pairs by pattern, for variables in an order that is fast in the largest stratum."""
    if patterns.n_patterns(near, incomplete) > patterns.MAX_PATTERNS:
        raise InputError(
            f"`metrics.fellegi_sunter` with `m: blind` counts at most {patterns.MAX_PATTERNS:,} comparison patterns, "
            f"but {len(near)} linking variables have more. Use fewer linking variables, or `m: informed`."
        )
    largest = comparison.pairing(int(manifest["pairs"].to_numpy().argmax()))
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


def _link_counts(
    settings: WeighingSettings, comparison: Comparison, strata: Mapping[str, pa.Table], iuf: pa.Table
) -> tuple[np.ndarray, int]:
    """Count the true links that are compared, by variable and level, int64 (v, 4), and in all."""
    inside = links_inside(iuf, stratum_of_records(strata["puf"]), stratum_of_records(strata["eif"]))
    puf, eif = (iuf[side].to_numpy()[inside] for side in ("puf", "eif"))
    records = fellegi_sunter.compared(comparison.whole(), settings.partial)
    a, b = records.puf[puf], records.eif[eif]
    missing = (a < 0) | (b < 0)
    partial = (np.abs(a - b) == 1) & np.array(records.near, bool)
    places = [LEVELS.index(name) for name in ("missing", "agree", "partial", "differ")]
    level = np.select([missing, a == b, partial], places[:-1], places[-1])
    counts = np.stack([np.bincount(column, minlength=len(LEVELS)) for column in level.T])
    return counts, int(inside.sum())


def maximise(counts: np.ndarray, near: Sequence[bool], incomplete: Sequence[bool], most: float) -> LinkModel:
    """Estimate the links among all pairs by the EM algorithm, with levels that are independent given the status.

    Parameters
    ----------
    counts : int64, one axis per variable
        Pairs by comparison pattern, see :class:`reident.kernels.patterns.Tally`.
    near, incomplete : sequence of bool
        The variables with partial agreement, and those that may be missing.
    most : float
        The largest prior: the pairs if every record of the smaller file of each stratum had a link, as a share.

    Returns
    -------
    LinkModel
        The expected links and the prior.

    Notes
    -----
    Source: METHODS §4.6; Winkler 1988. A round gives each pattern the probability g that its pairs are links, then the
    levels their shares of Σ g (m) and of Σ (1 − g) (u), and the prior the mean of g, at most ``most``.
    """
    pairs, level = _occurring(counts, near, incomplete)
    n_pairs = math.fsum(pairs.tolist())
    m, u, prior = _start(near), _shares(level, pairs, None), most / 2
    links, converged, rounds = np.zeros_like(pairs), False, 0
    while rounds < MAX_ROUNDS and not converged:
        rounds += 1
        links = pairs * _probability(level, m, u, prior)
        before = m, u, prior
        m, u = _shares(level, links, m), _shares(level, pairs - links, u)
        prior = min(float(links.sum()) / n_pairs, most)
        changes = [float(np.abs(now - then).max(initial=0)) for now, then in zip((m, u), before[:2], strict=True)]
        converged = max(changes) <= TOLERANCE and abs(prior - before[2]) <= TOLERANCE * prior
    links = pairs * _probability(level, m, u, prior)
    return LinkModel(_sums(level, links), prior, most, rounds, converged)


def _occurring(counts: np.ndarray, near: Sequence[bool], incomplete: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of each pattern that occurs, and the level of each variable in it, int8 (v, patterns)."""
    pattern = np.flatnonzero(counts)
    states = np.unravel_index(pattern, counts.shape)
    level = np.empty((len(near), len(pattern)), np.int8)
    for at, state in enumerate(states):
        names = ["agree", "differ", *(["partial"] if near[at] else []), *(["missing"] if incomplete[at] else [])]
        level[at] = np.array([LEVELS.index(name) for name in names], np.int8)[state]
    return counts.ravel()[pattern].astype(np.float64), level


def _start(near: Sequence[bool]) -> np.ndarray:
    """Return the probabilities among links with which EM starts; float64 (v, 4)."""
    m = np.ones((len(near), len(LEVELS)))
    for at, partly in enumerate(near):
        share = (1 - START) / (1 + bool(partly))
        m[at, :PRESENT] = START, share if partly else 0.0, share
    return m


def _sums(level: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Add up an amount of each pattern by variable and level; float64 (v, 4)."""
    return np.stack([np.bincount(row, amounts, minlength=len(LEVELS)) for row in level])


def _shares(level: np.ndarray, amounts: np.ndarray, otherwise: np.ndarray | None) -> np.ndarray:
    """Return the share of each level of a variable, 1 for missing; as before where no amount has the variable."""
    sums = _sums(level, amounts)
    present = sums[:, :PRESENT].sum(axis=1, keepdims=True)
    shares = np.ones_like(sums)
    with np.errstate(invalid="ignore"):
        of_present = sums[:, :PRESENT] / present
    shares_before = np.full_like(of_present, 1 / PRESENT) if otherwise is None else otherwise[:, :PRESENT]
    shares[:, :PRESENT] = np.where(present > 0, of_present, shares_before)
    return shares


def _probability(level: np.ndarray, m: np.ndarray, u: np.ndarray, prior: float) -> np.ndarray:
    """Return the probability of each pattern's pairs of being links."""
    with np.errstate(divide="ignore", invalid="ignore"):  # levels that no link has, or that a variable has not
        evidence = np.log(m) - np.log(u)
        total = np.full(level.shape[1], np.log(prior) - np.log1p(-prior))
    for at, row in enumerate(level):
        total += evidence[at][row]
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-total))


def _estimates(
    settings: WeighingSettings, n_pairs: int, pairs: np.ndarray, model: LinkModel, incomplete: list[bool]
) -> Estimates:
    """Turn counts of links and of other pairs into probabilities and weights."""
    rows: list[tuple[str, str, int, float | None, float | None, float]] = []
    for at, variable in enumerate(settings.variables):
        near = variable.name in settings.partial
        places = [0, 1, 2] if near else [0, 2]
        m = _smoothed(model.links[at, places])
        u = _smoothed(pairs[at, places] - model.links[at, places])
        for place, level_m, level_u in zip(places, m, u, strict=True):
            n = int(pairs[at, place])
            rows.append((variable.name, LEVELS[place], n, level_m, level_u, weight(level_m, level_u)))
        if incomplete[at]:
            rows.append((variable.name, LEVELS[PRESENT], int(pairs[at, PRESENT]), None, None, 0.0))
    levels = pd.DataFrame(rows, columns=["variable", "level", "n_pairs", "m", "u", "weight"])
    prior = _rounded(max(model.prior, 0.5 / (n_pairs + 1)))
    least = fellegi_sunter.least_weight(settings.probability, settings.weight, prior)
    line = {
        "n_pairs": n_pairs,
        "prior": prior,
        "largest_prior": _rounded(model.largest_prior),
        "rounds": model.rounds,
        "converged": "yes" if model.converged else "no",
        "least_weight": least / SCALE,
        "tolerance": fellegi_sunter.largest_tolerance(levels, least),
    }
    return Estimates(levels, pd.DataFrame([line]))


def weight(m: float, u: float) -> float:
    """Return log2(m / u), the weight of a level in bits, to 12 decimals."""
    return fellegi_sunter.scaled(math.log2(m) - math.log2(u)) / SCALE


def _smoothed(counts: np.ndarray) -> list[float]:
    """Return the share of each count, with half a pair added to each: none is 0 or 1 (METHODS §4.6)."""
    total = math.fsum(counts.tolist()) + len(counts) / 2
    return [_rounded((max(float(count), 0.0) + 0.5) / total) for count in counts]


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
