"""Logistic regression: the sums over records that Newton's method needs (METHODS §13).

A record has few columns of the design that are not 0: one for each number, and one for each category. Sums run over
these columns alone, record by record in their order, in one thread: they are the same on every machine that computes
alike.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import lean_jit


class Design(NamedTuple):
    """The rows of a logistic regression: first those of outcome 0, then as many of outcome 1.

    Column 0 is the intercept. The columns of a variable follow each other, and with an order of 2 the products of the
    columns of two variables come after those of all variables.
    """

    numbers: np.ndarray  # float64 (rows, m): the values of numeric columns
    number_column: np.ndarray  # int64 (m,): the column of each
    number_variable: np.ndarray  # int64 (m,): its variable
    codes: np.ndarray  # int32 (rows, c): the column that is 1, for each set of indicators; -1 where none is
    code_variable: np.ndarray  # int64 (c,): the variable of each set of indicators
    start: np.ndarray  # int64 (v,): the first column of each variable
    width: np.ndarray  # int64 (v,): how many columns it has
    products: np.ndarray  # int64 (v, v): first column of their products, lower number first; -1 for none
    n_columns: int


class Sums(NamedTuple):
    """The negative log-likelihood, its gradient and Hessian, and the sum of (p − ½)², for a vector of coefficients."""

    loss: float
    gradient: np.ndarray
    hessian: np.ndarray
    squares: float


def sums(design: Design, coefficients: np.ndarray) -> Sums:
    """Return the sums over the rows of a design, for coefficients float64 (n_columns,)."""
    size = design.n_columns
    gradient, hessian, totals = np.zeros(size), np.zeros((size, size)), np.zeros(2)
    slots = 1 + design.numbers.shape[1] + design.codes.shape[1]
    slots += slots * slots // 2
    index, variable, value = np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(slots)
    _add_rows(tuple(design[:-1]), coefficients, index, variable, value, gradient, hessian, totals)
    diagonal = np.diag(np.diag(hessian))
    # The product of two columns is on either side of the diagonal, as their values came.
    return Sums(float(totals[0]), gradient, hessian + hessian.T - diagonal, float(totals[1]))


@lean_jit
def _add_rows(design, coefficients, index, variable, value, gradient, hessian, totals):
    """Add every row to the sums."""
    n_rows = len(design[0])
    for row in range(n_rows):
        filled = _fill(design, row, index, variable, value)
        score = 0.0
        for at in range(filled):
            score += coefficients[index[at]] * value[at]
        outcome = 1.0 if 2 * row >= n_rows else 0.0
        tail = np.exp(-abs(score))
        share = 1 / (1 + tail) if score >= 0 else tail / (1 + tail)
        totals[0] += np.log1p(tail) + max(score, 0.0) - outcome * score
        totals[1] += (share - 0.5) ** 2
        weight = share * (1 - share)
        for at in range(filled):
            one = index[at]
            gradient[one] += (share - outcome) * value[at]
            weighted = weight * value[at]
            for before in range(at + 1):
                hessian[one, index[before]] += weighted * value[before]


@lean_jit
def _fill(design, row, index, variable, value):
    """List the columns of a row that are not 0; return how many there are."""
    numbers, number_column, number_variable, codes, code_variable, start, width, products = design
    index[0], variable[0], value[0] = 0, -1, 1.0
    filled = 1
    for at in range(numbers.shape[1]):
        if numbers[row, at] != 0:
            index[filled], variable[filled] = number_column[at], number_variable[at]
            value[filled] = numbers[row, at]
            filled += 1
    for at in range(codes.shape[1]):
        if codes[row, at] >= 0:
            index[filled], variable[filled], value[filled] = codes[row, at], code_variable[at], 1.0
            filled += 1
    main = filled
    for at in range(1, main):
        for other in range(at + 1, main):
            low, high = (at, other) if variable[at] < variable[other] else (other, at)
            first = products[variable[low], variable[high]]
            if first >= 0 and variable[low] != variable[high]:
                place = (index[low] - start[variable[low]]) * width[variable[high]]
                index[filled] = first + place + index[high] - start[variable[high]]
                value[filled] = value[low] * value[high]
                filled += 1
    return filled
