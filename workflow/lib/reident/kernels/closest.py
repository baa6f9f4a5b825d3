"""Winkler's closest records: the pairs with the lowest m-th smallest rank distance (METHODS §4.5, §5).

The rank distance of an EIF value x from a masked value y is the smallest g for which x is among the g values nearest
to y. The EIF values with a rank distance of at most g are a window of the sorted EIF, which grows with g. The *level*
of a pair is the m-th smallest rank distance of its variables. It is at most g if and only if the EIF record is in at
least m of the windows of g.

For each PUF record, g grows until more than ``keep`` records are in m windows. A record is counted once for each
window that reaches it, so that no value is read twice unless g was too large. The result is exact:

- a record that is in fewer than m windows of g has a level above g, and more than ``keep`` records do not: it is behind
  the last rank that the filter keeps, whatever its level;
- the levels of the others are computed by the definition. If there are too many of them, as with ties, the levels of a
  part show a level L up to which there are more than ``keep``. The last step is undone, and g approaches L − 1 by
  halves. If at most ``keep`` records are found there, all others are behind the last rank that is kept; otherwise L
  falls.

The start of g and its steps do not change the result, and windows end at g = n_eif at the latest. Memory is a byte for
each record of the EIF and thread, beside its sorted columns.
"""

from typing import NamedTuple, Unpack

import numpy as np

from reident.kernels.compiling import jit, lean_jit
from reident.kernels.neighbours import farthest_of, span
from reident.kernels.toplist import Best, Pairs, Workers, check, empty_best, in_threads, list_pairs, offer, settle

MAX_VARIABLES = 255
"""Windows of a record are counted in a byte."""

GROWTH = 4.0
"""How many times more records a step of g finds, roughly: windows grow by the m-th root of this."""

CANDIDATES = 8
"""The levels of at most this number of records for each pair to keep are computed."""

_FAR = np.int64(2**62)  # the rank distance of a missing value, or of another category


class Columns(NamedTuple):
    """The EIF by each variable, and the values among which ranks are counted."""

    eif: np.ndarray  # float64 (n_eif, v)
    order: np.ndarray  # int32 (v, n_eif): the records by value, missing values last
    values: np.ndarray  # float64 (v, n_eif): their values
    n_values: np.ndarray  # int64 (v,): values that are not missing
    scope: np.ndarray  # float64 (v, n_scope): ascending
    n_scope: np.ndarray  # int64 (v,)
    numeric: np.ndarray  # bool (v,)
    slack: float


class Search(NamedTuple):
    """The state of the search of one PUF record; the next record overwrites it."""

    y: np.ndarray  # float64 (v,): the masked values
    low: np.ndarray  # int64 (v,): the windows, in positions of the sorted EIF
    high: np.ndarray  # int64 (v,)
    old_low: np.ndarray  # int64 (v,): the windows before the last step
    old_high: np.ndarray  # int64 (v,)
    counts: np.ndarray  # uint8 (n_eif,): in how many windows a record is
    candidates: np.ndarray  # int32: records in at least m windows, in the order in which they came
    distances: np.ndarray  # int64 (v,)
    levels: np.ndarray  # int64 (keep + 1,): the lowest levels, ascending
    eifs: np.ndarray  # int32 (keep + 1,): their records


@lean_jit
def _distance(columns, j, y, x):
    """Return the rank distance of a value of variable j from y."""
    if not columns.numeric[j]:
        return np.int64(1) if x == y else _FAR
    first, end = span(columns.scope[j], columns.n_scope[j], y, abs(x - y), columns.slack, False)
    return np.int64(1 + end - first)


@lean_jit
def _level(columns, search, r, m):
    """Return the m-th smallest rank distance of record r; a missing value is far."""
    n_present = 0
    for j in range(search.y.size):
        x, y = columns.eif[r, j], search.y[j]
        if x == x and y == y:
            distance = _distance(columns, j, y, x)
            a = n_present
            while a > 0 and search.distances[a - 1] > distance:
                search.distances[a] = search.distances[a - 1]
                a -= 1
            search.distances[a] = distance
            n_present += 1
    return search.distances[m - 1] if n_present >= m else _FAR


@lean_jit
def _next(columns, search):
    """Return the smallest rank distance beyond the windows, 0 if there is none."""
    least = _FAR
    for j in range(search.y.size):
        y = search.y[j]
        if y == y and columns.numeric[j]:
            if search.low[j] > 0:
                least = min(least, _distance(columns, j, y, columns.values[j, search.low[j] - 1]))
            if search.high[j] < columns.n_values[j]:
                least = min(least, _distance(columns, j, y, columns.values[j, search.high[j]]))
    return least if least < _FAR else np.int64(0)


