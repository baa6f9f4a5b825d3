"""What the order of the files tells of true links, beside the values of the records (METHODS §1.1).

Two files that were taken from one register, in its order, tell by the place of a record who it is. An order is that of
the rows as they are stored, or that of the keys; the order of a number of the EIF stands for a file sorted by it.

Records are put into cells: their stratum, and then again and again their value of a variable by which the PUF is sorted
within all cells, upward, downward, or with equal values together, as long as its records without an order would have
20 changes or more (Σ (n − Σ c²/n) over cells of n records of which c have each value), and at most half as many as
these if they are only together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.records import SOURCE_ROW
from reident.intake.severity import UNDERSTATES
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.records import Records

ROWS, KEYS = "rows", "keys"
"""The orders of a file: as its rows are stored, and that of its keys, as text or as numbers."""

CHECK = "order"
"""The check, and the warning, of what the order tells."""

MIN_CORRELATION, ERRORS = 0.2, 4.0
"""The rank correlation of positions over the links, and how many standard errors it must be, for a warning."""

MIN_CHANGES = 20
"""The fewest changes of a value from record to record that a file without an order has, for its order to show."""

MAX_DUMMIES, LINKS_PER_COLUMN = 20, 10
"""Categories of a variable that the correlation is adjusted for, and the links that each column needs."""

_SERIAL = r"^(?P<before>[^0-9]*)(?P<number>[0-9]{1,15})(?P<after>[^0-9]*)$"


class Order(NamedTuple):
    """An order of the records of a file.

    Attributes
    ----------
    name : :data:`ROWS`, :data:`KEYS`, or a linking variable
    rank : the rank of each record, ties sharing their mean; NaN where it has none; float64 (n,)
    number : the numbers of serial keys, in steps; float64 (n,), None of other orders
    """

    name: str
    rank: np.ndarray
    number: np.ndarray | None = None


class FileOrder(NamedTuple):
    """An order of the PUF and one of the EIF that agree over the links, and the position of each record in them.

    Attributes
    ----------
    puf_order, eif_order : the orders, see :class:`Order`
    correlation : the rank correlation over the links within strata, beyond what the values of the PUF explain
    n : the links that it is measured on
    nearer : the share of the EIF records of its stratum that are nearer by position than the true partner, the median
    puf, eif : positions on one scale; float64 (n,), NaN for none
    """

    puf_order: str
    eif_order: str
    correlation: float
    n: int
    nearer: float
    puf: np.ndarray
    eif: np.ndarray


def check(records: Records, prepared: Mapping[str, pa.Table], keys: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Yield what the orders of the PUF tell beside its values, each by the order of the EIF that agrees with it best.

    Where keys are in the order of the rows, one finding stands for both.
    """
    best = dict[str, FileOrder]()
    for found in agreeing(records, prepared, keys):
        of_name = best.get(found.puf_order)
        if of_name is None or found.nearer < of_name.nearer:
            best[found.puf_order] = found
    if len({found.correlation for found in best.values()}) < len(best):
        best.pop(KEYS)
    for name, found in best.items():
        yield Finding("puf", "order_correlation", found.correlation, 0.0, found.n, proposal=f"{name}+{found.eif_order}")
        is_of_values = found.eif_order not in (ROWS, KEYS)
        scope, code = (found.eif_order, f"{CHECK}_of_values") if is_of_values else ("puf", CHECK)
        proposal = name if is_of_values else f"{name}_{found.eif_order}"
        yield Finding(scope, code, found.nearer, 0.5, found.n, UNDERSTATES, proposal)


def strongest(
    records: Records, prepared: Mapping[str, pa.Table], keys: Mapping[str, Sequence[str]]
) -> FileOrder | None:
    """Return the order that tells most of the links; None where no order tells anything."""
    return min(agreeing(records, prepared, keys), key=lambda order: order.nearer, default=None)


