"""Pairs of columns of two files that are the same variable: by name, by codes or distribution, and by true links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

from reident.drafting import codes, dates, names, types
from reident.drafting.links import Links
from reident.drafting.profile import DraftColumn
from reident.drafting.progress import progress
from reident.drafting.sheet import percent
from reident.plausibility import conversions
from reident.plausibility import numbers as linked_numbers
from reident.plausibility.conversions import Conversion
from reident.plausibility.crosstable import CrossTable
from reident.sections.codes import clean, number

_MIN_LINKS = 20
"""Links with both values from which agreement is evidence."""

_MAX_CATEGORIES = 200
_MAX_PAIRS, _NEAREST = 10_000, 3
"""Pairs of columns that are all compared; of more, those of each column with the others that are most like it."""

_SURE_NAME, _SURE_LINKS, _MARGIN = 0.8, 0.7, 0.15
_PERHAPS = 0.4
_MIN_AGREEMENT = 0.5


class _Cell(NamedTuple):
    """The values of one column in linked records, None where missing, and its numbers, NaN for what is none."""

    values: np.ndarray
    numbers: np.ndarray


_Cells: TypeAlias = list[dict[str, _Cell] | None]
"""By side, the values of linked records by column."""


class Evidence(NamedTuple):
    """Why two columns may be the same variable; each from 0 to 1.

    `name` is the similarity of their names. `values` is how much of the records of both files have codes in common, or
    how close the distributions are if they are compared as numbers. `links` is the association of their values in the
    `n` linked records with both: the rank correlation of numbers, or Cramér's V of codes, corrected for its bias; None
    with too few links.
    """

    name: float
    values: float
    links: float | None
    n: int
    numeric: bool

    @property
    def strength(self) -> float:
        """The strength of the association in the links; of numbers in either direction, as age and year of birth."""
        links = self.links or 0.0
        return abs(links) if self.numeric else max(links, 0.0)

    @property
    def score(self) -> float:
        """The evidence as one number."""
        if self.links is None:
            return 0.55 * self.name + 0.45 * self.values
        return 0.35 * self.name + 0.2 * self.values + 0.45 * self.strength


class Pair(NamedTuple):
    """A column of each file that are, or may be, the same variable."""

    puf: DraftColumn
    eif: DraftColumn
    sure: bool
    reason: str
    links: float = 0.0


def pairs(puf: Sequence[DraftColumn], eif: Sequence[DraftColumn], links: Links | None) -> list[Pair]:
    """Return the pairs of columns that are, or may be, the same variable, in the order of the first file.

    A column is in at most one pair: the assignment has the most evidence in total.
    """
    if not puf or not eif:
        return []
    cells = [_cells(links, side, columns) for side, columns in enumerate((puf, eif))]
    found = dict(_by_name(puf, eif, cells))
    theirs = {pair.eif.name for pair in found.values()}
    found |= _assigned(
        [column for column in puf if column.name not in found],
        [column for column in eif if column.name not in theirs],
        cells,
    )
    return [found[column.name] for column in puf if column.name in found]


def _by_name(puf: Sequence[DraftColumn], eif: Sequence[DraftColumn], cells: _Cells) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of columns of one name, unless their values or links are against it."""
    for first, second in _of_one_name(puf, eif):
        evidence = _evidence(first, second, cells)
        if evidence.score >= _PERHAPS and _is_sure(evidence, 1.0):
            yield first.name, Pair(first, second, True, _reason(first, second, evidence, sure=True), evidence.strength)


def _of_one_name(puf: Sequence[DraftColumn], eif: Sequence[DraftColumn]) -> Iterator[tuple[DraftColumn, DraftColumn]]:
    """Yield the columns of both files that alone have the same letters and digits."""
    sides = [{name: [*columns] for name, columns in groupby(sorted(side, key=_joined), _joined)} for side in (puf, eif)]
    for column in puf:
        ours, theirs = (side.get(_joined(column), []) for side in sides)
        if len(ours) == len(theirs) == 1:
            yield column, theirs[0]


def _joined(column: DraftColumn) -> str:
    return names.joined(column.name)


