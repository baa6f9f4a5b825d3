"""DIS-SUDA: the risk of the file, shared among its sample uniques by their SUDA scores (METHODS §7).

There are two definitions, never mixed. `elliot-manning` (Elliot and Manning 2003) shares T = pr(cm|um)·U in
proportion to the logarithms of the scores. `user-guide` is what sdcMicro prints.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from reident.filerisk import wildcards
from reident.filerisk.uniques import cell_numbers
from reident.language.messages import Fields

Definition = Literal["elliot-manning", "user-guide"]
DEFINITIONS: tuple[Definition, ...] = ("elliot-manning", "user-guide")
INVERTED_ABOVE = 28
"""Key variables from which Q of `user-guide` is negative."""
_LARGE = 300.0
"""Logarithms from which powers of scores are taken relative to the least one."""
CLASSES = 10
"""Classes of values between 0 and 1, and groups of about equally many records."""
DIGITS = 12
"""Decimals of values: processors differ in the last bits of a logarithm."""


class Hazard(NamedTuple):
    """A cause of doubtful values: a key of ``hazards`` in ``messages.yaml``, and its fields."""

    code: str
    fields: Fields


class DisSuda(NamedTuple):
    """Risk of each record by one definition, with its hazards.

    Attributes
    ----------
    dis : float
        pr(cm|um).
    risk : float64 (n,)
        In [0, 1], to 12 decimals; 0 for records that are not sample uniques of the whole key.
    n_unique, n_in_pairs : int
        U and P.
    fraction, q : float
        f; Q is NaN for `elliot-manning`.
    hazards : tuple of Hazard
        What makes the values doubtful.
    """

    dis: float
    risk: np.ndarray
    n_unique: int
    n_in_pairs: int
    fraction: float
    q: float
    hazards: tuple[Hazard, ...]


def by_definition(
    score: np.ndarray, sizes: np.ndarray, fraction: float, n_keys: int, probability: float
) -> dict[Definition, DisSuda]:
    """Return DIS-SUDA by each of :data:`DEFINITIONS`; parameters as those of `user_guide`."""
    return {
        "elliot-manning": elliot_manning(score, sizes, fraction, probability),
        "user-guide": user_guide(score, sizes, fraction, n_keys, probability),
    }


def elliot_manning(score: np.ndarray, sizes: np.ndarray, fraction: float, probability: float) -> DisSuda:
    """Share T = pr(cm|um)·U in proportion to ln(score), at most 1 each; any excess goes to records below 1.

    Parameters
    ----------
    score : float64 (n,)
        SUDA scores. A score of 1 or less has the logarithm 0 here: no share before all others have theirs.
    probability : float
        pr(cm|um).

    Returns
    -------
    DisSuda
        The values add up to T. NaN for no record: without a sample unique all are 0.

    Notes
    -----
    Handing on the excess in the same proportions, again and again, ends at min(1, λ·ln score); λ is computed
    directly. If all that is left have the logarithm 0, they share equally.
    """
    unique, n_unique, n_in_pairs = _counts(sizes)
    values = np.zeros(len(sizes))
    hazards = _shared_hazards(score, sizes)
    if n_unique and not np.isfinite(probability):
        hazards.append(Hazard("undefined_complete", {}))
    elif n_unique:
        share = np.log(np.maximum(score[unique], 1.0))
        if not share.any():
            hazards.append(Hazard("equal_shares", {}))
        elif (share == 0).any():
            hazards.append(Hazard("no_share", {"n": int((share == 0).sum())}))
        values[unique] = _filled(share, probability * n_unique)
    return DisSuda(probability, np.round(values, DIGITS), n_unique, n_in_pairs, fraction, float("nan"), tuple(hazards))


def user_guide(score: np.ndarray, sizes: np.ndarray, fraction: float, n_keys: int, probability: float) -> DisSuda:
    """1 / (1 + P·(1 − f) / (f·s^Q·Σ s^−Q)) for a unique with score s, Q = 1 + (8 − ATT)/20, Σ over the uniques.

    Parameters are those of `elliot_manning`, and the number of key variables ATT. The formula is not defined for the
    score 0, of an MSU without weight or of none that was searched: such a unique has 0 and is left out of the sum, as
    in sdcMicro, and is counted among the hazards.
    """
    unique, n_unique, n_in_pairs = _counts(sizes)
    q = 1 + (8 - n_keys) / 20
    hazards = _shared_hazards(score, sizes)
    if n_keys > INVERTED_ABOVE:
        hazards.append(Hazard("inverted", {"n": INVERTED_ABOVE}))
    values = np.zeros(len(sizes))
    scored = unique & (score > 0)
    unscored = n_unique - int(scored.sum())
    if unscored:
        hazards.append(Hazard("no_score", {"n": unscored}))
    if scored.any():
        logarithm = q * np.log(score[scored])
        if np.abs(logarithm).max() > _LARGE:  # the ratios are the same, and no power of a score is too large
            logarithm -= logarithm.min()
        with np.errstate(over="ignore"):
            odds = np.exp(logarithm) * np.exp(-logarithm).sum()
        values[scored] = 1 / (1 + n_in_pairs * (1 - fraction) / (fraction * odds))
    return DisSuda(probability, np.round(values, DIGITS), n_unique, n_in_pairs, fraction, q, tuple(hazards))


def _counts(sizes: np.ndarray) -> tuple[np.ndarray, int, int]:
    unique = sizes == 1
    return unique, int(unique.sum()), int((sizes == 2).sum())


def _shared_hazards(score: np.ndarray, sizes: np.ndarray) -> list[Hazard]:
    """Return the conditions under which values of either definition are unreliable."""
    hazards: list[Hazard] = []
    if (sizes == 1).any() and not (sizes == 2).any():
        hazards.append(Hazard("no_pair", {}))
    if not ((sizes == 1) | (sizes == 2)).any():
        hazards.append(Hazard("undefined", {}))
    outside = int(((sizes == 0) & (score > 0)).sum())
    if outside:
        hazards.append(Hazard("incomplete", {"n": outside}))
    matched = int(((sizes > 1) & (score > 0)).sum())
    if matched:
        hazards.append(Hazard("matched", {"n": matched}))
    return hazards


def _filled(share: np.ndarray, total: float) -> np.ndarray:
    """min(1, λ·share) that adds up to ``total``, which is at most the number of shares."""
    order = np.argsort(-share, kind="stable")
    ordered = share[order]
    remainder = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)
    positive = int((ordered > 0).sum())
    values = np.zeros(len(share))
    if total >= positive:  # all with a share are at 1; the others take what is left, equally
        values[order[:positive]] = 1.0
        if positive < len(share):
            values[order[positive:]] = (total - positive) / (len(share) - positive)
        return values
    capped = np.arange(positive)
    factor = (total - capped) / remainder[:positive]
    full = int(np.argmax(factor * ordered[:positive] <= 1.0))
    values[order[:full]] = 1.0
    values[order[full:]] = np.minimum(1.0, factor[full] * ordered[full:])
    return values


def population_reciprocal(codes: np.ndarray, population: np.ndarray, *, wildcard: bool = False) -> np.ndarray:
    """1 / size of each record's cell in the population: its true matching probability without divergence.

    Parameters
    ----------
    codes, population : int32 (n, v), (N, v)
        The same codes in both; -1 for missing.
    wildcard : bool
        Whether a missing value matches every value: then 1 / people of the population who match the record.

    Returns
    -------
    float64 (n,)
        In (0, 1]; NaN for a record that misses a value or whose cell is empty in the population.
    """
    if wildcard:
        sizes = wildcards.matches(codes, population)
    else:
        numbers = cell_numbers(np.concatenate([codes, population]))
        sample_cells, population_cells = numbers[: len(codes)], numbers[len(codes) :]
        counts = np.bincount(population_cells[population_cells >= 0], minlength=int(numbers.max(initial=0)) + 1)
        sizes = np.where(sample_cells >= 0, counts[sample_cells], 0)
    return np.divide(1.0, sizes, out=np.full(len(codes), np.nan), where=sizes > 0)


def match_probability(reciprocal: np.ndarray) -> float:
    """Of some records n / Σ (size of their population cells): pr(cm|um) if each matches uniquely, no divergence.

    A unique match with a population of F equal persons is equally likely to be each of them; among the unique
    matches of n records those of large cells are many, and mostly false. DIS estimates this (Skinner and Elliot
    2002), not the mean of the reciprocals, which is never lower.

    Parameters
    ----------
    reciprocal : float64 (n,)
        As `population_reciprocal` gives it; NaN is left out.

    Returns
    -------
    float
        In (0, 1]; NaN without a record.
    """
    defined = reciprocal[np.isfinite(reciprocal)]
    return float(len(defined) / np.rint(1 / defined).sum()) if len(defined) else float("nan")


def correlation(values: np.ndarray, reciprocal: np.ndarray) -> float:
    """Pearson's, over records with a known reciprocal; NaN with fewer than two or if either does not vary."""
    a, b = _defined(values, reciprocal)
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return round(float(np.corrcoef(a, b)[0, 1]), DIGITS)


