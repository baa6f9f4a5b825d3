"""The disclosures of a target by the cells of a key: counts and sums over records, exactly (METHODS §12).

Values of the target are ranks. In each file the records lie cell by cell, and within a cell by rank. Two values agree
if the rank of the one is in the window ``low[x] <= y < high[x]`` of the other, the true one: a category agrees with
itself alone. Every sum of fractions is collected by denominator, in integers, so it does not depend on the order of
records or cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit, lean_jit

(
    N_ORIGINAL, UIO, UIOIS, REPU, IS, DIS, DISCO, DORIG, DISDIO, N_RELEASED, UIS, DSYN, N_TARGETED, DISCO_OTHERS,
    N_HOLDOUT, DISCO_HOLDOUT,
) = range(16)  # fmt: skip
"""Places in the counts, see METHODS §12."""

(
    CAP, GUESS, CAP_ORIGINAL, CAP_TRUE_OTHERS, TCAP, CAP_OTHERS, GUESS_OTHERS, CAP_HOLDOUT, GUESS_HOLDOUT, DIS_GUESS,
) = range(10)  # fmt: skip
"""Rows of the sums: the numerators, by denominator."""


class Disclosures(NamedTuple):
    """The disclosures by the cells of one set of keys; results by record are empty unless they are asked for."""

    counts: np.ndarray  # int64 (16,)
    sums: np.ndarray  # int64 (10, denominators)
    by_value: np.ndarray  # int64 (values,): records that are disclosed correctly, by their value
    matches: np.ndarray  # int32 (n,), by original record: the released records of its cell
    agreeing: np.ndarray  # int32 (n,): those of them that agree with it
    correct: np.ndarray  # bool (n,): whether its value is disclosed correctly


@lean_jit
def _below(values, begin, end, rank):
    """Return the first of the sorted values from ``begin`` to ``end`` - 1 that is at least ``rank``."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < rank:
            begin = middle + 1
        else:
            end = middle
    return begin


@lean_jit
def _modes(values, begin, end):
    """Return of sorted values: distinct ones, largest count and how many have it, second count and how many."""
    distinct, top, n_top, second, n_second, at = 0, 0, 0, 0, 0, begin
    while at < end:
        stop = at
        while stop < end and values[stop] == values[at]:
            stop += 1
        count = stop - at
        distinct += 1
        if count > top:
            second, n_second, top, n_top = top, n_top, count, 1
        elif count == top:
            n_top += 1
        elif count > second:
            second, n_second = count, 1
        elif count == second:
            n_second += 1
        at = stop
    return distinct, top, n_top, second, n_second