def _assigned(puf: Sequence[DraftColumn], eif: Sequence[DraftColumn], cells: _Cells) -> dict[str, Pair]:
    """Return the pairs of the other columns, by the name of the first."""
    if not puf or not eif:
        return {}
    near = np.ones((len(puf), len(eif)), bool)
    if near.size > _MAX_PAIRS:
        progress(f"{near.size:,} pairs of columns of different names: those that are most alike are compared")
        near = _near(puf, eif, cells)
    evidence = {(row, column): _evidence(puf[row], eif[column], cells) for row, column in np.argwhere(near).tolist()}
    scores = np.zeros(near.shape)
    for place, found in evidence.items():
        scores[place] = found.score if found.score >= _PERHAPS else 0
    result = {}
    for row, column in zip(*linear_sum_assignment(scores, maximize=True), strict=True):
        if scores[row, column]:
            best = evidence[row, column]
            others = [*np.delete(scores[row], column), *np.delete(scores[:, column], row), 0.0]
            sure = _is_sure(best, scores[row, column] - max(others))
            reason = _reason(puf[row], eif[column], best, sure=sure)
            result[puf[row].name] = Pair(puf[row], eif[column], sure, reason, best.strength)
    return result


def _near(puf: Sequence[DraftColumn], eif: Sequence[DraftColumn], cells: _Cells) -> np.ndarray:
    """Return the pairs of columns most alike, :data:`_NEAREST` of each: by ranks in links, or by distributions."""
    if cells[0] and cells[1]:
        ours, theirs = (
            np.array([_ranks(cell[column.name]) for column in side])
            for side, cell in ((puf, cells[0]), (eif, cells[1]))
        )
        likeness = np.abs(ours @ theirs.T)
    else:
        shapes = [np.array([_shape(column) for column in side]) for side in (puf, eif)]
        likeness = -np.abs(shapes[0][:, np.newaxis] - shapes[1][np.newaxis]).sum(axis=2)
    near = np.zeros(likeness.shape, bool)
    np.put_along_axis(near, np.argsort(-likeness, axis=1, kind="stable")[:, :_NEAREST], True, axis=1)
    np.put_along_axis(near, np.argsort(-likeness, axis=0, kind="stable")[:_NEAREST], True, axis=0)
    return near


def _ranks(cell: _Cell) -> np.ndarray:
    """Return the ranks of numbers, or of codes in any order, with the mean 0 and the length 1; 0 where missing."""
    values = cell.numbers
    if np.isnan(values).all():
        order = {
            code: at for at, code in enumerate(sorted({code for code in cell.values.tolist() if code is not None}))
        }
        values = np.array([order.get(code, np.nan) for code in cell.values.tolist()], float)
    present = ~np.isnan(values)
    ranks = np.zeros(len(values))
    ranks[present] = np.unique(values[present], return_inverse=True)[1]
    ranks[present] -= ranks[present].mean() if present.any() else 0
    return ranks / (np.sqrt((ranks**2).sum()) or 1.0)


def _shape(column: DraftColumn) -> np.ndarray:
    """Return deciles of the numbers of a column on a scale that large ones do not rule, and of its codes the shares."""
    if column.sample.size:
        return np.append(np.arcsinh(np.quantile(column.sample, np.arange(0.1, 1, 0.1))), 0.0)
    shares = sorted((rows / max(column.valid, 1) for rows in column.values.values()), reverse=True)[:9]
    return np.array([*shares, *[0.0] * (9 - len(shares)), 1000.0])


def agreeing(puf: Sequence[DraftColumn], eif: Sequence[DraftColumn], links: Links | None) -> list[Pair]:
    """Return the pairs of columns that the links show to agree."""
    return [pair for pair in pairs(puf, eif, links) if pair.links >= _MIN_AGREEMENT] if links else []


def _is_sure(evidence: Evidence, margin: float) -> bool:
    if evidence.links is not None and evidence.n >= 5 * _MIN_LINKS and evidence.strength < 0.1:
        return False
    if evidence.name >= _SURE_NAME:
        return evidence.name >= 0.95 or evidence.values >= 0.3 or evidence.strength >= 0.3 or margin >= 0.3
    return evidence.strength >= _SURE_LINKS and margin >= _MARGIN