@lean_jit
def _enter(order, counts, m, candidates, n):
    """Count records once more; note those that are now in m windows, and return how many there have been."""
    for at in range(order.size):
        r = order[at]
        count = counts[r] + np.uint8(1)
        counts[r] = count
        if count == m:
            if n < candidates.size:
                candidates[n] = r
            n += 1
    return n


@lean_jit
def _leave(order, counts):
    for at in range(order.size):
        counts[order[at]] -= np.uint8(1)


@lean_jit
def _widen(columns, search, g, m, n):
    """Widen the windows to g; return how many records have been in m windows, and how many values were read."""
    read = 0
    for j in range(search.y.size):
        y, low, high = search.y[j], search.low[j], search.high[j]
        search.old_low[j], search.old_high[j] = low, high
        if y == y:
            limit = 0.0
            if columns.numeric[j]:
                farthest = farthest_of(columns.scope[j], columns.n_scope[j], y, g)
                limit = farthest * (1.0 + 2.0 * columns.slack) + columns.slack * abs(y)
            search.low[j], search.high[j] = span(columns.values[j], columns.n_values[j], y, limit, 0.0, True)
            n = _enter(columns.order[j, search.low[j] : low], search.counts, np.uint8(m), search.candidates, n)
            n = _enter(columns.order[j, high : search.high[j]], search.counts, np.uint8(m), search.candidates, n)
            read += low - search.low[j] + search.high[j] - high
    return n, read


@lean_jit
def _narrow(columns, search):
    """Undo the last step."""
    for j in range(search.y.size):
        _leave(columns.order[j, search.low[j] : search.old_low[j]], search.counts)
        _leave(columns.order[j, search.old_high[j] : search.high[j]], search.counts)
        search.low[j], search.high[j] = search.old_low[j], search.old_high[j]


@lean_jit
def _open(columns, search, row):
    """Begin with the masked values of a record, and windows without a record."""
    n_present = 0
    for j in range(row.size):
        search.y[j] = row[j]
        search.low[j] = search.high[j] = 0
        if row[j] == row[j]:
            n_present += 1
            values = columns.values[j, : columns.n_values[j]]
            search.low[j] = search.high[j] = np.searchsorted(values, row[j])
    return n_present


@lean_jit
def _close(columns, search):
    """Set the counts back to 0, by record where few were counted."""
    read = 0
    for j in range(search.y.size):
        read += search.high[j] - search.low[j]
    if 16 * read < search.counts.size:
        for j in range(search.y.size):
            _leave(columns.order[j, search.low[j] : search.high[j]], search.counts)
    else:
        search.counts[:] = 0


@lean_jit
def _rank(columns, search, n, m):
    """List the lowest levels of the first n candidates; return how many are listed, or at the last level."""
    count = 0
    for at in range(n):
        r = search.candidates[at]
        count = offer(search.levels, search.eifs, count, _level(columns, search, r, m), r)
    return count


@lean_jit
def _following(columns, search, m, level):
    """Return the lowest level of all records above a level, and how many have it; 0 if none."""
    following, n = _FAR, 0
    for r in range(search.counts.size):
        other = _level(columns, search, r, m)
        if level < other < following:
            following, n = other, 1
        elif other == following and other < _FAR:
            n += 1
    return following, n


@lean_jit
def _gather(columns, search, m, keep, growth, start):
    """Find the records that may be kept: their number, the level up to which they are all, and whether too many follow.

    Where too many share the next level, none of it is among them.
    """
    n, g, ceiling, target = 0, np.int64(0), np.int64(0), np.int64(start)
    while True:
        more, read = _widen(columns, search, target, m, n)
        if read == 0 and ceiling == 0:
            target = _next(columns, search)
            if target == 0:
                return n, _FAR, False
            more, read = _widen(columns, search, target, m, n)
        if more > search.candidates.size:
            _rank(columns, search, search.candidates.size, m)
            ceiling = search.levels[keep]
            _narrow(columns, search)
        else:
            n, g = more, target
            if n > keep:
                return n, g, False
        if g + 1 == ceiling:
            return n, g, True
        target = (g + ceiling) // 2 if ceiling > 0 else max(g + 1, np.int64(g * growth))