@lean_jit
def _cell_value(values, begin, end, numeric, low, high):
    """Return whether the values of a cell agree, and the value that they tell: the lower median."""
    if begin == end:
        return False, -1
    middle = values[begin + (end - begin - 1) // 2]
    if numeric:
        return low[middle] <= values[begin] and values[end - 1] < high[middle], middle
    return values[begin] == values[end - 1], middle


@lean_jit
def _cell_value_without(values, begin, end, numeric, low, high, rank):
    """Return the same without one record of the cell, of rank ``rank``."""
    if end - begin < 2:
        return False, -1
    place = _below(values, begin, end, rank)
    middle = begin + (end - begin - 2) // 2
    middle = values[middle + 1] if middle >= place else values[middle]
    first = values[begin + 1] if place == begin else values[begin]
    last = values[end - 2] if values[end - 1] == rank else values[end - 1]
    if numeric:
        return low[middle] <= first and last < high[middle], middle
    return first == last, middle


@lean_jit
def _mode_without(modes, count, own_count):
    """Return 1 / n as n, if a value with ``count`` copies is one of the n most frequent without one copy of another.

    ``own_count`` is the number of copies, with the one that is left out, of the other value; ``count`` is already
    without it where both are the same. 0 if it is not among the most frequent.
    """
    _, top, n_top, second, n_second = modes
    if own_count < top or n_top > 1:
        largest, ties = top, n_top - (own_count == top)
    elif second == top - 1:
        largest, ties = second, n_second + 1
    else:
        largest, ties = top - 1, 1
    return ties if largest > 0 and count == largest else 0


class Guess(NamedTuple):
    """The best guess of an intruder without a key."""

    right: np.ndarray  # bool (values,), by rank: whether one of the guesses agrees with it
    ties: int  # the number of equally good guesses; 1 for a median


@jit
def best_guess(ranks, low, high, numeric):
    """Return the best guess from all released values, which are sorted: the most frequent ones, or the lower median."""
    right = np.zeros(len(low), np.bool_)
    if len(ranks) == 0:
        return Guess(right, 1)
    if numeric:
        middle = ranks[(len(ranks) - 1) // 2]
        for y in range(len(low)):
            right[y] = low[y] <= middle < high[y]
        return Guess(right, 1)
    counts = np.zeros(len(low), np.int64)
    for rank in ranks:
        counts[rank] += 1
    right[:] = counts == counts.max()
    return Guess(right, right.sum())


@jit
def tell(original, released, holdout, own_cells, own_ranks, low, high, guess, numeric, linked, n_values, keep):
    """Compare the disclosures of a released file with the original values, over all cells of a set of keys.

    Parameters
    ----------
    original, released, holdout : Grouped
        The holdout may have no record.
    own_cells, own_ranks : int32 (n,)
        By original record: the cell and the rank of the same person's released record, -1 where there is none.
    low, high : int32 (values,)
        By rank: the window of ranks that agree with it.
    guess : Guess
    numeric : bool
        Whether the best guess is the median, not the most frequent value.
    linked : bool
        Whether released records of the same persons are known.
    n_values : int
        Values to count correct disclosures by; 0: do not count.
    keep : int
        The number of original records if results by record are kept, otherwise 0.
    """
    widest = guess.ties
    for file in (original, released):
        for c in range(len(file.starts) - 1):
            widest = max(widest, file.starts[c + 1] - file.starts[c])
    tally = Disclosures(
        np.zeros(16, np.int64),
        np.zeros((10, widest + 1), np.int64),
        np.zeros(n_values, np.int64),
        np.zeros(keep, np.int32),
        np.zeros(keep, np.int32),
        np.zeros(keep, np.bool_),
    )
    for c in range(len(original.starts) - 1):
        _tell_cell(tally, c, original, released, holdout, own_cells, own_ranks, low, high, guess, numeric, linked)
    return tally


@lean_jit
def _tell_cell(tally, c, original, released, holdout, own_cells, own_ranks, low, high, guess, numeric, linked):
    """Add the disclosures of one cell."""
    counts, sums = tally.counts, tally.sums
    begin, end = released.starts[c], released.starts[c + 1]
    first, stop = original.starts[c], original.starts[c + 1]
    size, n = end - begin, stop - first
    values, truth = released.ranks, original.ranks
    counts[N_ORIGINAL] += n
    counts[N_RELEASED] += size
    counts[UIO] += n == 1
    counts[UIS] += size == 1
    counts[UIOIS] += n == 1 and size > 0
    counts[REPU] += n == 1 and size == 1
    counts[IS] += n * (size > 0)
    discloses, value = _cell_value(values, begin, end, numeric, low, high)
    disclosed, true_value = _cell_value(truth, first, stop, numeric, low, high)
    modes = (0, 0, 0, 0, 0)
    if not numeric:
        modes = _modes(values, begin, end)
    counts[DIS] += n * discloses
    counts[DSYN] += size * discloses
    counts[N_TARGETED] += size * (discloses and n > 0)
    n_correct, agreeing, own_agreeing, last = 0, 0, 0, -1
    for i in range(first, stop):
        y, record = truth[i], original.records[i]
        if y != last:
            agreeing = _below(values, begin, end, high[y]) - _below(values, begin, end, low[y])
            own_agreeing = _below(truth, first, stop, high[y]) - _below(truth, first, stop, low[y])
            last = y
        certain = disclosed and low[y] <= true_value < high[y]
        correct = discloses and low[y] <= value < high[y]
        n_correct += correct
        counts[DISCO] += correct
        counts[DORIG] += certain
        counts[DISDIO] += correct and certain
        sums[DIS_GUESS, guess.ties] += discloses and guess.right[y]
        sums[CAP, size] += agreeing
        sums[CAP_ORIGINAL, n] += own_agreeing
        sums[CAP_TRUE_OTHERS, n - 1] += own_agreeing - 1
        if size > 0:
            if numeric:
                sums[GUESS, 1] += low[y] <= value < high[y]
            elif agreeing == modes[1]:
                sums[GUESS, modes[2]] += 1
        if len(tally.by_value) > 0:
            tally.by_value[y] += correct
        if len(tally.matches) > 0:
            tally.matches[record], tally.agreeing[record], tally.correct[record] = size, agreeing, correct
        if linked:
            _tell_others(
                tally, begin, end, c, y, own_cells[record], own_ranks[record], values, low, high, numeric,
                size, agreeing, discloses, value, modes,
            )  # fmt: skip
    if discloses:
        sums[TCAP, n] += size * n_correct
    _tell_holdout(tally, c, holdout, values, begin, end, low, high, numeric, discloses, value, modes)


@lean_jit
def _tell_others(
    tally, begin, end, c, y, cell, rank, values, low, high, numeric, size, agreeing, discloses, value, modes
):
    """Add the disclosures about one record by the records of other persons."""
    counts, sums = tally.counts, tally.sums
    in_cell = cell == c and rank >= 0
    if in_cell:
        discloses, value = _cell_value_without(values, begin, end, numeric, low, high, rank)
        agreeing -= low[y] <= rank < high[y]
        size -= 1
    if size == 0:
        return
    hit = low[y] <= value < high[y]
    counts[DISCO_OTHERS] += discloses and hit
    sums[CAP_OTHERS, size] += agreeing
    if numeric:
        sums[GUESS_OTHERS, 1] += hit
    elif in_cell:
        own_count = _below(values, begin, end, rank + 1) - _below(values, begin, end, rank)
        ties = _mode_without(modes, agreeing, own_count)
        if ties > 0:
            sums[GUESS_OTHERS, ties] += 1
    elif agreeing == modes[1]:
        sums[GUESS_OTHERS, modes[2]] += 1


@lean_jit
def _tell_holdout(tally, c, holdout, values, begin, end, low, high, numeric, discloses, value, modes):
    """Add the disclosures of one cell about persons who are not in the file."""
    counts, sums, size = tally.counts, tally.sums, end - begin
    for i in range(holdout.starts[c], holdout.starts[c + 1]):
        y = holdout.ranks[i]
        counts[N_HOLDOUT] += 1
        if size == 0:
            continue
        hit = low[y] <= value < high[y]
        agreeing = _below(values, begin, end, high[y]) - _below(values, begin, end, low[y])
        counts[DISCO_HOLDOUT] += discloses and hit
        sums[CAP_HOLDOUT, size] += agreeing
        if numeric:
            sums[GUESS_HOLDOUT, 1] += hit
        elif agreeing == modes[1]:
            sums[GUESS_HOLDOUT, modes[2]] += 1