def _reason(first: DraftColumn, second: DraftColumn, evidence: Evidence, *, sure: bool) -> str:
    """Return the evidence in words."""
    what = []
    if evidence.name == 1:
        what.append("the same name")
    elif evidence.name >= 0.95:
        what.append("the same name but for a word")
    elif evidence.name >= _SURE_NAME:
        what.append("names of the same meaning")
    elif evidence.name > 0:
        what.append("similar names")
    if evidence.numeric and first.sample.size and second.sample.size:
        what.append(f"distributions that differ by at most {1 - evidence.values:.2f} (KS)")
    elif evidence.values > 0:
        what.append(f"the same codes for {percent(evidence.values)} of the records")
    if evidence.links is not None:
        kind = "rank correlation" if evidence.numeric else "Cramér's V"
        what.append(f"{kind} {evidence.links:.2f} in {evidence.n:,} links")
    text = ", ".join(what) or "no evidence"
    if not sure:
        against = " against it" if evidence.name >= _SURE_NAME else ""
        text = f"perhaps `{second.name}`{against}: {text}"
    return text


def _cells(links: Links | None, side: int, columns: Sequence[DraftColumn]) -> dict[str, _Cell] | None:
    """Return the values of linked records by column, as far as links have them; None without enough links."""
    if links is None or links.compared < _MIN_LINKS:
        return None
    table, cells = links.records[side], dict[str, _Cell]()
    for column in columns:
        if column.name in table.column_names:
            values = _values(table[column.name], column)
            numbers = _numbers(values, column) if column.dates or column.is_numeric else np.full(len(values), np.nan)
            cells[column.name] = _Cell(values, numbers)
    return cells


def _values(cells: pa.ChunkedArray, column: DraftColumn) -> np.ndarray:
    encoded = cells.combine_chunks().dictionary_encode()
    texts = [clean(text) for text in encoded.dictionary.to_pylist()]
    values = np.array([None if text in column.missing else text for text in texts], object)
    return values[encoded.indices.to_numpy()]


def _evidence(first: DraftColumn, second: DraftColumn, cells: _Cells) -> Evidence:
    name = names.similarity(first.name, second.name)
    numeric = _as_numbers(first, second)
    values = _distributions(first, second) if numeric else _codes(first, second)
    links, n = None, 0
    if cells[0] and cells[1] and first.name in cells[0] and second.name in cells[1]:
        links, n = _association(cells[0][first.name], cells[1][second.name], first, second, numeric=numeric)
    return Evidence(name, values, links, n, numeric)


def _as_numbers(first: DraftColumn, second: DraftColumn) -> bool:
    if first.dates and second.dates:
        return True
    if not (first.is_numeric and second.is_numeric):
        return False
    return types.kind([first, second]).kind == "numeric" or min(len(first.values) or 99, len(second.values) or 99) > 12


def _distributions(first: DraftColumn, second: DraftColumn) -> float:
    """Return 1 less the largest difference of the two distribution functions."""
    if not first.sample.size or not second.sample.size:
        return 0.0
    return 1 - conversions.apart(first.sample, second.sample)


def _codes(first: DraftColumn, second: DraftColumn) -> float:
    """Return how much of the records of both files have the same codes with the same shares; numbers by their value."""
    if not first.values or not second.values:
        return 0.0
    shares = []
    for column in (first, second):
        shares_of_column: dict[str, float] = {}
        for code, rows in column.values.items():
            normal = _normal(code)
            shares_of_column[normal] = shares_of_column.get(normal, 0.0) + rows / column.valid
        shares.append(shares_of_column)
    return sum(min(share, shares[1].get(code, 0.0)) for code, share in shares[0].items())


def _normal(code: str) -> str:
    value = number(code)
    return code.casefold() if value is None else repr(value)


