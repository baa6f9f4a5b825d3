"""Whether a variable goes with the other variables alike in both files, as the same column of both does (METHODS §1.1).

A column that is permuted, shifted or another one agrees no better than chance, and so does what changes from year to
year. The latter goes with other variables in both files alike: what is fitted in one predicts it in the other.
"""

from __future__ import annotations

import numpy as np

from reident.plausibility.records import Records, Values

MAX_CODES = 8
"""Codes of a categorical variable that are looked at: the most frequent ones of the PUF."""

MIN_FIT, MAX_OF_FIT, ERRORS = 0.2, 0.3, 3.0
"""The smallest correlation of a variable with what the others predict in one file, the largest share of it in the other
file where the columns are not the same, and by how many standard errors it is smaller there."""


def is_alike(records: Records, name: str) -> bool | None:
    """Return whether what predicts a variable in one file does in the other; None if the others do not predict it."""
    others = [values for other, values in records.variables.items() if other != name]
    values, files = records.variables[name], {}
    for side in ("puf", "eif"):
        rows = records.queries[side]
        rows = rows[values.codes[side][rows] >= 0]
        files[side] = _columns(others, side, rows), _columns([values], side, rows)
    told = [_predicts(*files[side], *files[other]) for side, other in (("puf", "eif"), ("eif", "puf"))]
    return None if set(told) == {None} else False not in told


def _columns(variables: list[Values], side: str, rows: np.ndarray) -> np.ndarray:
    """Return the places of numbers and whether records have each frequent code, a half where missing; (n, k)."""
    columns = [np.ones(len(rows))]
    for values in variables:
        if values.places is not None:
            columns.append(np.nan_to_num(values.places[side][rows].astype(np.float64), nan=0.5))
            continue
        counts = np.bincount(values.codes["puf"] + 1)[1:]
        codes = values.codes[side][rows]
        frequent = np.argsort(-counts, kind="stable")[:MAX_CODES]
        columns += [(codes == code).astype(np.float64) for code in frequent.tolist()]
    return np.column_stack(columns)


def _predicts(design: np.ndarray, target: np.ndarray, others: np.ndarray, their_target: np.ndarray) -> bool | None:
    """Return whether what predicts a variable in its own file does in the other, too; None if nothing does."""
    n = min(len(design), len(others))
    if n <= 2 * design.shape[1]:
        return None
    fit = np.linalg.lstsq(design, target[:, 1:], rcond=1e-9)[0]
    own, there = (_correlation(x @ fit, y[:, 1:]) for x, y in ((design, target), (others, their_target)))
    by_chance = np.sqrt(design.shape[1] / len(design))  # of a fit, as many columns bring it about
    if own <= max(MIN_FIT, 2 * by_chance):
        return None
    return there + ERRORS / np.sqrt(n) >= own or there >= MAX_OF_FIT * own


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return the correlation of two tables of columns, each taken from its mean; 0 without a spread."""
    first, second = first - first.mean(0), second - second.mean(0)
    size = np.sqrt((first**2).sum() * (second**2).sum())
    return float((first * second).sum() / size) if size > 1e-9 else 0.0