def _defined(values: np.ndarray, reciprocal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the risks of the records with a reciprocal."""
    defined = np.isfinite(reciprocal)
    return values[defined], reciprocal[defined]


def calibration(values: np.ndarray, reciprocal: np.ndarray) -> pd.DataFrame:
    """Mean population reciprocal by DIS-SUDA class: 0, then equal classes of (0, 1), then 1.

    Returns
    -------
    DataFrame
        ``above``, ``up_to``, ``n``, ``mean_dis_suda``, ``mean_reciprocal`` and ``match_probability`` (NaN without
        a record); the first row is exactly 0, the last exactly 1. Records without a known reciprocal are left out.
    """
    values, reciprocal = _defined(values, reciprocal)
    edges = np.arange(CLASSES + 1) / CLASSES
    place = np.where(values >= 1, CLASSES + 1, np.searchsorted(edges, values, side="left"))
    ends = {"above": np.concatenate([[0.0], edges[:-1], [1.0]]), "up_to": np.concatenate([[0.0], edges[1:], [1.0]])}
    return pd.DataFrame({**ends, **_group_means(place, CLASSES + 2, values, reciprocal)})


def tenths(values: np.ndarray, reciprocal: np.ndarray) -> pd.DataFrame:
    """The same by groups of about equally many records, those with the lowest values first; equal values together.

    Returns
    -------
    DataFrame
        ``tenth`` (1, 2, …), ``n``, ``mean_dis_suda``, ``mean_reciprocal``, ``match_probability``.
    """
    values, reciprocal = _defined(values, reciprocal)
    below = np.searchsorted(np.sort(values), values, side="left")
    place = below * CLASSES // max(len(values), 1)
    return pd.DataFrame({"tenth": np.arange(1, CLASSES + 1), **_group_means(place, CLASSES, values, reciprocal)})


def _group_means(place: np.ndarray, groups: int, values: np.ndarray, reciprocal: np.ndarray) -> dict[str, np.ndarray]:
    """Return counts, means and pooled probability of records by group."""
    n = np.bincount(place, minlength=groups)
    persons = np.bincount(place, np.rint(1 / reciprocal), groups)
    with np.errstate(invalid="ignore"):  # without a record 0 / 0 is NaN
        return {
            "n": n,
            "mean_dis_suda": np.bincount(place, values, groups) / n,
            "mean_reciprocal": np.bincount(place, reciprocal, groups) / n,
            "match_probability": n / persons,
        }