def agreeing(
    records: Records, prepared: Mapping[str, pa.Table], keys: Mapping[str, Sequence[str]]
) -> Iterator[FileOrder]:
    """Yield the pairs of orders of both files whose rank correlation over the links is warned of."""
    if records.links.n < MIN_LINKS or SOURCE_ROW not in prepared["puf"].column_names:
        return
    puf, eif = records.links.puf, records.links.eif
    others = [*_orders(prepared["eif"], keys["eif"]), *_numbers(records)]
    design = adjustment(records, puf)
    for order in _orders(prepared["puf"], keys["puf"]):
        cells = sorted_cells(records.strata["puf"], _columns(records), order.rank)[puf]
        for other in others:
            told = correlation(cells, order.rank[puf], other.rank[eif], design)
            if is_told(*told):
                yield _placed(records, order, other, *told[:2])


def _orders(table: pa.Table, keys: Sequence[str]) -> Iterator[Order]:
    """Yield the orders of the records of a prepared file, which is sorted by key."""
    rows = table[SOURCE_ROW].to_numpy()
    yield Order(ROWS, ranks(rows.astype(np.float64)))
    text = np.arange(table.num_rows, dtype=np.float64)
    if not np.array_equal(text, rows):
        yield Order(KEYS, text)
    numbers = serial_numbers(table, keys)
    if numbers is not None:
        yield Order(KEYS, ranks(numbers), numbers)


def _numbers(records: Records) -> Iterator[Order]:
    """Yield the orders of the EIF if it were sorted by one of its numbers."""
    for name, values in records.variables.items():
        if values.numbers is not None:
            yield Order(name, ranks(values.numbers["eif"]))


def serial_numbers(table: pa.Table, keys: Sequence[str]) -> np.ndarray | None:
    """Return the numbers in keys of one column that differ in a number alone, in units of their largest common step.

    Gaps between them stay, so that keys of two files that were counted together are near to each other.
    """
    if len(keys) != 1:
        return None
    column = table[keys[0]].combine_chunks()
    parts = pc.extract_regex(column, _SERIAL)
    if parts.null_count or any(len(pc.unique(parts.field(name))) != 1 for name in ("before", "after")):
        return None
    numbers = parts.field("number").cast(pa.int64()).to_numpy(zero_copy_only=False)
    step = np.gcd.reduce(np.diff(np.sort(numbers)))
    return numbers / max(int(step), 1)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value from 0, ties sharing their mean; NaN of a missing one."""
    present = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    _, inverse, counts = np.unique(values[present], return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks[present] = (ends - (counts + 1) / 2)[inverse]
    return ranks


def _ranks_within(cells: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the rank of each value in its cell as a share of it, (rank − ½) / n, ties sharing their mean."""
    order = np.lexsort((values, cells))
    cell, value = cells[order], values[order]
    starts_cell = np.r_[True, cell[1:] != cell[:-1]]
    starts = np.flatnonzero(starts_cell | np.r_[True, value[1:] != value[:-1]])
    sizes = np.diff(np.append(starts, len(order)))
    first = np.flatnonzero(starts_cell)
    n = np.diff(np.append(first, len(order)))
    of_cell = np.cumsum(starts_cell) - 1
    middle = np.repeat(starts + sizes / 2, sizes)
    shares = np.empty(len(order))
    shares[order] = (middle - first[of_cell]) / n[of_cell]
    return shares


def sorted_cells(strata: np.ndarray, columns: Iterable[np.ndarray], rank: np.ndarray) -> np.ndarray:
    """Return the cells of the records of a file within which their own values do not explain an order.

    The cells are the strata at first. A file that is sorted by one of its variables tells no more by that than the
    values do: records with equal values stay together. This is repeated with the other variables.

    Parameters
    ----------
    strata : int (n,)
        The stratum of each record, -1 for none.
    columns : iterable of (n,)
        Its values by variable: numbers, -inf where missing, or codes.
    rank : float64 (n,)
        Its rank in the order.

    Returns
    -------
    int64 (n,)
        -1 for a record outside the strata.
    """
    order = np.lexsort((rank, strata))
    order = order[np.searchsorted(strata[order], 0) :]
    groups = strata[order].astype(np.int64)
    left = [column[order] for column in columns]
    while (at := next((at for at, column in enumerate(left) if is_sorted(groups, column)), None)) is not None:
        column = left.pop(at)
        changes = (groups[1:] != groups[:-1]) | (column[1:] != column[:-1])
        groups = np.cumsum(np.append(False, changes))
    cells = np.full(len(strata), -1, np.int64)
    cells[order] = groups
    return cells