def _association(
    ours: _Cell, theirs: _Cell, first_column: DraftColumn, second_column: DraftColumn, *, numeric: bool
) -> tuple[float | None, int]:
    first, second = ours.values, theirs.values
    present = np.array([a is not None and b is not None for a, b in zip(first, second, strict=True)], bool)
    n = int(present.sum())
    if n < _MIN_LINKS:
        return None, n
    if numeric:
        numbers = np.array([ours.numbers, theirs.numbers])
        numbers = numbers[:, present & ~np.isnan(numbers).any(axis=0)]
        return (conversions.rank_correlation(*numbers) if numbers.size else 0.0), n
    if any(column.levels is None or len(column.values) > _MAX_CATEGORIES for column in (first_column, second_column)):
        normal = [np.array([_normal(value) for value in values[present]]) for values in (first, second)]
        return float((normal[0] == normal[1]).mean()), n
    if min(len(set(side[present].tolist())) for side in (first, second)) < 2:
        return None, n  # all have one code, as the heads of households of one person
    return _cramers_v(first[present], second[present]), n


def _cramers_v(first: np.ndarray, second: np.ndarray) -> float:
    """Return Cramér's V, corrected for its bias as by Bergsma (2013)."""
    table = CrossTable.tabulate(first, second).links.to_numpy()
    n, (r, k) = len(first), table.shape
    if min(r, k) < 2:
        return 0.0
    expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / n
    phi = ((table - expected) ** 2 / expected).sum() / n
    phi = max(0.0, phi - (r - 1) * (k - 1) / (n - 1))
    r_, k_ = r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)
    return float(np.sqrt(phi / max(min(r_, k_) - 1, 1e-9))) if min(r_, k_) > 1 else 0.0


def _numbers(values: np.ndarray, column: DraftColumn) -> np.ndarray:
    """Return the numbers of texts, those of days of a column of dates; NaN for None, and for what is none."""

    def parsed(text: str) -> float | None:
        return dates.number(text, column.dates[0]) if column.dates else number(codes.with_point(text, column.decimal))

    numbers = {text: parsed(text) for text in set(values.tolist()) if text is not None}
    found = (numbers.get(text) for text in values.tolist())
    return np.array([np.nan if value is None else value for value in found], float)


def conversion(pair: Pair, linked: tuple[np.ndarray, np.ndarray] | None) -> Conversion | None:
    """Return the conversion of numbers of the second file to those of the first, if they are in another unit."""
    are_dates = bool(pair.puf.dates and pair.eif.dates)
    if not are_dates and not (pair.puf.is_numeric and pair.eif.is_numeric):
        return None
    if linked is not None:
        numbers = np.array([_numbers(linked[0], pair.puf), _numbers(linked[1], pair.eif)])
        numbers = (np.floor(numbers) if are_dates else numbers)[:, np.isfinite(numbers).all(axis=0)]
        if numbers.shape[1] >= conversions.MIN_PAIRS:
            return conversions.find(*numbers, dates=are_dates)
    return None if are_dates else conversions.of_distributions(pair.puf.sample, pair.eif.sample)


def differences(pair: Pair, linked: tuple[np.ndarray, np.ndarray]) -> list[str]:
    """Return what the run tells of numbers that differ to one side, or by one amount, as a reason."""
    values = np.array([_numbers(linked[0], pair.puf), _numbers(linked[1], pair.eif)])
    values = values[:, np.isfinite(values).all(axis=0)]
    if values.shape[1] < conversions.MIN_PAIRS or min(np.ptp(values, axis=1)) == 0:
        return []
    reasons = []
    if (share := linked_numbers.one_sided(*values)) is not None:
        reasons.append(f"of numbers that differ, that of the EIF is the larger one in {percent(share)}")
    if (part := linked_numbers.part_offset(*values, dates=bool(pair.puf.dates))) is not None:
        unit = f" {part[2]}" if pair.puf.dates else ""
        reasons.append(f"{percent(part[0])} of the pairs of numbers differ by exactly {part[1]:+.6g}{unit}")
    return reasons


def linked_codes(links: Links | None, pair: Pair) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the codes of both columns in linked records, None where missing; None without links of them."""
    if links is None or not links.compared:
        return None
    puf, eif = links.records
    if pair.puf.name not in puf.column_names or pair.eif.name not in eif.column_names:
        return None
    return _values(puf[pair.puf.name], pair.puf), _values(eif[pair.eif.name], pair.eif)
