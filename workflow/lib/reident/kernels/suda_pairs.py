"""Compiled search of `suda_by_size` for the minimal sample uniques of one size, in files of few values (METHODS §7).

A set is searched as a *prefix*, all of its variables but the two least informative ones, and the *pair* of these. All
pairs are searched at once in each cell of the prefix. A record has a bit for each of its values, of all variables. For
each value t, two rows of bits tell which values at least one record of the cell has together with t, and which ones
several have. A record is alone in the cell of the set if its pair of values is in the first row and not in the second.

Who is unique on the sets of a size is kept in the same form: a *matrix* for each cell of a prefix, which has a row for
each value, with the bits of the values of lower variables. Whether a set of the next size is minimal is then asked of
whole rows: those at the same place in the matrices of the prefix without each of its variables, and the row of the
prefix itself.

The lowest bit is set for all records, and so tells values of one record of a cell from those of several.
"""

from typing import NamedTuple

import numpy as np

from reident.kernels.bit_rows import (
    LANES,
    add_bits,
    aligned_zeros,
    common_bits,
    join_bits,
    prefetch,
    take_minimal,
)
from reident.kernels.bits import WORD, trailing_zeros
from reident.kernels.cells import BEGIN, MEMBERS, NEXT, ORDER, SIZES, STOP, empty_stack
from reident.kernels.compiling import inner_jit, jit
from reident.kernels.suda_rows import MAX_SIZE, File, Job, Order, Tally, Uniques, push_all, split_by_next

_ONE, _EMPTY = np.uint64(1), np.uint64(0)

_IN_LINE = 32
"""Numbers in a cache line."""

_PREFETCHED = 4
"""Records between the one that is read and the one that is prefetched."""

_FULL = 255
"""What a counter of eight bits can count."""


class Matrix(NamedTuple):
    """How the matrix of a cell is laid out: a row for each value, with a bit for each value of the lower variables."""

    words: np.ndarray  # int64 (v,): words of the rows of a variable, for the values below it
    masks: np.ndarray  # uint64 (v + 1, vectors · lanes): the bits of these values; the last row is 0
    rows: np.ndarray  # int64 (values + 1,): where each row begins
    starts: np.ndarray  # int64 (vectors,): the first variable whose rows have the vector
    variables: np.ndarray  # int64 (vectors · bits,): the variable of each bit
    shift: int  # what is added to a bit for the number of its value


class Values(NamedTuple):
    """The values of a file's records, numbered through all variables."""

    numbers: np.ndarray  # uint16 (n, v and more): the number of the values if missing
    bits: np.ndarray  # uint64 (n, vectors · lanes): a bit for each value of the group
    is_open: np.ndarray  # bool (n,): whether the record has no smaller minimal set


class Scratch(NamedTuple):
    """Working memory of a search."""

    pairs: (
        np.ndarray
    )  # uint64 (vectors, values + 1, 2, lanes): values together with each, once and more than once
    minimal: np.ndarray  # uint64 (vectors, values + 1, lanes): values that make a minimal set with each
    excluded: (
        np.ndarray
    )  # uint64 (vectors · lanes,): values on which, with the prefix, a record of the cell is unique
    counters: np.ndarray  # uint8 (vectors · bits,): minimal sets by their last value, not yet in the tally
    members: np.ndarray  # int64 (size,): variables of the set, descending
    bases: np.ndarray  # int64 (size,): where the matrices of the prefix without each of its variables begin


