"""Weights of evidence: how likely the comparison levels are among links and among other pairs (METHODS §4.6).

Counts of pairs are exact: of all pairs inside the strata, without a sample and without blocking. Where a pair is judged
by its pattern alone, the estimates depend on these counts alone, and sums over patterns are in the order of the
patterns; otherwise sums over pairs are in the order of the values. Neither depends on an order of records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.intake.grouping import MEMBER_LINKS, N_MEMBERS
from reident.kernels import evidence, patterns
from reident.kernels.compared import Compared, compare, of_rows
from reident.kernels.differences import Differences
from reident.kernels.evidence import Evidence
from reident.kernels.unit_evidence import expected, odds_of
from reident.linkage.batches import values_of
from reident.linkage.intervals import ends
from reident.linkage.metrics import candidates, fellegi_sunter
from reident.linkage.metrics.contract import Estimates, Progress, progress_of_share
from reident.linkage.metrics.fellegi_sunter import candidate_weight
from reident.linkage.metrics.levels import (
    ABSENT,
    LEVELS,
    MISSING,
    Levels,
    Rules,
    intervals_of,
    levels_of,
    of_categories,
    placed,
    starts_of,
    whole_values,
)
from reident.linkage.pair_links import HELD, Expectation, PairModel, Probabilities, shares_of
from reident.linkage.pairing import Comparison, Pairing
from reident.linkage.pattern_links import LinkModel, maximise
from reident.linkage.settings import WeighingSettings
from reident.linkage.strata import links_inside, stratum_of_records
from reident.linkage.unit_pairing import UnitComparison, UnitPairing
from reident.sections.exact import SCALE

DIGITS = 12
"""Significant digits of probabilities, which are then independent of the processor."""

MAX_PAIRS, FIRST_RECORDS, RECORDS = 2 * 10**7, 2_500, 10_000
"""Up to this number of pairs EM goes over all of them; above, over those of so many PUF records, at first of fewer."""

LEVEL = 0.998
"""The level of the interval whose upper end is the bound on what candidates leave out: 99.9 % on this side."""

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
    if N_MEMBERS in files["puf"].column_names:
        return _of_units(settings, files, strata, manifest, iuf, threads, progress)
    comparison = Comparison(settings.variables, files, strata, len(manifest))
    sizes = manifest[["n_puf", "n_eif", "pairs"]].reset_index(drop=True).astype(int)
    occupied = sizes[sizes["pairs"] > 0]
    most = int(occupied[["n_puf", "n_eif"]].min(axis=1).sum())
    known = _known_links(settings, strata, iuf)
    incomplete = [
        any(table[variable.name].null_count > 0 for table in files.values()) for variable in settings.variables
    ]
    if settings.differences or settings.competition or settings.frequency:
        found = _by_pair(settings, comparison, occupied, known, most, threads, progress)
    else:
        found = _by_pattern(settings, comparison, occupied, known, most, incomplete, threads, progress)
    return _estimates(settings, int(occupied["pairs"].sum()), *found, incomplete)


class _MemberRows:
    """The members of the units of some strata as records, as the estimation takes a comparison of records."""

    def __init__(self, pairing: Pairing, lines: np.ndarray) -> None:
        self._pairing, self._lines = pairing, lines

    def pairings(self, _: np.ndarray) -> Pairing:
        """Return the members of all of the strata."""
        return self._pairing

    def whole(self) -> Pairing:
        """Return the same."""
        return self._pairing

    def pairing(self, line: int) -> Pairing:
        """Return the members of one stratum."""
        at, (puf, eif) = int(np.searchsorted(self._lines, line)), starts_of(self._pairing)
        rows = slice(puf[at], puf[at + 1]), slice(eif[at], eif[at + 1])
        sides = self._pairing.puf.take(rows[0]), self._pairing.eif.take(rows[1])
        return self._pairing._replace(puf=sides[0], eif=sides[1], starts=None)


def _of_units(
    settings: WeighingSettings,
    files: Mapping[str, pa.Table],
    strata: Mapping[str, pa.Table],
    manifest: pd.DataFrame,
    iuf: pa.Table | None,
    threads: int,
    progress: Progress | None,
) -> Estimates:
    """Estimate m and u from the members as records, and the share of links among the pairs of units.

    Raises
    ------
    InputError
        If there are more pairs of units than are weighed, or an informed intruder has no links of members.
    """
    occupied = manifest[["n_puf", "n_eif", "pairs"]].reset_index(drop=True).astype(int)
    occupied = occupied[occupied["pairs"] > 0]
    lines, n_pairs = occupied.index.to_numpy(), int(occupied["pairs"].sum())
    if n_pairs > candidates.MAX_PAIRS:
        raise InputError(
            f"`metrics.fellegi_sunter` compares at most {candidates.MAX_PAIRS:,} pairs of units, but the strata have "
            f"{n_pairs:,}. Use finer strata, or leave it out."
        )
    units = UnitComparison(settings.variables, files, strata, len(manifest), "study")
    puf_rows = [units.rows("puf", line) for line in lines.tolist()]
    pairing = units.pairing(lines, puf_rows, whole=True)
    rows = pairing.rows()
    sizes = np.column_stack([np.diff(starts) for starts in starts_of(rows)])
    of_rows = pd.DataFrame({"n_puf": sizes[:, 0], "n_eif": sizes[:, 1], "pairs": sizes.prod(axis=1)}, index=lines)
    incomplete = [
        any(
            table[variable.name].null_count > 0 or values_of(table[variable.name]).null_count > 0
            for table in files.values()
        )
        for variable in settings.variables
    ]
    most_rows, most = (int(table[["n_puf", "n_eif"]].min(axis=1).sum()) for table in (of_rows, occupied))
    known = _known_members(
        settings, iuf, strata, pairing, [units.rows("eif", line) for line in lines.tolist()], puf_rows
    )
    of_pairs = settings.differences or settings.competition or settings.frequency
    comparison: Any = _MemberRows(rows, lines)
    if of_pairs:
        found = _by_pair(settings, comparison, of_rows, known, most_rows, threads, progress)
    else:
        found = _by_pattern(settings, comparison, of_rows, known, most_rows, incomplete, threads, progress)
    made = _estimates(settings, int(of_rows["pairs"].sum()), *found, incomplete)
    model = found[2]
    evidence = fellegi_sunter.unit_evidence(pairing, made.levels, frequency=settings.frequency, threads=threads)
    if settings.informed and iuf is not None:
        links = int(links_inside(iuf, *(stratum_of_records(strata[side]) for side in ("puf", "eif"))).sum())
        model = model._replace(prior=(links + 0.5) / (n_pairs + 1))
    else:
        weights = [evidence.stratum(s) for s in range(evidence.n_strata)]

        def expect(found: Probabilities, *, by_level: bool = True) -> tuple[np.ndarray, float]:  # noqa: ARG001 - as above
            odds = (odds_of(one, SCALE, found.prior_odds) for one in weights)
            return np.empty(0), math.fsum(expected(one, competition=settings.competition) for one in odds)

        pair_model = PairModel(found[0], found[1], n_pairs, most)
        held = most * (HELD if math.isnan(model.held) else model.held / most_rows)
        number, _, rounds, converged = pair_model.number_of_links(
            expect, Probabilities(np.empty(0), np.empty(0), 0.0), held
        )
        model = model._replace(
            prior=(number + 0.5) / (n_pairs + 1),
            largest_prior=(most + 0.5) / (n_pairs + 1),
            held=held,
            rounds=model.rounds + rounds,
            converged=model.converged and converged,
        )
    return made._replace(model=_model_line(settings, n_pairs, made.levels, model))


def _known_members(
    settings: WeighingSettings,
    iuf: pa.Table | None,
    strata: Mapping[str, pa.Table],
    pairing: UnitPairing,
    eif_rows: Sequence[np.ndarray],
    puf_rows: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the rows of the linked members of both files that are compared; None for an intruder who knows none."""
    if not settings.informed or iuf is None:
        return None
    if not set(MEMBER_LINKS) <= set(iuf.column_names):
        raise InputError(
            "`metrics.fellegi_sunter` with `m: informed` and `units` needs links between rows. Name the keys of rows "
            "in `files`, or use `m: blind`."
        )
    inside = links_inside(iuf, *(stratum_of_records(strata[side]) for side in ("puf", "eif")))
    links, known = iuf.filter(pa.array(inside)), []
    n_members = pc.list_value_length(links[MEMBER_LINKS[0]]).to_numpy()
    for side, members, units, rows in (
        ("puf", MEMBER_LINKS[0], pairing.puf, puf_rows),
        ("eif", MEMBER_LINKS[1], pairing.eif, eif_rows),
    ):
        place = np.full(len(strata[side]), -1)
        joined = np.concatenate(rows)
        place[joined] = np.arange(len(joined))
        unit = place[np.repeat(links[side].to_numpy(), n_members)]
        known.append(units.start[unit] + pc.list_flatten(links[members]).to_numpy())
    return known[0], known[1]


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
        left_out = 0.0 if n_pairs <= candidates.MAX_PAIRS else math.nan
        return levels, counts, _informed(comparison, levels, known, n_pairs)._replace(left_out=left_out)
    files, model = compare(*values, starts), PairModel(levels, counts, n_pairs, most)
    start = model.probabilities(model.start)
    weights, least = np.rint(np.log2(start.m / start.u) * SCALE).astype(np.int64), candidate_weight(start.prior_odds)

    def list_pairs(part: Compared) -> evidence.Listed:
        if n_pairs <= candidates.MAX_PAIRS:
            return evidence.EVERY
        return candidates.candidates(part, levels, weights, least, threads=threads).listed

    def weigh(found: Probabilities, part: Compared, listed: evidence.Listed) -> Evidence:
        shares = found.u if settings.frequency else None
        how: dict[str, Any] = {"competition": settings.competition, "shares": shares, "threads": threads}
        return Evidence(part, intervals_of(levels), found.m / found.u, found.prior_odds, listed=listed, **how)

    def expecting(n: int) -> Expectation:
        """Return what is expected of all records, from so many of them or, of few pairs, from all."""
        part, share = _sample(files, n) if n_pairs > MAX_PAIRS else (files, 1.0)
        listed = list_pairs(part)

        def expect(found: Probabilities, *, by_level: bool = True) -> tuple[np.ndarray, float]:
            links, total = weigh(found, part, listed).expected(by_level=by_level)
            return links / share, total / share

        return expect

    links = model.maximise(expecting(FIRST_RECORDS), expecting(RECORDS), progress)
    if n_pairs > candidates.MAX_PAIRS:
        u = shares_of(levels, np.maximum(counts - links.links, 0) + 0.5)
        found = partial(weigh, Probabilities(links.m, u, links.prior))
        links = links._replace(left_out=_left_out(files, found, list_pairs) if settings.competition else math.nan)
    return levels, counts, links