@jit
def _scan(first, end, puf, columns, m, best):
    """Find the pairs of PUF records first to end - 1."""
    n_eif, v = columns.eif.shape
    keep = best.eif.shape[1]
    search = Search(
        np.empty(v),
        np.zeros(v, np.int64),
        np.zeros(v, np.int64),
        np.zeros(v, np.int64),
        np.zeros(v, np.int64),
        np.zeros(n_eif, np.uint8),
        np.empty(CANDIDATES * (keep + 1), np.int32),
        np.empty(v, np.int64),
        np.empty(keep + 1, np.int64),
        np.empty(keep + 1, np.int32),
    )
    growth, start = GROWTH ** (1.0 / m), np.int64(1)
    for i in range(first, end):
        if _open(columns, search, puf[i]) < m:
            continue
        n, whole, crowd = _gather(columns, search, m, keep, growth, start)
        _close(columns, search)
        count = _rank(columns, search, n, m)
        settle(search.levels, search.eifs, count, best, i)
        if crowd and n == 0:
            best.n[i] = -1
        elif (crowd and best.n_next[i] == 0) or (best.n_next[i] > 0 and best.next_level[i] > whole):
            best.next_level[i], best.n_next[i] = _following(columns, search, m, search.levels[0])
        if count > keep:  # where the next record begins: likely somewhat below its last level
            start = np.int64(max(1.0, search.levels[keep] / growth**2))


def _sorted_columns(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of each variable, ascending, and how many are not missing."""
    return np.ascontiguousarray(np.sort(values, axis=0).T), (~np.isnan(values)).sum(axis=0)


def _distinct(puf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one of each kind of equal PUF records, and the kind of each; missing values are equal."""
    codes = np.empty(puf.shape, np.int32)
    for j in range(puf.shape[1]):
        codes[:, j] = np.unique(puf[:, j], return_inverse=True)[1]
    _, rows, kind = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    return np.ascontiguousarray(puf[rows]), kind.reshape(-1)


def closest(
    puf: np.ndarray,
    eif: np.ndarray,
    scope: np.ndarray,
    *,
    numeric: np.ndarray,
    m: int,
    slack: float,
    keep: int,
    **workers: Unpack[Workers],
) -> Pairs:
    """Return the pairs of each PUF record that are closest on m variables, at the ranks with at most ``keep`` pairs.

    Parameters
    ----------
    puf, eif : float64 (n_puf, v), (n_eif, v)
        Masked values and EIF values, or codes of categories; NaN for missing.
    scope : float64 (n_scope, v)
        The values among which the ranks of numeric variables are counted; those of the EIF are among them.
    numeric : bool (v,)
        Which variables are numeric. The rank distance of a category from itself is 1, others have none.
    m : int
        1 to v. A pair with fewer rank distances is not compared.
    slack : float
        Distances that differ by this share of themselves or of the masked value are equal.
    keep, **workers
        See `toplist`.

    Returns
    -------
    Pairs
        By the m-th smallest rank distance, at least 1, the lowest first.

    Notes
    -----
    Source: METHODS §4.5, §5; Winkler 2002.
    """
    _check(puf, eif, scope, len(numeric), m, keep)
    n_puf, n_eif = len(puf), len(eif)
    if not n_puf or not n_eif:
        return list_pairs(empty_best(n_puf, 1))
    values, n_values = _sorted_columns(eif)
    order = np.argsort(eif, axis=0, kind="stable").T.astype(np.int32, order="C")
    among = (values, n_values) if scope is eif else _sorted_columns(scope)
    columns = Columns(
        np.ascontiguousarray(eif), order, values, n_values, *among, np.asarray(numeric, np.bool_), float(slack)
    )
    rows, kind = _distinct(puf)
    best = empty_best(len(rows), min(keep, n_eif))

    def work(first: int, end: int) -> None:
        _scan(first, end, rows, columns, m, best)

    in_threads(work, len(rows), block=256, **workers)
    return list_pairs(Best(*(array[kind] for array in best)))


def _check(puf: np.ndarray, eif: np.ndarray, scope: np.ndarray, v: int, m: int, keep: int) -> None:
    if any(matrix.ndim != 2 or matrix.shape[1] != v for matrix in (puf, eif, scope)):
        raise ValueError(f"puf, eif and scope must be matrices with {v} columns, one for each variable.")
    check(puf, eif, keep, MAX_VARIABLES)
    if not 1 <= m <= v:
        raise ValueError("m must be 1 to the number of variables.")
