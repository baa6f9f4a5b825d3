"""Rates: suspected, confirmed and conditional, with interval, reach and baseline (METHODS §6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage import batches, intervals
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


def share(part: float, whole: int) -> float | None:
    """Return part / whole, or None where the whole is 0."""
    return part / whole if whole else None


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
        By metric, the counts at every rank limit.
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
    whole = {"n_puf": strata["puf"].num_rows, "n_eif": strata["eif"].num_rows, "n_links": iuf.num_rows}
    sizes = [whole, *manifest[list(whole)].astype(int).to_dict("records")]
    compared = manifest["n_puf"].where(manifest["n_eif"] > 0, 0).astype(int)
    rates = []
    for metric, source in pairs.items():
        tolerance = _tolerance(part, metric, prepared, model)
        records = _by_record(source, truth, manifest)
        if cluster is not None:
            records["cluster"] = cluster[records.index]
        for line, (stratum, size) in enumerate(
            zip([WHOLE, *manifest["stratum"]], sizes, strict=True), start=-1
        ):
            chosen, linked_records, n_compared = records, truth.any, int(compared.sum())
            findable = truth.inside > 0
            if stratum != WHOLE:
                n_compared = int(compared[line])
                chosen, linked_records = records[records["stratum"] == line], truth.any[truth.stratum == line]
                findable = findable[truth.stratum == line]
            counts = {
                **size,
                "n_ambiguous": _ambiguous(limits[metric], stratum, part.max_pairs),
                "n_linked": int(linked_records.sum()),
                "n_compared": n_compared,
                "tolerance": tolerance,
                "n_findable": int(findable.sum()),
            }
            rates.append({"metric": metric, "stratum": stratum, **counts, **_rates(part, chosen, counts)})
    return pd.DataFrame(rates, columns=COLUMNS)


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
    cases = np.stack([n_eif, truth.inside[record], lines["pairs"]], axis=1)
    distinct, case = np.unique(cases.reshape(-1, 3), axis=0, return_inverse=True)
    chance = np.array([hit_by_chance(*map(int, row)) for row in distinct], float)
    return lines.assign(linked=truth.any[record], chance=chance[case.reshape(-1)])


def _count_pairs(source: Source, n_puf: int) -> dict[str, np.ndarray]:
    """Count the pairs, the confirmed pairs, and both of the best rank, of each PUF record; int64 (n_puf,)."""
    names = ("pairs", "confirmed", "best", "best_confirmed")
    counts = {name: np.zeros(n_puf, np.int64) for name in names}
    best = np.full(n_puf, np.nan)
    for batch in batches.split(source):
        puf, confirmed = batch["puf"].to_numpy(), batch["confirmed"].to_numpy()
        level = batch["score" if "score" in batch.column_names else "order"].to_numpy()
        record, first = np.unique(puf, return_index=True)  # the pairs of a record are sorted best first
        best[record] = np.where(np.isnan(best[record]), level[first], best[record])
        top = level == best[puf]
        for name, rows in zip(names, (slice(None), confirmed, top, top & confirmed), strict=True):
            counts[name] += np.bincount(puf[rows], minlength=n_puf)
    return counts


def _rates(part: Rating, records: pd.DataFrame, counts: dict[str, int]) -> dict[str, float | int | None]:
    suspected, confirmed = len(records), int((records["confirmed"] > 0).sum())
    n_pairs, n_confirmed_pairs = int(records["pairs"].sum()), int(records["confirmed"].sum())
    cluster = records["cluster"].to_numpy() if "cluster" in records else None
    (low, high), bound = intervals.of_records(records["confirmed"].to_numpy() > 0, cluster, part.rates)
    return {
        "n_pairs": n_pairs,
        "n_suspected": suspected,
        "n_confirmed": confirmed,
        "n_confirmed_pairs": n_confirmed_pairs,
        "suspected_rate": share(suspected, counts["n_puf"]),
        "confirmed_rate": share(confirmed, counts["n_puf"]),
        "conditional_rate": share(confirmed, suspected),
        "conditional_low": low,
        "conditional_high": high,
        "pair_precision": share(n_confirmed_pairs, n_pairs),
        "reach": share(confirmed, counts["n_linked"]),
        "baseline_rate": share(math.fsum(records["chance"]), suspected),
        **_claims(records),
        "passing_rate": share(suspected + counts["n_ambiguous"], counts["n_compared"]),
        "conditional_bound": bound,
    }


def _claims(records: pd.DataFrame) -> dict[str, float | int | None]:
    """Return how often suspected records would be claimed rightly: a claim names one of the candidates (METHODS §6)."""
    single = records[records["pairs"] == 1]
    n_single, n_single_confirmed = len(single), int(single["confirmed"].sum())
    correct, best_correct = (
        expected_correct(np.bincount(records[candidates], weights=records[confirmed]))
        for candidates, confirmed in (("pairs", "confirmed"), ("best", "best_confirmed"))
    )
    return {
        "expected_correct": correct,
        "expected_correct_rate": share(correct, len(records)),
        "best_rank_correct": best_correct,
        "best_rank_correct_rate": share(best_correct, len(records)),
        "n_single": n_single,
        "n_single_confirmed": n_single_confirmed,
        "single_rate": share(n_single_confirmed, n_single),
        "n_false_outside": int((~records["linked"]).sum()),
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


def _ambiguous(limits: pd.DataFrame, stratum: str, max_pairs: int) -> int:
    """Return the number of records whose best score is shared by too many pairs; 0 for a metric without ranks."""
    line = limits[(limits["stratum"] == stratum) & (limits["max_pairs"] == max_pairs)]
    return int(line["n_ambiguous"].iloc[0]) if len(line) else 0