def _sample(files: Compared, n: int) -> tuple[Compared, float]:
    """Return n PUF records, evenly spaced in the order of their values, and their share of all; all if they are few."""
    up_to = np.cumsum(files.puf.times).astype(np.int64)
    total = int(up_to[-1])
    if total <= n:
        return files, 1.0
    places = (2 * np.arange(n) + 1) * total // (2 * n)
    return of_rows(files, np.searchsorted(up_to, places, side="right")), n / total


def _left_out(
    files: Compared, weigh: Callable[..., Evidence], list_pairs: Callable[[Compared], evidence.Listed]
) -> float:
    """Return a bound on the links that are expected among the pairs that are no candidates, with competition.

    Of a PUF record they are at most the odds of these pairs, over one and the odds of all its pairs. All records are
    weighed, or of many a sample; then the upper limit for their mean counts.
    """
    times, sizes = files.puf.times, np.diff(files.eif.starts)[files.stratum]
    n, rows = times.sum(), np.flatnonzero(sizes)
    size = int(candidates.SAMPLED * n / (times @ sizes))
    is_sample = size < len(rows)
    if is_sample:
        rows = np.sort(np.random.default_rng(0).choice(len(times), size, p=times / n))
    part = of_rows(files, rows)
    inside, total = (weigh(part, listed).rows.totals for listed in (list_pairs(part), evidence.EVERY))
    left = np.maximum(total - inside, 0) / (1 + np.maximum(total, inside))
    if not is_sample:
        return math.fsum(left * times[rows])
    return float(n * ends(np.array([math.fsum(left)]), np.array([size]), level=LEVEL)[1][0])


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
    return LinkModel(links, shares_of(levels, links + 0.5), (len(known[0]) + 0.5) / (n_pairs + 1))


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
        records = placed(comparison.pairing(stratum), settings.partial)
        pairs += _level_counts(*records, near)
        if tally is not None:
            tally.add(*records, progress_of_share(progress, start, n / n_pairs))
            start += n / n_pairs
    counts = _of_levels(levels, pairs)
    if tally is None:
        return levels, counts, _informed(comparison, levels, known, n_pairs)
    model = maximise(tally.counts(), near, incomplete, most / n_pairs)
    links = _of_levels(levels, model.links)
    return levels, counts, model._replace(links=links, m=shares_of(levels, np.maximum(links, 0) + 0.5))


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
    order = patterns.by_agreement(*placed(largest, settings.partial)).tolist()
    return patterns.Tally(near, incomplete, order, threads)