def _columns(records: Records) -> Iterator[np.ndarray]:
    """Yield the values of the PUF by variable: numbers, those that are missing first; codes of categories."""
    for values in records.variables.values():
        if values.numbers is None:
            yield values.codes["puf"].astype(np.int64)
        else:
            numbers = values.numbers["puf"]
            yield np.where(np.isnan(numbers), -np.inf, numbers)


def is_sorted(groups: np.ndarray, values: np.ndarray) -> bool:
    """Return whether records are sorted by their values within consecutive groups: up, down, or equal ones together.

    Without an order, a group of n records of which c have each value has n − Σ c²/n changes from record to record.
    """
    _, codes = np.unique(values, return_inverse=True)
    _, cell, counts = np.unique(groups.astype(np.int64) * len(groups) + codes, return_index=True, return_counts=True)
    _, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    squares = np.bincount(np.searchsorted(first, cell, "right") - 1, weights=counts.astype(np.float64) ** 2)
    by_chance = float((sizes - squares / sizes).sum())
    if by_chance < MIN_CHANGES:
        return False
    inside = groups[1:] == groups[:-1]
    if _is_monotone(inside, values) or _is_monotone(inside, np.where(np.isinf(values), np.inf, values)):
        return True
    changes, least = int((inside & (values[1:] != values[:-1])).sum()), len(counts) - len(sizes)
    return changes == least and 2 * changes <= by_chance


def _is_monotone(inside: np.ndarray, values: np.ndarray) -> bool:
    """Return whether numbers never fall, or never rise, from a record to the next one of its group."""
    return not (inside & (values[1:] < values[:-1])).any() or not (inside & (values[1:] > values[:-1])).any()


def correlation(
    cells: np.ndarray, own: np.ndarray, other: np.ndarray, design: np.ndarray | None = None
) -> tuple[float, int, float]:
    """Return the partial rank correlation of the positions of links in two orders.

    Ranks are those of the links within their cell. A cell, and a column of the design, takes one degree of freedom.

    Parameters
    ----------
    cells : int (n,)
        The cell of each link, -1 for none.
    own, other : float64 (n,)
        Its rank in the orders of the PUF and of the EIF, NaN for none.
    design : float64 (n, k), optional
        What the positions are adjusted for.

    Returns
    -------
    correlation : float
    n : int
        The links with another link in their cell.
    error : float
        The standard error of a correlation of 0: one over the root of the degrees of freedom.
    """
    kept = np.flatnonzero((cells >= 0) & ~np.isnan(other) & ~np.isnan(own))
    _, code, counts = np.unique(cells[kept], return_inverse=True, return_counts=True)
    kept = kept[counts[code] > 1]
    if len(kept) < MIN_LINKS:
        return 0.0, 0, np.inf
    _, code, counts = np.unique(cells[kept], return_inverse=True, return_counts=True)
    both = np.column_stack([_ranks_within(code, one[kept]) - 0.5 for one in (own, other)])
    freedom = len(kept) - len(counts) - 1
    if design is not None:
        sums = np.zeros((len(counts), design.shape[1]))
        np.add.at(sums, code, design[kept])
        within = design[kept] - (sums / counts[:, np.newaxis])[code]
        within = within[:, np.abs(within).max(axis=0, initial=0) > 1e-9]
        both -= within @ np.linalg.lstsq(within, both, rcond=1e-9)[0]
        freedom -= within.shape[1]
    (one, product), (_, two) = both.T @ both
    if freedom < MIN_LINKS or one * two <= 1e-12 * len(kept) ** 2:
        return 0.0, 0, np.inf
    return float(np.clip(product / np.sqrt(one * two), -1, 1)), len(kept), float(1 / np.sqrt(freedom))


