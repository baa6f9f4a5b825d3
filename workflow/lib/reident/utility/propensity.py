"""pMSE: how well a model tells released records from those before protection (METHODS §13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from reident.errors import InputError
from reident.kernels.logistic import Design, Sums, sums
from reident.utility.files import Both

MAX_LEVELS = 20
"""Terms of a categorical variable: beyond its most frequent categories, all others share a term."""

MAX_TERMS = 2000
PENALTY = 1e-6
MAX_ROUNDS = 100
DECREMENT = 1e-9
"""The expected gain of a Newton step, as a log-likelihood, below which the step is the last one."""

NOISE = 1e-15
"""A pMSE up to this is that of rounding, in files that the model cannot tell apart."""

SMALLEST_EIGENVALUE = 1e-9
"""Of the scaled Gram matrix, as a share of the largest one: smaller ones are those of dependent columns."""


class Fit(NamedTuple):
    """A propensity score mean squared error.

    Attributes
    ----------
    expected : float
        What it would be on average were the two files drawn from the same distribution.
    n_terms : int
        Parameters that the data determine, the intercept included.
    """

    pmse: float
    expected: float
    n_terms: int


class _Columns(NamedTuple):
    """The columns of a variable in the rows of both files, the original ones first: numbers, and indicators.

    ``indicator`` is the number of the column that is 1, counted from the first indicator, or -1; None without any.
    """

    numbers: np.ndarray | None
    indicator: np.ndarray | None
    width: int


def fit(variables: Sequence[Both], interactions: int) -> Fit:
    """Fit a logistic regression that tells released records from original ones, and return its pMSE.

    Newton's method on the log-likelihood less ``PENALTY``/2 times the sum of squared coefficients.

    Parameters
    ----------
    variables : sequence of Both
        Of at least one record.
    interactions : {1, 2}
        The order of the model.

    Raises
    ------
    InputError
        If the model has more than ``MAX_TERMS`` terms.
    """
    n = len(variables[0].original)
    columns = [_numeric(both) if both.numeric else _categorical(both) for both in variables]
    model = _design([block for block in columns if block.width], interactions, 2 * n)
    coefficients = np.zeros(model.n_columns)
    at = sums(model, coefficients)
    terms = _rank(at.hessian)
    for _ in range(MAX_ROUNDS):
        slopes, penalty = _penalty(coefficients)
        gradient = at.gradient + slopes
        step = np.linalg.solve(at.hessian + penalty, gradient)
        coefficients, at = _descend(model, coefficients, step, at)
        if float(gradient @ step) < DECREMENT:
            break
    pmse = at.squares / (2 * n)
    return Fit(pmse if pmse > NOISE else 0.0, (terms - 1) / (16 * n), terms)


def _penalty(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient and the Hessian of the penalty, which leaves out the intercept."""
    strength = np.full(len(coefficients), PENALTY)
    strength[0] = 0
    return strength * coefficients, np.diag(strength)


def _loss(at: Sums, coefficients: np.ndarray) -> float:
    return at.loss + PENALTY / 2 * float(np.square(coefficients[1:]).sum())


def _descend(model: Design, start: np.ndarray, step: np.ndarray, at: Sums) -> tuple[np.ndarray, Sums]:
    """Return the end of a Newton step, which is halved while the loss rises by more than rounding."""
    before = _loss(at, start)
    for halving in range(30):
        place = start - step / 2**halving
        new = sums(model, place)
        if _loss(new, place) <= before + 1e-9 * max(1.0, before):
            return place, new
    return start, at


def _design(columns: Sequence[_Columns], interactions: int, n_rows: int) -> Design:
    """Return the rows of the regression, which has the terms of variables that vary."""
    width = np.array([block.width for block in columns], np.int64)
    start = 1 + np.cumsum(width) - width
    n_columns = 1 + int(width.sum())
    products = np.full((len(columns), len(columns)), -1, np.int64)
    if interactions > 1:
        for one, other in combinations(range(len(columns)), 2):
            products[one, other] = n_columns
            n_columns += int(width[one] * width[other])
    if n_columns > MAX_TERMS:
        raise InputError(
            f"`utility.interactions` must not give the propensity model more than {MAX_TERMS:,} terms (it gives "
            f"{n_columns:,}). Set it to 1, or recode variables that have many codes."
        )
    numeric = [at for at, block in enumerate(columns) if block.numbers is not None]
    coded = [at for at, block in enumerate(columns) if block.indicator is not None]
    numbers, codes = np.empty((n_rows, len(numeric))), np.empty((n_rows, len(coded)), np.int32)
    for place, at in enumerate(numeric):
        numbers[:, place] = columns[at].numbers
    for place, at in enumerate(coded):
        indicator, first = columns[at].indicator, start[at] + (columns[at].numbers is not None)
        if indicator is not None:
            codes[:, place] = np.where(indicator >= 0, first + indicator, -1)
    number_variable, code_variable = np.array(numeric, np.int64), np.array(coded, np.int64)
    return Design(
        numbers, start[number_variable], number_variable, codes, code_variable, start, width, products, n_columns
    )  # fmt: skip


def _rank(gram: np.ndarray) -> int:
    """Return how many columns of a design the data tell apart."""
    scale = np.sqrt(np.diag(gram))
    kept = scale > 0
    scaled = gram[np.ix_(kept, kept)] / np.outer(scale[kept], scale[kept])
    eigenvalues = np.linalg.eigvalsh(scaled)
    return int((eigenvalues > SMALLEST_EIGENVALUE * eigenvalues[-1]).sum())


def _numeric(both: Both) -> _Columns:
    """Return a variable in units of its standard deviation, with 0 and an indicator where it is missing."""
    values = np.concatenate(both.sides)
    missing = np.isnan(values)
    data = values[~missing]
    numbers, gaps = None, None
    if len(data) and data.min() < data.max():
        mean = math.fsum(data) / len(data)
        spread = math.sqrt(math.fsum(np.square(data - mean)) / len(data))
        numbers = np.where(missing, 0.0, (values - mean) / spread)
    if missing.any() and len(data):
        gaps = np.where(missing, 0, -1)
    return _Columns(numbers, gaps, (numbers is not None) + (gaps is not None))


def _categorical(both: Both) -> _Columns:
    """Return an indicator of each category but the most frequent one; a missing value is a category."""
    codes = np.concatenate(both.sides)
    counts = np.bincount(codes, minlength=len(both.labels))
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    term = np.full(len(counts), MAX_LEVELS - 1)
    for place, code in enumerate(order[:MAX_LEVELS]):
        term[code] = place - 1
    width = min(len(order) - 1, MAX_LEVELS)
    return _Columns(None, term[codes] if width else None, width)