def _level_counts(puf: np.ndarray, eif: np.ndarray, nearby: Sequence[bool]) -> np.ndarray:
    """Count the pairs of a stratum by variable and level; int64 (v, 4)."""
    counts = np.zeros((len(nearby), len(LEVELS)), np.int64)
    for at, near in enumerate(nearby):
        columns = puf[:, at], eif[:, at]
        present = [column[column >= 0].astype(np.int64) for column in columns]
        width = max((int(column.max(initial=-1)) for column in present), default=-1) + 2
        ours, theirs = (np.bincount(column, minlength=width) for column in present)
        agree = int(ours @ theirs)
        partly = int(ours[1:] @ theirs[:-1] + ours[:-1] @ theirs[1:]) if near else 0
        both, all_pairs = len(present[0]) * len(present[1]), len(columns[0]) * len(columns[1])
        counts[at] = agree, partly, both - agree - partly, all_pairs - both
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
    u = shares_of(levels, np.maximum(counts - model.links, 0) + 0.5)
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
    return Estimates(table, _model_line(settings, n_pairs, table, model))


def _model_line(settings: WeighingSettings, n_pairs: int, table: pd.DataFrame, model: LinkModel) -> pd.DataFrame:
    """Return the line of the model of links among some pairs, with the weights of a table of levels."""
    prior = _rounded(max(model.prior, 0.5 / (n_pairs + 1)))
    least = fellegi_sunter.least_weight(settings.probability, settings.weight, prior)
    line = {
        "n_pairs": n_pairs,
        "prior": prior,
        "largest_prior": _rounded(model.largest_prior),
        "left_out": model.left_out,
        "held_links": model.held,
        "rounds": model.rounds,
        "converged": "yes" if model.converged else "no",
        "least_weight": least / SCALE,
        "tolerance": fellegi_sunter.largest_tolerance(table, least),
    }
    return pd.DataFrame([line])


def without(estimates: Estimates, name: str) -> Estimates:
    """Return the estimates for pairs of which a variable is left out: m and u of the others, and λ, stay."""
    levels = estimates.levels[estimates.levels["variable"] != name]
    least = fellegi_sunter.scaled(estimates.model["least_weight"].iloc[0])
    model = estimates.model.assign(tolerance=fellegi_sunter.largest_tolerance(levels, least))
    return Estimates(levels, model)


def weight(m: float, u: float) -> float:
    """Return log2(m / u), the weight of a level in bits, to 12 decimals."""
    return fellegi_sunter.scaled(math.log2(m) - math.log2(u)) / SCALE


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
