"""The measures of attribute disclosure equal their definitions, record by record (METHODS §12)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import attribution as oracle
from reident.attribution import measures
from reident.intake.radius import Reach, neighbourhoods
from reident.kernels import attributes, keysets

MISSING = -1


def grouped(cells, ranks, n_cells):
    cells, ranks = np.array(cells, np.int32), np.array(ranks, np.int32)
    by_rank = np.argsort(ranks, kind="stable").astype(np.int32)
    return keysets.group(cells, ranks, by_rank[ranks[by_rank] >= 0], n_cells)


def computed(reach, original, released, holdout, linked, values):
    """Measures by the kernel, from keys and values that are places in ``values``; negative for missing."""
    keys = [np.array([one[0] for one in file], np.int32) for file in (original, released, holdout)]
    cells, n_cells = keysets.number_cells([np.concatenate(keys)], [9])
    cells = np.split(cells, np.cumsum([len(own) for own in keys])[:-1])
    ranks = [np.array([one[1] for one in file], np.int32) for file in (original, released, holdout)]
    if reach is None:
        low, high = np.arange(len(values)), np.arange(1, len(values) + 1)
    else:
        size, relative = reach
        low, high = neighbourhoods(np.array(values, float), Reach(size, relative, "closed"))
    files = [grouped(*own, n_cells) for own in zip(cells, ranks, strict=True)]
    own = [np.full(len(original), -1, np.int32) for _ in range(2)]
    for column, released_column in zip(own, (cells[1], ranks[1]), strict=True):
        if linked:
            k = min(len(original), len(released))
            column[:k] = released_column[:k]
    windows = low.astype(np.int32), high.astype(np.int32)
    numeric = reach is not None
    guess = attributes.best_guess(np.sort(ranks[1][ranks[1] >= 0]), *windows, numeric)
    told = attributes.tell(*files, *own, *windows, guess, numeric, linked, 0, 0)
    return measures.measure(told, linked=linked)


records = st.lists(st.tuples(st.integers(MISSING, 3), st.integers(MISSING, 3)), max_size=9)
reaches = st.sampled_from(
    [None, (Fraction(0), False), (Fraction(1), False), (Fraction(1, 2), True), (Fraction(5, 2), True)]
)


@given(
    reach=reaches,
    original=records,
    released=records,
    holdout=records,
    linked=st.booleans(),
    values=st.lists(st.integers(-8, 8), min_size=4, max_size=4, unique=True).map(sorted),
)
@examples(400)
def test_measures_are_those_of_the_definitions(reach, original, released, holdout, linked, values):
    def plain(file):
        return [(None if key < 0 else key, None if at < 0 else values[at]) for key, at in file]

    expected = oracle.measures(reach, plain(original), plain(released), plain(holdout), linked)
    found = computed(reach, original, released, holdout, linked, values)._asdict()
    assert set(found) == set(expected)
    for name, value in expected.items():
        if value is None:
            assert math.isnan(found[name]), name
        else:
            assert found[name] == pytest.approx(float(value), abs=1e-14), name


@given(st.lists(st.tuples(*[st.integers(MISSING, 4)] * 3), max_size=12), st.sampled_from([5, 2**20, 2**31]))
@examples(200)
def test_cells_are_equal_records(rows, levels):
    columns = [np.array([row[at] for row in rows], np.int32) for at in range(3)]
    cells, n_cells = keysets.number_cells(columns, [levels] * 3)
    known = {row: cell for row, cell in zip(rows, cells.tolist(), strict=True) if min(row) >= 0}
    assert len(set(known.values())) == len(known) == n_cells
    assert set(known.values()) == set(range(n_cells))
    for row, cell in zip(rows, cells.tolist(), strict=True):
        assert cell == (known[row] if min(row) >= 0 else -1)
