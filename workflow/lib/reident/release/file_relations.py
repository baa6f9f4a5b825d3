"""Relations between the counts of the risk of one file and of matching (METHODS §7, §8, §11)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

from reident.intake.grouping import MAX_MEMBERS
from reident.matching.summary import CLASSES, CONFIDENTIAL
from reident.release.cells import Cell
from reident.release.linear import Relation, at_most, equal

FILE = ("below_2", "below_3", "below_5", "file_records")
CELLS = ("excluded", "category")
"""Conventions under which records are in cells; a wildcard matches across them."""

LARGE = (5, 6, 7, 8, 9)
"""Every number of records in cells of at least five is a sum of these, and no other number is."""


ROWS = tuple(Cell("file_records", other=convention) for convention in ("category", "wildcard"))
"""The counts of all records of the file."""


def of_file(
    cells: Collection[Cell], puf: Callable[[Cell], Cell | None], *, several_rows: bool = False
) -> Iterator[Relation]:
    """Yield the relations between k-anonymity counts (METHODS §7).

    `puf` gives the cell with the number of records of the file, if the edition has it elsewhere, or with `several_rows`
    the number of its units, of which each has one record or more.
    """
    files = {cell._replace(quantity="", other="") for cell in cells if cell.quantity in FILE}
    for base in sorted(files):
        lines = {}
        for convention in (*CELLS, "wildcard"):
            line = [base._replace(quantity=name, other=convention) for name in FILE]
            counts = [cell if cell in cells else None for cell in line]
            lines[convention] = counts
            for smaller, larger in pairwise([cell for cell in counts if cell]):
                yield from at_most("smaller cells are part of larger ones", [(1, smaller)], [(1, larger)])
            if convention in CELLS:
                yield from _whole_cells(base._replace(other=convention), counts)
        yield from _conventions(*(lines[name] for name in (*CELLS, "wildcard")))
        for convention in ("category", "wildcard"):
            if several_rows:
                yield from at_most("a unit has a record", [(1, puf(base))], [(1, lines[convention][3])])
                most = [(MAX_MEMBERS, puf(base))]
                yield from at_most("a unit has few enough records", [(1, lines[convention][3])], most)
            else:
                yield from equal("the file is the PUF", [(1, lines[convention][3])], [(1, puf(base))])
        if not several_rows:
            yield from at_most("complete records are part of the PUF", [(1, lines["excluded"][3])], [(1, puf(base))])


def _sizes(base: Cell, sizes: Sequence[int]) -> list[tuple[int, Cell]]:
    """Return the records in cells of some sizes, as sizes times hidden numbers of cells."""
    return [(size, base._replace(quantity=f"cells_of_{size}")) for size in sizes]


def _whole_cells(base: Cell, counts: Sequence[Cell | None]) -> Iterator[Relation]:
    """Yield the relations of whole cells: 3 and 4 for records of three or four, an even number for pairs."""
    below_2, below_3, below_5, records = counts
    for name, more, fewer, sizes in (
        ("records in cells of two come in pairs", below_3, below_2, (2,)),
        ("records in cells of three and four come in threes and fours", below_5, below_3, (3, 4)),
        ("records in larger cells come in fives at least", records, below_5, LARGE),
    ):
        yield from equal(name, [(1, more), (-1, fewer)], _sizes(base, sizes))


def _conventions(
    excluded: Sequence[Cell | None], category: Sequence[Cell | None], wildcard: Sequence[Cell | None]
) -> Iterator[Relation]:
    """Yield the relations between the conventions for missing values.

    Complete records have the same cell under ``excluded`` and ``category``, and incomplete ones a cell of their own
    under ``category``; no record matches fewer records under ``wildcard`` than under ``category``.
    """
    for below, all_of, wild in zip(excluded, category, wildcard, strict=True):
        yield from at_most("complete records are part of all records", [(1, below)], [(1, all_of)])
        yield from at_most("a wildcard matches more", [(1, wild)], [(1, all_of)])
    for (few, more), (few_of_all, more_of_all) in zip(pairwise(excluded), pairwise(category), strict=True):
        yield from at_most(
            "complete records of a size are part of all records of the size",
            [(1, more), (-1, few)],
            [(1, more_of_all), (-1, few_of_all)],
        )
    yield from equal("wildcards count every record", [(1, wildcard[3])], [(1, category[3])])
    for at, sizes in ((1, (2,)), (2, (3, 4))):
        if all((excluded[at - 1], excluded[at], category[at - 1], category[at])):
            for size in sizes:
                complete, all_of = (
                    line[at]._replace(quantity=f"cells_of_{size}")  # type: ignore[union-attr]
                    for line in (excluded, category)
                )
                yield from at_most("complete cells are part of all cells", [(1, complete)], [(1, all_of)])


def of_matching(cells: Collection[Cell], nested: Sequence[tuple[str, str]]) -> Iterator[Relation]:
    """Yield the relations between the targets by their number of matches (METHODS §8).

    In each pair of `nested` scenarios, the second has every known variable of the first, and others.
    """
    groups: dict[Cell, dict[str, list[Cell]]] = {}
    for cell in sorted(cells):
        if cell.quantity in ("match_targets", "match_own"):
            base = cell._replace(quantity="", other=cell.other.rsplit("|", 2)[0])
            groups.setdefault(base, {"match_targets": [], "match_own": []})[cell.quantity].append(cell)
    for base in groups:
        total = base._replace(quantity="matching_targets", other="")
        classes = [(name, _classes(cells, base, name)) for name in ("match_targets", "match_own")]
        targets = [cell for cell in classes[0][1] if cell]
        if len(targets) == len(CLASSES):
            yield from equal("every target is in one class", [(1, cell) for cell in targets], [(1, total)])
        elif targets:
            yield from at_most("a target is in one class", [(1, cell) for cell in targets], [(1, total)])
        for (low, _), count, hits in zip(CLASSES, classes[0][1], classes[1][1], strict=True):
            yield from at_most("own records are of targets", [(1, hits)], [(1, count)])
            if low == 0:
                yield from equal("who matches no record does not match the own one", [(1, hits)], [])
            elif base.other.endswith(f"|{CONFIDENTIAL}"):
                yield from equal("a record that matches any record matches itself", [(1, hits)], [(1, count)])
    for fewer, more in nested:
        yield from _nested(cells, sorted(groups), fewer, more)


def _classes(cells: Collection[Cell], base: Cell, quantity: str) -> list[Cell | None]:
    """Return the cell of each class of a scenario and file, None where the edition lacks it."""
    counts = []
    for low, high in CLASSES:
        other = f"{base.other}|{low}|{'' if high is None else high}"
        cell = base._replace(quantity=quantity, other=other)
        counts.append(cell if cell in cells else None)
    return counts


def _nested(cells: Collection[Cell], groups: Sequence[Cell], fewer: str, more: str) -> Iterator[Relation]:
    """Yield that a further known variable takes matches away, for the targets with at least each number of them."""
    for base in groups:
        scenario, file = base.other.rsplit("|", 1)
        if scenario != fewer:
            continue
        for quantity in ("match_targets", "match_own"):
            large, small = (_classes(cells, base._replace(other=f"{name}|{file}"), quantity) for name in (fewer, more))
            for at in range(1, len(CLASSES)):
                yield from at_most(
                    "with more known variables fewer records match",
                    [(1, cell) for cell in small[at:]],
                    [(1, cell) for cell in large[at:]],
                )