def matrix(levels: np.ndarray, low: int, high: int) -> Matrix:
    """Lay out the matrix of a cell, with bits for the values of variables ``low`` to ``high`` - 1.

    Parameters
    ----------
    levels : int64 (v,)
        Values of each variable.
    low, high : int
    """
    begins = np.concatenate([[0], np.cumsum(levels)])
    words, rows, below = _rows(levels, low, high)
    vectors = max(-(-int(words.max()) // LANES), 1)
    starts = np.searchsorted(words, LANES * np.arange(vectors), side="right").astype(np.int64)
    variables = np.zeros(vectors * LANES * WORD, np.int64)
    variables[1 : 1 + below[-1]] = np.repeat(np.arange(len(levels)), levels)[begins[low] :][: below[-1]]
    masks = aligned_zeros((len(levels) + 1, vectors * LANES))
    for j, n in enumerate(below.tolist()):
        masks[j] = [(2 << n) - 2 >> WORD * w & 2**WORD - 1 for w in range(vectors * LANES)]
    return Matrix(words, masks, rows, starts, variables, int(begins[low]) - 1)


def _rows(levels: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the words of a row by variable, where each value's row begins, and the bits of a row by variable."""
    begins = np.concatenate([[0], np.cumsum(levels)])
    below = np.clip(begins[:-1], begins[low], begins[high]) - begins[low]
    words = np.where(below > 0, below // WORD + 1, 0)
    return words, np.concatenate([[0], np.cumsum(np.repeat(words, levels))]), below


def words_of_all(levels: np.ndarray, low: int, high: int, size: int) -> int:
    """Return how many words the matrices of the cells of all prefixes of a size take."""
    rows = _rows(levels, low, high)[1]
    if size == 2:
        return int(rows[-1])
    begins = np.cumsum(levels) - levels
    total, cells = 0, [1] + [0] * (size - 3)
    for n, row in zip(levels[::-1].tolist(), rows[begins][::-1].tolist(), strict=True):
        total += cells[-1] * n * row
        cells = [1, *(a + b * n for a, b in zip(cells[1:], cells, strict=False))]
    return total


def empty_matrices(levels: np.ndarray, layout: Matrix, size: int, ranks: np.ndarray) -> Uniques:
    """Allocate the matrices of the cells of all prefixes of a size, uninitialised: no cell without records is read.

    `Uniques.begins` has where those of a prefix begin, in the order of its cells. After the last one there is a vector,
    since rows are read in vectors.
    """
    v, begins = len(levels), np.concatenate([[0], np.cumsum(levels)])
    n_words = layout.rows[-1:]
    if size > 2:
        n_words = _matrix_words(levels, layout.rows[begins[:v]], size - 2, int(ranks[v, size - 2]))
    return Uniques(np.cumsum(n_words) - n_words, np.empty(int(n_words.sum()) + LANES, np.uint64))


@jit
def _matrix_words(levels, of_variable, size, sets):
    """Return the words of all matrices of each set of a size, in the order of ranks."""
    n_words, members = np.empty(sets, np.int64), np.arange(size + 1)
    members[size] = len(levels) + 1
    for rank in range(sets):
        n_words[rank] = of_variable[members[0]]
        for k in range(size):
            n_words[rank] *= levels[members[k]]
        i = 0
        while members[i] + 1 == members[i + 1]:
            members[i] = i
            i += 1
        members[i] += 1
    return n_words


def number_values(file: File, layout: Matrix, is_open: np.ndarray) -> Values:
    """Number the values of a file's records; see `Values`."""
    n, v = file.rows.shape
    width = -(-v // _IN_LINE) * _IN_LINE
    numbers = aligned_zeros((n, width * 2 // 8)).view(np.uint16)
    bits = aligned_zeros((n, len(layout.starts) * LANES))
    _write_values(file, layout.shift, layout.shift + len(layout.variables), numbers, bits)
    return Values(numbers, bits, is_open)


@jit
def _write_values(file, low, high, numbers, bits):
    """Write the numbers of all values, and the bits of those above ``low`` and below ``high``."""
    n, v = file.rows.shape
    for r in range(n):
        bits[r, 0] = _ONE
        for j in range(v):
            number = file.begins[j] + file.rows[r, j] if file.rows[r, j] < file.levels[j] else file.begins[v]
            numbers[r, j] = number
            if low < number < min(high, file.begins[v]):
                bits[r, (number - low) // WORD] |= _ONE << np.uint64((number - low) % WORD)


def search(
    file: File,
    values: Values,
    layout: Matrix,
    records: Order,
    job: Job,
    tally: Tally,
    task: tuple[int, int, int],
) -> None:
    """Count the minimal sets of a job that begin with a variable and go on with one of a range: those of the task.

    The tally is by record, in the order of the file.
    """
    n, vectors = len(file.rows), len(layout.starts)
    width, n_values = int(file.levels.max()) + 1, int(file.begins[-1])
    scratch = Scratch(
        aligned_zeros((vectors, n_values + 1, 2, LANES)),
        aligned_zeros((vectors, n_values + 1, LANES)),
        aligned_zeros((vectors * LANES,)),
        np.zeros(vectors * LANES * WORD, np.uint8),
        np.empty(job.size, np.int64),
        np.empty(job.size, np.int64),
    )
    stack = empty_stack(n * job.size, job.size * (min(width, n) + 2) + 1, 2, width)
    _search(file, values, layout, records, job, tally, stack, scratch, *task)


@jit
def _search(file, values, layout, records, job, tally, stack, scratch, variable, first, stop):
    """Search all cells of prefixes, from that of all records down."""
    frames, f, n_rows = stack.frames, 0, 0
    push_all(records, job, stack, variable)
    while f >= 0:
        order, size = frames[f, ORDER], frames[f, SIZES] + frames[f, SIZES + 1]
        if frames[f, NEXT] >= frames[f, STOP] or (job.final and size == 1):
            f -= 1
        elif order == job.size - 2:
            low, high = frames[f, NEXT], frames[f, STOP]
            _join_records(values, layout, stack, scratch, f, low, high)
            base = _locate(file, layout, job, scratch, stack.ids[frames[f, BEGIN]], frames[f, MEMBERS])
            n_sets, n_rows = _search_values(
                file, values, layout, job, tally, stack, scratch, f, low, high, base, n_rows
            )
            if n_sets:
                _count_records(file, values, layout, job, tally, stack, scratch, f, low, high, n_sets)
            f -= 1
        else:
            f = split_by_next(file, job, stack, f, first, stop)
    _flush(layout, tally, scratch)


@inner_jit
def _join_records(values, layout, stack, scratch, f, low, high):
    """Join all values of each record of a cell to its values of variables ``low`` to ``high`` - 1."""
    ids, frames = stack.ids, stack.frames
    begin, n = frames[f, BEGIN], frames[f, SIZES] + frames[f, SIZES + 1]
    for i in range(n):
        r, ahead = np.int64(ids[begin + i]), np.int64(ids[begin + min(i + _PREFETCHED, n - 1)])
        prefetch(values.bits, ahead)
        prefetch(values.numbers, ahead)
        for k in range(len(layout.starts)):
            join_bits(values.bits, r, k, values.numbers, max(low, layout.starts[k]), high, scratch.pairs)


@inner_jit
def _search_values(file, values, layout, job, tally, stack, scratch, f, low, high, base, n_rows):
    """Search all values of variables ``low`` to ``high`` - 1 that records of a cell have.

    They are found by record or, where these are many, by value. Returns as `_search_value` does.
    """
    ids, frames, pairs, n_sets = stack.ids, stack.frames, scratch.pairs, 0
    begin, n = frames[f, BEGIN], frames[f, SIZES] + frames[f, SIZES + 1]
    if n * (high - low) < file.begins[high] - file.begins[low]:
        for i in range(n):
            for d in range(low, high):
                t = np.int64(values.numbers[ids[begin + i], d])
                if t < file.begins[-1] and pairs[0, t, 0, 0] != _EMPTY:
                    found, n_rows = _search_value(layout, job, tally, scratch, d, t, base, n_rows)
                    n_sets += found
    else:
        for d in range(low, high):
            for t in range(file.begins[d], file.begins[d + 1]):
                if pairs[0, t, 0, 0] != _EMPTY:
                    found, n_rows = _search_value(layout, job, tally, scratch, d, t, base, n_rows)
                    n_sets += found
    return n_sets, n_rows


@inner_jit
def _count_records(file, values, layout, job, tally, stack, scratch, f, low, high, n_sets):
    """Count the minimal sets of a cell by the values of its prefix and by record."""
    ids, begin, n = stack.ids, stack.frames[f, BEGIN], stack.frames[f, SIZES]
    for i in range(job.size - 2):
        j = scratch.members[i]
        tally.by_level[file.begins[j] + file.rows[ids[begin], j]] += n_sets
    for i in range(n):
        r, n_own = np.int64(ids[begin + i]), 0
        for k in range(len(layout.starts)):
            n_own += common_bits(
                values.bits, r, k, values.numbers, max(low, layout.starts[k]), high, scratch.minimal
            )
        if n_own:
            tally.counts[r] += n_own
            if values.is_open[r]:
                _find_least(file, values, layout, job, tally, scratch, r, low, high)


@inner_jit
def _locate(file, layout, job, scratch, r, packed):
    """Write the members of a cell's prefix, and where the matrices of the cells without each begin in `Job.known`.

    The row of the prefix itself is that of the value of its last member in the matrix without it.
    Returns where the matrix of the cell begins in `Job.found`.
    """
    members, bases, ranks, m = scratch.members, scratch.bases, job.ranks, job.size - 2
    for i in range(m):
        members[m - 1 - i] = packed >> 8 * i & 255
    base = 0
    for without in range(m + 1):
        rank, cell, last, n = 0, 0, len(file.levels), m - (without < m)
        for i in range(m):
            if i != without:
                last = members[i]
                rank += ranks[last, n]
                n -= 1
                cell = cell * file.levels[last] + file.rows[r, last]
        base = cell * layout.rows[file.begins[last]]
        if without < m:
            bases[without] = base + job.known.begins[rank]
        elif not job.final:
            base += job.found.begins[rank]
    if m:
        row = bases[m - 1] + layout.rows[file.begins[members[m - 1]] + file.rows[r, members[m - 1]]]
        for w in range(layout.words[members[m - 1]]):
            scratch.excluded[w] = job.known.words[row + w]
    return base


@inner_jit
def _search_value(layout, job, tally, scratch, d, t, base, n_rows):
    """Find the values with which value t of variable d is a minimal set, and clear its pairs.

    Returns the number of sets, and how many rows the counters of bits have counted.
    """
    pairs, minimal, n_sets, row, m = scratch.pairs, scratch.minimal, 0, layout.rows[t], job.size - 2
    if not job.final:
        for w in range(layout.words[d]):
            k, lane = w // LANES, w % LANES
            alone = pairs[k, t, 0, lane] & ~pairs[k, t, 1, lane] & layout.masks[d, w]
            job.found.words[base + row + w] = alone
    mask = d if pairs[0, t, 1, 0] != _EMPTY else len(layout.words)
    for k in range((layout.words[d] + LANES - 1) // LANES):
        n_sets += take_minimal(
            pairs, k, t, layout.masks, mask, job.known.words, scratch.bases, m, row, scratch.excluded, minimal
        )
    if n_sets == 0:
        return 0, n_rows
    for w in range(layout.words[d]):
        if minimal[w // LANES, t, w % LANES]:
            add_bits(scratch.counters, w, minimal[w // LANES, t, w % LANES])
    tally.by_level[t] += n_sets
    n_rows += 1
    if n_rows == _FULL:
        _flush(layout, tally, scratch)
        n_rows = 0
    return n_sets, n_rows


@inner_jit
def _flush(layout, tally, scratch):
    """Add the counters of bits to the tally, and clear them."""
    for bit in range(1, len(scratch.counters)):
        if scratch.counters[bit]:
            tally.by_level[layout.shift + bit] += scratch.counters[bit]
            scratch.counters[bit] = 0


@inner_jit
def _find_least(file, values, layout, job, tally, scratch, r, low, high):
    """Compare the minimal sets of record r in the cell with its first one."""
    members, minimal, m = scratch.members, scratch.minimal, job.size - 2
    for d in range(low, high):
        t = np.int64(values.numbers[r, d])
        for w in range(layout.words[d]):
            word = minimal[w // LANES, t, w % LANES] & values.bits[r, w]
            while word:
                members[m], members[m + 1] = d, layout.variables[w * WORD + trailing_zeros(word)]
                word &= word - _ONE
                key = _EMPTY
                for i in range(job.size):
                    place_in_set, position = 0, file.positions[members[i]]
                    for other in range(job.size):
                        place_in_set += file.positions[members[other]] < position
                    key |= position << np.uint64(8 * (MAX_SIZE - 1 - place_in_set))
                tally.least[r] = min(tally.least[r], key)
