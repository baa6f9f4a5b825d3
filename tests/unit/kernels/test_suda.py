"""Minimal sample uniques: cases a reader can check by hand, edges of the machinery, errors."""

import numpy as np
import pytest
from oracles import minimal_uniques as oracle
from reident.kernels import suda
from reident.kernels.suda import minimal_uniques
from reident.sections.filerisk import MAX_KEY_VARIABLES, MAX_ORDER, MAX_UNLIMITED

CASES = [
    (
        "a rare value is an MSU of size 1, and larger sets with it are not minimal",
        [[0, 0], [0, 1], [1, 1]],
        {0: [0b10], 2: [0b01], 1: [0b11]},
    ),
    (
        "unique only on both: one MSU of size 2 for each",
        [[0, 0], [0, 1], [1, 0], [1, 1]],
        {i: [0b11] for i in range(4)},
    ),
    ("exact copies are never unique", [[0, 0], [0, 0], [1, 1]], {2: [0b01, 0b10]}),
    (
        "a record counts on a set only if it misses no variable of it",
        [[0, -1], [0, 0], [1, 0], [1, 1]],
        {1: [0b11], 2: [0b11], 3: [0b10]},
    ),
    (
        "what a record does not miss can be equal to a fuller record: it is never unique",
        [[0, -1], [0, 0], [0, 1]],
        {1: [0b10], 2: [0b10]},
    ),
    ("one record is unique on each variable that it has", [[0, -1, 3]], {0: [0b001, 0b100]}),
    ("all missing", [[-1, -1]] * 3, {}),
    ("all equal", [[1, 1]] * 3, {}),
]


@pytest.mark.parametrize(("sentence", "records", "expected"), CASES, ids=[case[0] for case in CASES])
def test_cases_checked_by_hand(sentence, records, expected):
    records = np.array(records, np.int32)
    result = minimal_uniques(records)
    for i in range(len(records)):
        sets = expected.get(i, [])
        sizes = [set_.bit_count() for set_ in sets]
        assert result.counts[i].tolist() == np.bincount(sizes, minlength=records.shape[1] + 1).tolist(), (
            sentence
        )
        assert (result.order[i], result.variables[i]) == ((min(sizes), sets[0]) if sets else (0, 0)), sentence
        assert [sum(1 << j for j in s) for s in oracle.minimal_uniques(records)[i]] == sets, (
            "the oracle reads it alike"
        )


def test_by_level_counts_the_sets_of_the_records_with_the_level():
    result = minimal_uniques(np.array([[0, 0], [0, 2], [3, 2], [3, 0], [3, 0]], np.int32))
    # record 1 has {0, 1}, record 0 too, record 2 has {0, 1}; records 3 and 4 are copies
    assert [levels[:, 2].tolist() for levels in result.by_level] == [[2, 0, 0, 1], [1, 0, 2]]
    assert all((levels[:, [0, 1]] == 0).all() for levels in result.by_level)


@pytest.mark.parametrize("n", [0, 1])
def test_no_record_and_one_record(n):
    result = minimal_uniques(np.zeros((n, 3), np.int32))
    assert result.counts.tolist() == [[0, 3, 0, 0]] * n
    assert result.order.tolist() == [1] * n
    assert [len(levels) for levels in result.by_level] == [n] * 3


def test_no_variable():
    result = minimal_uniques(np.zeros((4, 0), np.int32))
    assert result.counts.tolist() == [[0]] * 4
    assert result.by_level == []


