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

from reident.intake import keys
from reident.linkage import batches
from reident.linkage.parts import Linkage, Rating
from reident.linkage.ranking import WHOLE
from reident.linkage.strata import members

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
    """The interval of a proportion; with 0 successes its upper end is the bound to state.

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


def _wilson(found: float, n: int, z: float) -> Interval:
    """The ends where the normal test just accepts, z standard errors of their own from what was found."""
    middle, half = found + z * z / (2 * n), z * math.sqrt(found * (1 - found) / n + z * z / (4 * n * n))
    low, high = ((middle + side * half) / (1 + z * z / n) for side in (-1, 1))
    return Interval(0.0 if found == 0 else low, 1.0 if found == 1 else high)


def share(part: int, whole: int) -> float | None:
    """part / whole, or None where the whole is 0."""
    return part / whole if whole else None


def hit_by_chance(n_eif: int, links: int, draws: int) -> float:
    """The probability that `draws` of `n_eif` records, drawn without replacement, meet one of the `links`."""
    if links <= 1:  # almost always; the same value without large numbers
        return draws * links / n_eif
    return float(1 - Fraction(math.comb(n_eif - links, draws), math.comb(n_eif, draws)))


class Linked(NamedTuple):
    """The true links seen from the public use file.

    Attributes
    ----------
    stratum : int64 (n_puf,)
        The manifest line of each PUF record, -1 for none.
    inside : int64 (n_puf,)
        How many of its links lead to an EIF record of its own stratum.
    any : bool (n_puf,)
        Whether it has a link at all.
    """

    stratum: np.ndarray
    inside: np.ndarray
    any: np.ndarray


def linked(linkage: Linkage, puf: pa.Table, eif: pa.Table, iuf: pa.Table, manifest: pd.DataFrame) -> Linked:
    """Count the links of every PUF record (prepared tables)."""
    names = list(linkage.strata)
    at_puf = keys.positions(puf, linkage.keys["puf"], iuf, linkage.keys["puf"])
    at_eif = keys.positions(eif, linkage.keys["eif"], iuf, linkage.keys["eif"])
    own, theirs = members(puf, manifest, names), members(eif, manifest, names)
    same = (own[at_puf] == theirs[at_eif]) & (own[at_puf] >= 0)
    inside = np.bincount(at_puf[same], minlength=puf.num_rows)
    return Linked(own, inside, np.bincount(at_puf, minlength=puf.num_rows) > 0)


def rate(
    part: Rating,
    puf: pa.Table,
    eif: pa.Table,
    iuf: pa.Table,
    manifest: pd.DataFrame,
    confirmed: Mapping[str, Source],
    limits: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """The rates of every metric, for the whole study (``ALL``) and each stratum.

    Parameters
    ----------
    puf, eif, iuf : pyarrow.Table
        The prepared tables.
    confirmed, limits : mapping by metric
        What confirmation made.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`; counts are of distinct PUF records except n_links and n_pairs; rates are
        fractions, missing where undefined. Records in no stratum are in the n_puf of ``ALL`` only.
    """
    truth = linked(part.linkage, puf, eif, iuf, manifest)
    index = keys.Index(puf, part.linkage.keys["puf"])
    lines = []
    for metric, source in confirmed.items():
        records = _by_record(part, source, index, truth, manifest)
        for line, stratum in enumerate([WHOLE, *manifest["stratum"]], start=-1):
            own = records if stratum == WHOLE else records[records["stratum"] == line]
            mine = truth.stratum >= -1 if stratum == WHOLE else truth.stratum == line
            total = stratum == WHOLE
            counts = {
                "n_puf": puf.num_rows if total else int(manifest["n_puf"].iloc[line]),
                "n_eif": eif.num_rows if total else int(manifest["n_eif"].iloc[line]),
                "n_links": iuf.num_rows if total else int(manifest["n_links"].iloc[line]),
                "n_ambiguous": _ambiguous(limits[metric], stratum, part.max_pairs),
                "n_linked": int(truth.any[mine].sum()),
            }
            lines.append({"metric": metric, "stratum": stratum, **counts, **_rates(part, own, counts)})
    return pd.DataFrame(lines, columns=COLUMNS)


def _by_record(
    part: Rating, source: Source, index: keys.Index, truth: Linked, manifest: pd.DataFrame
) -> pd.DataFrame:
    """One line per suspected PUF record: stratum, pairs, confirmed pairs, its chance under random drawing."""
    n_pairs, n_confirmed = (np.zeros(len(truth.stratum), np.int64) for _ in range(2))
    for batch in batches.of(source):
        at = index.positions(batch, part.linkage.keys["puf"])
        np.add.at(n_pairs, at, 1)
        np.add.at(n_confirmed, at, batch["confirmed"].to_numpy())
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
    """Records whose best score is shared by too many pairs; none for a metric without ranks."""
    line = limits[(limits["stratum"] == stratum) & (limits["max_pairs"] == max_pairs)]
    return int(line["n_ambiguous"].iloc[0]) if len(line) else 0