def is_told(correlation: float, n: int, error: float) -> bool:
    """Return whether a correlation of positions, of n links, is one that is warned of."""
    return n >= MIN_LINKS and abs(correlation) > max(MIN_CORRELATION, ERRORS * error)


def adjustment(records: Records, rows: np.ndarray) -> np.ndarray:
    """Return what positions are adjusted for: the places of numbers, frequent categories and fifths; float64 (n, k)."""
    places, dummies = list[np.ndarray](), list[np.ndarray]()
    for values in records.variables.values():
        codes = values.codes["puf"][rows]
        if values.places is not None:
            place = values.places["puf"][rows].astype(np.float64)
            places.append(np.where(np.isnan(place), 0.5, place))
        counts = np.bincount(codes + 1)
        frequent = np.argsort(-counts, kind="stable")[:MAX_DUMMIES]
        dummies += [codes + 1 == code for code in frequent if 1 < counts[code] < len(rows)]
    dummies.sort(key=lambda column: -min(int(column.sum()), len(rows) - int(column.sum())))
    most = len(rows) // LINKS_PER_COLUMN
    return np.array([*places, *dummies][:most], np.float64).reshape(-1, len(rows)).T.copy()


def _placed(records: Records, order: Order, other: Order, found: float, n: int) -> FileOrder:
    """Return an order of both files with the positions, within strata or in the whole file, that tell most."""
    placed = list(scales(records, order, other, reverse=found < 0))
    nearer = [share_nearer(records, *positions) for positions in placed]
    best = int(np.argmin(nearer))
    return FileOrder(order.name, other.name, found, n, nearer[best], *placed[best])


def scales(records: Records, order: Order, other: Order, *, reverse: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield positions of the records of both files: within strata, in the whole file, and numbers of serial keys."""
    sides = {"puf": order.rank, "eif": -other.rank if reverse else other.rank}
    inside = {side: (records.strata[side] >= 0) & ~np.isnan(rank) for side, rank in sides.items()}
    for scope in ("stratum", "file"):
        both = []
        for side, rank in sides.items():
            cells = records.strata[side][inside[side]] if scope == "stratum" else np.zeros(int(inside[side].sum()), int)
            position = np.full(len(rank), np.nan)
            position[inside[side]] = _ranks_within(cells, rank[inside[side]])
            both.append(position)
        yield both[0], both[1]
    if order.number is not None and other.number is not None and not reverse:
        shift = np.median(order.number[records.links.puf] - other.number[records.links.eif])
        yield order.number, other.number + shift


def share_nearer(records: Records, puf: np.ndarray, eif: np.ndarray) -> float:
    """Return the share of the other EIF records of the stratum that are nearer than the partner, the median over links.

    Records that are equally near count one half.
    """
    shares = list[float]()
    groups, strata = records.groups["eif"], records.strata["puf"][records.links.puf]
    order = np.argsort(strata, kind="stable")
    for links in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        others = np.sort(eif[groups.members(int(strata[links[0]]))])
        others = others[~np.isnan(others)]
        own, partner = puf[records.links.puf[links]], eif[records.links.eif[links]]
        known = ~np.isnan(own) & ~np.isnan(partner)
        own, distance = own[known], np.abs(own - partner)[known]
        slack = 1e-12 * np.maximum(np.abs(own), 1)
        near, within = (
            np.searchsorted(others, own + reach, "right") - np.searchsorted(others, own - reach, "left")
            for reach in (distance - slack, distance + slack)
        )
        near = np.maximum(near, 0)
        if len(others) > 1:
            shares += ((near + (within - near - 1) / 2) / (len(others) - 1)).tolist()
    return float(np.median(shares)) if shares else 1.0