@pytest.mark.parametrize(
    "levels", [64, 65, 255, *(pytest.param(n, marks=pytest.mark.slow) for n in (256, 700))]
)
def test_any_number_of_categories(levels):
    column = np.arange(levels, dtype=np.int32)
    result = minimal_uniques(np.column_stack([column // 2, column]))
    assert result.counts[:, 1].tolist() == [1 + (levels % 2 == 1 and i == levels - 1) for i in range(levels)]
    assert result.by_level[1][:, 1].tolist() == [1] * levels


@pytest.mark.parametrize("v", [15, 16, 31, 32, 57, 60])
def test_many_variables_at_every_width_of_a_set(v):
    """Ever more bits for a set: two for 16, four for 32, eight for up to 60 variables."""
    rng = np.random.default_rng(v)
    records = rng.integers(-1, 4, (25 if v < 57 else 8, v)).astype(np.int32)
    result = minimal_uniques(records, max_order=3)
    for i, sets in enumerate(oracle.minimal_uniques(records, 3)):
        assert result.counts[i].tolist() == np.bincount([len(s) for s in sets], minlength=4).tolist()
        assert (result.order[i], result.variables[i]) == (len(sets[0]), sum(1 << j for j in sets[0]))


@pytest.mark.parametrize("v", [15, 16])
def test_the_full_set_can_be_the_only_one(v):
    """The set of all variables, in the last width that holds it and the first that does not."""
    records = np.zeros((v + 1, v), np.int32)
    records[np.arange(v), np.arange(v)] = 1
    records = np.vstack(
        [records, records[:-1]]
    )  # the last record differs from each pair of others by one variable
    result = minimal_uniques(records)
    assert result.order.tolist() == [0] * v + [v] + [0] * v
    assert result.variables[v] == 2**v - 1


@pytest.mark.parametrize(("v", "max_order"), [(28, None), (40, None), (57, None), (60, 7)])
def test_pages_grow_if_a_record_has_many_sets(v, max_order):
    """Seven others differ from record 0 on four variables each, no two on the same: any choice of one of each."""
    records = np.zeros((8, v), np.int32)
    for other in range(7):
        records[other + 1, 4 * other : 4 * other + 4] = 1
    result = minimal_uniques(records, max_order=max_order)
    assert result.counts[0, 7] == result.counts[0].sum() == 4**7
    assert result.counts[1:, 1].tolist() == result.counts[1:].sum(axis=1).tolist() == [4] * 7
    assert (result.order[0], result.variables[0]) == (7, sum(1 << 4 * other for other in range(7)))
    assert [levels[0, 7] for levels in result.by_level[:28]] == [4**6] * 28
    assert [int(levels[:, 1:].sum()) for levels in result.by_level[28:]] == [0] * (v - 28)


def test_arguments_beyond_the_limits_are_refused():
    for v, max_order in ((58, None), (60, 8), (61, 1)):
        with pytest.raises(ValueError, match=f"57 variables, or 60 with a max_order of at most 7, not {v}"):
            minimal_uniques(np.zeros((1, v), np.int32), max_order=max_order)
    with pytest.raises(ValueError, match="at least 1"):
        minimal_uniques(np.zeros((1, 5), np.int32), max_order=0)


def _file(seed, n, v, levels, missing=0.05):
    rng = np.random.default_rng(seed)
    codes = (rng.random((n, v)) ** 2 * levels).astype(np.int32)
    codes[rng.random((n, v)) < missing] = -1
    return codes


def _bytes(result):
    return [array.tobytes() for array in (result.counts, result.order, result.variables, *result.by_level)]


def test_neither_threads_nor_blocks_change_a_byte(monkeypatch):
    records = _file(3, 5000, 8, 6)
    whole = minimal_uniques(records)
    assert whole.counts.sum() > 5000
    assert _bytes(minimal_uniques(records, threads=2)) == _bytes(whole)
    monkeypatch.setattr(suda, "_MIN_BLOCK", 300)
    monkeypatch.setattr(suda, "_BLOCK_BYTES", 1)
    reports = []
    assert _bytes(minimal_uniques(records, threads=2, progress=reports.append)) == _bytes(whole)
    assert reports == sorted(reports)
    assert reports[-1] == 1
    assert len(reports) > 10


def test_an_error_in_the_progress_callback_stops_the_search():
    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        minimal_uniques(_file(3, 100, 3, 6), progress=stop)


def test_the_section_and_the_search_have_the_same_limits():
    assert (MAX_UNLIMITED, MAX_KEY_VARIABLES, MAX_ORDER) == (
        suda.MAX_VARIABLES,
        suda.MAX_LIMITED,
        suda.MAX_ORDER,
    )
