"""Rates: suspected, confirmed and conditional, with interval, reach and baseline (METHODS §6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import betainccinv, betaincinv, ndtri

from reident.linkage import batches
from reident.linkage.parts import Rating
from reident.linkage.ranking import WHOLE
from reident.linkage.strata import lines, links_inside

if TYPE_CHECKING:
    from reident.linkage.batches import Source

COLUMNS = [
    "metric", "stratum", "n_puf", "n_eif", "n_links", "n_pairs", "n_suspected", "n_confirmed", "n_ambiguous",
    "n_confirmed_pairs", "suspected_rate", "confirmed_rate", "conditional_rate", "conditional_low",
    "conditional_high", "pair_precision", "reach", "baseline_rate",
]  # fmt: skip


class Interval(NamedTuple):
    """A confidence interval of a rate, fractions in [0, 1]; None where the rate is undefined."""

    low: float | None
    high: float | None


def interval(successes: int, trials: int, method: str = "clopper-pearson", level: float = 0.95) -> Interval:
    """Return the confidence interval of a proportion (METHODS §6).

    Parameters
    ----------
    successes, trials : int
    method : {'clopper-pearson', 'wilson'}
    level : float
        The confidence level, a fraction.

    Returns
    -------
    Interval
        With 0 successes its upper end is the bound to report.

    Raises
    ------
    ValueError
        If successes exceed trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError("successes must lie between 0 and trials")
    if trials == 0:
        return Interval(None, None)
    tail, failures = (1 - level) / 2, trials - successes
    if method == "wilson":
        return _wilson(successes / trials, trials, float(-ndtri(tail)))
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betainccinv(successes + 1, failures, tail)) if failures else 1.0
    return Interval(low, high)


def _wilson(p: float, n: int, z: float) -> Interval:
    """Return the two proportions that lie z of their own standard errors from the observed proportion p."""
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + side * half) / (1 + z * z / n) for side in (-1, 1))
    return Interval(0.0 if p == 0 else low, 1.0 if p == 1 else high)


def share(part: int, whole: int) -> float | None:
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
    iuf: pa.Table,
    strata: Mapping[str, pa.Table],
    manifest: pd.DataFrame,
    pairs: Mapping[str, Source],
    limits: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """Compute the rates of every metric, for the whole study (``ALL``) and each stratum.

    Parameters
    ----------
    part : Rating
    iuf : pyarrow.Table
        The prepared links.
    strata : mapping of pyarrow.Table
        The stratum of each record of ``puf`` and ``eif``.
    manifest : pandas.DataFrame
        The strata.
    pairs : mapping of pyarrow.Table or pyarrow.parquet.ParquetFile
        By metric, the suspected pairs by row number.
    limits : mapping of pandas.DataFrame
        By metric, the counts at every rank limit.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`; counts are of distinct PUF records except n_links and n_pairs; rates are
        fractions in [0, 1], missing where undefined. Records in no stratum are in the n_puf of ``ALL`` only.
    """
    truth = linked(iuf, strata)
    whole = {"n_puf": strata["puf"].num_rows, "n_eif": strata["eif"].num_rows, "n_links": iuf.num_rows}
    sizes = [whole, *manifest[list(whole)].astype(int).to_dict("records")]
    rates = []
    for metric, source in pairs.items():
        records = _by_record(source, truth, manifest)
        for line, (stratum, size) in enumerate(
            zip([WHOLE, *manifest["stratum"]], sizes, strict=True), start=-1
        ):
            chosen, linked_records = records, truth.any
            if stratum != WHOLE:
                chosen, linked_records = records[records["stratum"] == line], truth.any[truth.stratum == line]
            counts = {
                **size,
                "n_ambiguous": _ambiguous(limits[metric], stratum, part.max_pairs),
                "n_linked": int(linked_records.sum()),
            }
            rates.append({"metric": metric, "stratum": stratum, **counts, **_rates(part, chosen, counts)})
    return pd.DataFrame(rates, columns=COLUMNS)


def _by_record(source: Source, truth: Linked, manifest: pd.DataFrame) -> pd.DataFrame:
    """Return one line per suspected PUF record: stratum, pairs, confirmed pairs, its chance under random drawing."""
    n_pairs, n_confirmed = (np.zeros(len(truth.stratum), np.int64) for _ in range(2))
    for batch in batches.split(source):
        puf, confirmed = batch["puf"].to_numpy(), batch["confirmed"].to_numpy()
        n_pairs += np.bincount(puf, minlength=len(n_pairs))
        n_confirmed += np.bincount(puf[confirmed], minlength=len(n_pairs))
    record = np.flatnonzero(n_pairs)
    pairs, confirmed = n_pairs[record], n_confirmed[record]
    stratum = truth.stratum[record]
    cases = np.stack([manifest["n_eif"].to_numpy(np.int64)[stratum], truth.inside[record], pairs], axis=1)
    distinct, case = np.unique(cases.reshape(-1, 3), axis=0, return_inverse=True)
    chance = np.array([hit_by_chance(*map(int, row)) for row in distinct], float)
    return pd.DataFrame(
        {"stratum": stratum, "pairs": pairs, "confirmed": confirmed, "chance": chance[case.reshape(-1)]}
    )


def _rates(part: Rating, records: pd.DataFrame, counts: dict[str, int]) -> dict[str, float | int | None]:
    suspected, confirmed = len(records), int((records["confirmed"] > 0).sum())
    n_pairs, n_confirmed_pairs = int(records["pairs"].sum()), int(records["confirmed"].sum())
    low, high = interval(confirmed, suspected, part.rates.interval, part.rates.level)
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
        "baseline_rate": math.fsum(records["chance"]) / suspected if suspected else None,
    }


def _ambiguous(limits: pd.DataFrame, stratum: str, max_pairs: int) -> int:
    """Return the number of records whose best score is shared by too many pairs; 0 for a metric without ranks."""
    line = limits[(limits["stratum"] == stratum) & (limits["max_pairs"] == max_pairs)]
    return int(line["n_ambiguous"].iloc[0]) if len(line) else 0
