"""Rates: suspected, confirmed and conditional, with interval, reach and baseline (METHODS §6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage import batches, intervals, sums
from reident.linkage.confirmation import expected_correct
from reident.linkage.parts import Rating
from reident.linkage.ranking import WHOLE
from reident.linkage.strata import lines, links_inside

if TYPE_CHECKING:
    from reident.linkage.batches import Source

COLUMNS = [
    "metric", "stratum", "n_puf", "n_eif", "n_links", "n_pairs", "n_suspected", "n_confirmed", "n_ambiguous",
    "n_confirmed_pairs", "suspected_rate", "confirmed_rate", "conditional_rate", "conditional_low",
    "conditional_high", "pair_precision", "reach", "baseline_rate", "expected_correct", "expected_correct_rate",
    "best_rank_correct", "best_rank_correct_rate", "n_single", "n_single_confirmed", "single_rate", "n_false_outside",
    "n_compared", "passing_rate", "tolerance", "n_findable", "conditional_bound",
]  # fmt: skip
LIMITS = ["stratum", "max_pairs", "n_ambiguous"]
"""What is read of the counts at every rank limit, which are many with many strata."""


def share(part: float, whole: int) -> float | None:
    """Return part / whole, or None where the whole is 0."""
    return part / whole if whole else None


def shares(parts: np.ndarray, wholes: np.ndarray) -> np.ndarray:
    """Return parts / wholes, NaN where a whole is 0; float64 (n,)."""
    return np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes != 0)


def hit_by_chance(n_eif: int, links: int, draws: int) -> float:
    """Return the probability that `draws` of `n_eif` records, drawn without replacement, include one of the `links`."""
    if links <= 1:  # The usual case: the same value without large numbers.
        return draws * links / n_eif
    return float(1 - Fraction(math.comb(n_eif - links, draws), math.comb(n_eif, draws)))


class Linked(NamedTuple):
    """The true links of each PUF record.

    Attributes
    ----------
    stratum : int32 (n_puf,)
        The manifest line of the record's stratum, -1 for none.
    inside : int64 (n_puf,)
        The number of its links to an EIF record of its own stratum.
    any : bool (n_puf,)
        Whether it has a link at all.
    """

    stratum: np.ndarray
    inside: np.ndarray
    any: np.ndarray


def linked(iuf: pa.Table, strata: Mapping[str, pa.Table]) -> Linked:
    """Count the true links of each PUF record.

    Parameters
    ----------
    iuf : pyarrow.Table
        The prepared links.
    strata : mapping of pyarrow.Table
        The stratum of each record of ``puf`` and ``eif``.
    """
    stratum, record = lines(strata["puf"]), iuf["puf"].to_numpy()
    inside = record[links_inside(iuf, stratum, lines(strata["eif"]))]
    counts = (np.bincount(rows, minlength=len(stratum)) for rows in (inside, record))
    return Linked(stratum, next(counts), next(counts) > 0)


class Lines:
    """The lines of the rates: the whole study first, then each stratum; sums of records' values by line.

    Parameters
    ----------
    stratum : int32 (n,)
        The manifest line of each record's stratum, -1 for none.
    n_strata : int
    """

    def __init__(self, stratum: np.ndarray, n_strata: int) -> None:
        self._n = n_strata
        self._stratum = stratum.astype(np.int64)
        self._order = np.argsort(stratum, kind="stable")
        self._starts = np.searchsorted(stratum[self._order], np.arange(n_strata + 1))

    def rows(self) -> Iterator[np.ndarray]:
        """Yield the positions of the records of each line."""
        yield self._order
        for start, stop in pairwise(self._starts):
            yield self._order[start:stop]

    def count(self, which: np.ndarray) -> np.ndarray:
        """Return how many records of each line are chosen; `which` is bool (n,)."""
        return self.sum(which.astype(np.int64))

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of whole numbers; int64 (1 + n_strata,)."""
        inside = self._stratum >= 0
        by_stratum = np.bincount(self._stratum[inside], values[inside], minlength=self._n)
        return np.append(values.sum(), by_stratum.astype(np.int64))

    def fsum(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of numbers, each rounded once; float64 (1 + n_strata,)."""
        ordered = values[self._order]
        pieces = (
            ordered[start : start + batches.ROWS].tolist() for start in range(0, len(ordered), batches.ROWS)
        )
        return np.append(math.fsum(chain.from_iterable(pieces)), sums.of_segments(ordered, self._starts))

    def expected_correct(self, candidates: np.ndarray, links: np.ndarray) -> np.ndarray:
        """Return :func:`reident.linkage.confirmation.expected_correct` of each line; float64 (1 + n_strata,)."""
        width = int(candidates.max(initial=0)) + 1
        place, cells = pd.factorize(self._stratum * width + candidates)
        totals = np.bincount(place, links, minlength=len(cells))
        of_cells = Lines(cells // width, self._n).fsum(totals / np.maximum(cells % width, 1))
        of_cells[0] = expected_correct(np.bincount(candidates, links))
        return of_cells


def rate(
    part: Rating,
    prepared: Mapping[str, Source],
    iuf: pa.Table,
    strata: Mapping[str, pa.Table],
    manifest: pd.DataFrame,
    pairs: Mapping[str, Source],
    limits: Mapping[str, pd.DataFrame],
    cluster: np.ndarray | None = None,
    model: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compute the rates of every metric, for the whole study (``ALL``) and each stratum.

    Parameters
    ----------
    part : Rating
    prepared : mapping of pyarrow.Table or pyarrow.parquet.ParquetFile
        ``puf`` and ``eif``; read only where a tolerance depends on missing values.
    iuf : pyarrow.Table
        The prepared links.
    strata : mapping of pyarrow.Table
        The stratum of each record of ``puf`` and ``eif``.
    manifest : pandas.DataFrame
        The strata.
    pairs : mapping of pyarrow.Table or pyarrow.parquet.ParquetFile
        By metric, the suspected pairs by row number, those of a PUF record best first.
    limits : mapping of pandas.DataFrame
        By metric, the counts at every rank limit; :data:`LIMITS` at least.
    cluster : int64 (n_puf,), optional
        The number of the cluster of each PUF record, where the study names cluster columns.
    model : pandas.DataFrame, optional
        The model of the metric that weighs, where the study has it: its tolerance follows from the weights.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`; counts are of distinct PUF records except n_links, n_pairs and n_confirmed_pairs; rates
        are fractions in [0, 1], missing where undefined. Records in no stratum are in the n_puf of ``ALL`` only.
    """
    truth = linked(iuf, strata)
    sizes = {"n_puf": strata["puf"].num_rows, "n_eif": strata["eif"].num_rows, "n_links": iuf.num_rows}
    compared = manifest["n_puf"].where(manifest["n_eif"] > 0, 0).to_numpy(np.int64)
    everyone = Lines(truth.stratum, len(manifest))
    counts = {
        **{name: np.append(size, manifest[name].to_numpy(np.int64)) for name, size in sizes.items()},
        "n_linked": everyone.count(truth.any),
        "n_compared": np.append(compared.sum(), compared),
        "n_findable": everyone.count(truth.inside > 0),
    }
    names = [WHOLE, *manifest["stratum"]]
    tables = []
    for metric, source in pairs.items():
        tolerance = _tolerance(part, metric, prepared, model)
        counts["n_ambiguous"] = _ambiguous(limits[metric], names, part.max_pairs)
        found = _rates(part, _by_record(source, truth, manifest), counts, cluster)
        tables.append(found.assign(metric=metric, stratum=names, tolerance=tolerance))
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def _by_record(source: Source, truth: Linked, manifest: pd.DataFrame) -> pd.DataFrame:
    """Return one line per suspected PUF record, by row: stratum, candidates, true links among them, and more.

    ``best`` and ``best_confirmed`` count those of its best rank; ``linked`` is whether it has a true link at all;
    ``chance`` is its chance under random drawing.
    """
    counts = _count_pairs(source, len(truth.stratum))
    record = np.flatnonzero(counts["pairs"])
    lines = pd.DataFrame({name: count[record] for name, count in counts.items()}, index=record)
    lines.insert(0, "stratum", truth.stratum[record])
    n_eif = manifest["n_eif"].to_numpy(np.int64)[lines["stratum"]]
    first, case = _cases(n_eif, truth.inside[record], lines["pairs"].to_numpy())
    cases = zip(n_eif[first], truth.inside[record][first], lines["pairs"].to_numpy()[first], strict=True)
    chance = np.array([hit_by_chance(*map(int, numbers)) for numbers in cases], float)
    return lines.assign(linked=truth.any[record], chance=chance[case])


def _cases(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a position of each combination of numbers below 2^31, and the combination of each position."""
    case = np.zeros(len(columns[0]), np.int64)
    first = case[:1]
    for column in columns:
        case, numbers = pd.factorize(case << 31 | column)
        first = np.empty(len(numbers), np.int64)
        first[case[::-1]] = np.arange(len(case) - 1, -1, -1)
    return first, case


def _count_pairs(source: Source, n_puf: int) -> dict[str, np.ndarray]:
    """Count the pairs, the confirmed pairs, and both of the best rank, of each PUF record; int32 (n_puf,)."""
    names = ("pairs", "confirmed", "best", "best_confirmed")
    counts = {name: np.zeros(n_puf, np.int32) for name in names}
    best = np.full(n_puf, np.nan)
    for batch in batches.split(source):
        puf, confirmed = batch["puf"].to_numpy(), batch["confirmed"].to_numpy()
        level = batch["score" if "score" in batch.column_names else "order"].to_numpy()
        record, first = np.unique(puf, return_index=True)  # the pairs of a record are sorted best first
        best[record] = np.where(np.isnan(best[record]), level[first], best[record])
        top = level == best[puf]
        low, high = (
            (record[0], record[-1] + 1) if len(record) else (0, 0)
        )  # a batch has the pairs of few records
        for name, rows in zip(names, (slice(None), confirmed, top, top & confirmed), strict=True):
            counts[name][low:high] += np.bincount(puf[rows] - low, minlength=high - low).astype(np.int32)
    return counts


def _rates(
    part: Rating, records: pd.DataFrame, counts: Mapping[str, np.ndarray], cluster: np.ndarray | None
) -> pd.DataFrame:
    """Return the counts and rates of a metric, one line for the whole study and one for each stratum."""
    lines = Lines(records["stratum"].to_numpy(), len(counts["n_puf"]) - 1)
    hit = records["confirmed"].to_numpy() > 0
    suspected, confirmed = lines.count(np.ones(len(records), bool)), lines.count(hit)
    n_pairs, n_confirmed_pairs = (lines.sum(records[name].to_numpy()) for name in ("pairs", "confirmed"))
    if part.rates.interval == "clustered" and cluster is not None:
        own = cluster[records.index]
        known = [intervals.of_clusters(hit[rows], own[rows], part.rates.level) for rows in lines.rows()]
    else:  # Small strata have few different counts.
        of_counts = cache(partial(intervals.of_counts, rates=part.rates))
        known = [of_counts(*line) for line in zip(confirmed.tolist(), suspected.tolist(), strict=True)]
    ends = np.array([(*ends, bound) for ends, bound in known], float)
    return pd.DataFrame(
        {
            **counts,
            "n_pairs": n_pairs,
            "n_suspected": suspected,
            "n_confirmed": confirmed,
            "n_confirmed_pairs": n_confirmed_pairs,
            "suspected_rate": shares(suspected, counts["n_puf"]),
            "confirmed_rate": shares(confirmed, counts["n_puf"]),
            "conditional_rate": shares(confirmed, suspected),
            "conditional_low": ends[:, 0],
            "conditional_high": ends[:, 1],
            "pair_precision": shares(n_confirmed_pairs, n_pairs),
            "reach": shares(confirmed, counts["n_linked"]),
            "baseline_rate": shares(lines.fsum(records["chance"].to_numpy()), suspected),
            **_claims(records, lines, suspected),
            "passing_rate": shares(suspected + counts["n_ambiguous"], counts["n_compared"]),
            "conditional_bound": ends[:, 2],
        }
    )


def _claims(records: pd.DataFrame, lines: Lines, suspected: np.ndarray) -> dict[str, np.ndarray]:
    """Return how often suspected records would be claimed rightly: a claim names one of the candidates (METHODS §6)."""
    single = (records["pairs"] == 1).to_numpy()
    n_single, n_single_confirmed = lines.count(single), lines.sum(records["confirmed"].to_numpy() * single)
    correct, best_correct = (
        lines.expected_correct(records[candidates].to_numpy(), records[confirmed].to_numpy())
        for candidates, confirmed in (("pairs", "confirmed"), ("best", "best_confirmed"))
    )
    return {
        "expected_correct": correct,
        "expected_correct_rate": shares(correct, suspected),
        "best_rank_correct": best_correct,
        "best_rank_correct_rate": shares(best_correct, suspected),
        "n_single": n_single,
        "n_single_confirmed": n_single_confirmed,
        "single_rate": shares(n_single_confirmed, n_single),
        "n_false_outside": lines.count(~records["linked"].to_numpy()),
    }


def _tolerance(part: Rating, metric: str, prepared: Mapping[str, Source], model: pd.DataFrame | None) -> int:
    """Return how many linking variables may differ completely in a suspected pair of these files."""
    if metric not in part.tolerances:
        if model is None:
            raise ValueError("the tolerance of this metric follows from its weights")
        return int(model["tolerance"].iloc[0])
    complete, incomplete = part.tolerances[metric]
    if complete == incomplete:
        return complete
    any_missing = any(
        batch[name].null_count
        for source in prepared.values()
        for batch in batches.split(source)
        for name in part.variables
    )
    return incomplete if any_missing else complete


def _ambiguous(limits: pd.DataFrame, names: list[str], max_pairs: int) -> np.ndarray:
    """Return the records whose best score is shared by too many pairs, by line; 0 for a metric without ranks."""
    lines = limits[limits["max_pairs"] == max_pairs].set_index("stratum")["n_ambiguous"]
    return lines.reindex(names, fill_value=0).to_numpy(np.int64)
