"""Minimal sample uniques: edges of the machinery, and errors."""

import numpy as np
import pytest
from making.kernels import skewed
from oracles import unicity as oracle
from reident.kernels import suda
from reident.kernels.suda import minimal_uniques


@pytest.mark.parametrize("levels", [64, 65, 255, *(pytest.param(n, marks=pytest.mark.slow) for n in (256, 700))])
def test_any_number_of_categories(levels):
    column = np.arange(levels, dtype=np.int32)
    result = minimal_uniques(np.column_stack([column // 2, column]))
    assert result.counts[:, 1].tolist() == [1 + (levels % 2 == 1 and i == levels - 1) for i in range(levels)]
    assert result.by_level[1][:, 1].tolist() == [1] * levels


@pytest.mark.parametrize("v", [16, 32, *(pytest.param(v, marks=pytest.mark.slow) for v in (15, 31, 57, 60))])
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
    records = np.vstack([records, records[:-1]])  # the last record differs from each pair of others by one variable
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


def _bytes(result):
    return [array.tobytes() for array in (result.counts, result.order, result.variables, *result.by_level)]


def test_neither_threads_nor_blocks_change_a_byte(monkeypatch):
    records = skewed(np.random.default_rng(3), 5000, 8, 6, 0.05)
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
