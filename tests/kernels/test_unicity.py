"""Shared sample uniques: edges of the machinery, and errors."""

from math import comb

import numpy as np
import pytest
from making.kernels import skewed
from oracles import unicity as oracle
from reident.errors import InputError
from reident.kernels.unicity import max_records, shared_uniques
from reident.linkage.metrics import unicity
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.pairing import Pairing, Records, Scope


def pairs(puf, eif, **options):
    """Rows (puf, eif, order, mask) of the kernel."""
    codes = [np.array(file, np.int32).reshape(len(file), -1) for file in (puf, eif)]
    return list(zip(*(column.tolist() for column in shared_uniques(*codes, **options)), strict=True))


@pytest.mark.parametrize("sets", ["all", "full", "jointly_observed"])
@pytest.mark.parametrize(("n_puf", "n_eif"), [(0, 0), (0, 3), (3, 0)])
def test_no_record_no_pair(n_puf, n_eif, sets):
    result = shared_uniques(np.zeros((n_puf, 2), np.int32), np.zeros((n_eif, 2), np.int32), sets=sets)
    assert [len(column) for column in result] == [0, 0, 0, 0]
    assert [str(column.dtype) for column in result] == ["int64", "int64", "int8", "uint64"]


@pytest.mark.parametrize(
    "levels", [64, 65, 254, 255, *(pytest.param(n, marks=pytest.mark.slow) for n in (256, 257, 700))]
)
def test_any_number_of_categories(levels):
    """A variable with a category for each record finds each record's twin alone; so do its neighbours in number."""
    column = np.arange(levels, dtype=np.int32)
    puf = np.column_stack([np.zeros_like(column), column])
    eif = np.column_stack([np.ones_like(column), column[::-1]])
    expected = [(i, levels - 1 - i, 1, 0b10) for i in range(levels)]
    assert pairs(puf, eif) == expected
    assert pairs(puf, eif, sets="jointly_observed") == []
    puf[:, 0] = -1
    assert pairs(puf, eif, sets="jointly_observed") == expected


@pytest.mark.parametrize("v", [61, 63, 64])
def test_more_variables_than_a_cost_has_bits_for(v):
    """Sets are lists of positions: the first smallest one is found among ties, up to the last variable."""
    rng = np.random.default_rng(v)
    puf, eif = (rng.integers(-1, 5, (20, v)).astype(np.int32) for _ in range(2))
    expected = oracle.shared_uniques(puf, eif, "all", 2)
    assert len(expected) > 100
    assert pairs(puf, eif, max_order=2) == expected
    eif[:, -1] = np.arange(20)
    puf[:, -1] = np.arange(20)
    assert (0, 0, 1, 1 << v - 1) in pairs(puf, eif, max_order=1)


def test_sixty_variables_of_large_files_with_sets_of_three():
    """A word holds the EIF position and the place of a set, but not its cost."""
    rng = np.random.default_rng(2)
    puf, eif = (rng.integers(-1, 3, (n, 60)).astype(np.int32) for n in (12, 9))
    common = rng.integers(-1, 3, (150, 60)).astype(np.int32)
    puf, eif = np.vstack([puf, common, common[:1]]), np.vstack([eif, common[::-1], common[:1]])
    few = [0, 7, 31, 32, 58, 59]
    for files in ((puf, eif), (puf[:, few], eif[:, few])):
        puf_codes, eif_codes = (np.ascontiguousarray(file) for file in files)
        limit = 2 if files[0].shape[1] == 60 else 3
        assert pairs(puf_codes, eif_codes, max_order=limit) == oracle.shared_uniques(puf_codes, eif_codes, "all", limit)


def test_too_many_variables_or_records_are_refused():
    with pytest.raises(ValueError, match="at most 64"):
        pairs(np.zeros((1, 65)), np.zeros((1, 65)))
    with pytest.raises(ValueError, match="same"):
        pairs(np.zeros((1, 2)), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="too many"):
        pairs(np.zeros((1, 64)), np.zeros((1, 64)))
    with pytest.raises(ValueError, match="too many"):
        pairs(np.zeros((1, 64)), np.zeros((1, 64)), max_order=10)


@pytest.mark.parametrize("sets", ["all", "full", "jointly_observed"])
def test_threads_do_not_change_a_byte(sets):
    """Large enough for many tasks, and for cells far above one word."""
    rng = np.random.default_rng(7)
    puf, eif = (skewed(rng, 9000, 8, 6, 0.05) for _ in range(2))
    one, two = (shared_uniques(puf, eif, sets=sets, threads=threads) for threads in (1, 2))
    assert len(one[0]) > 5
    assert [column.tobytes() for column in one] == [column.tobytes() for column in two]


def test_files_that_exceed_64_bits_are_refused_with_advice():
    """Of 61 variables, the set of ten and its order take 65 bits; its place among the sets of nine takes 36."""
    assert max_records(61, 9) == 2 ** (64 - sum(comb(61, k) for k in range(1, 10)).bit_length()) - 1
    assert max_records(61, 10) == 0

    def score(n_eif, max_order):
        codes = [np.full((n, 61), 7, np.int32) for n in (1, n_eif)]
        sides = [Records(part, np.full(part.shape, np.nan)) for part in codes]
        scope = Scope(*(side.values for side in sides))
        pairing = Pairing((None,) * 61, *sides, (None,) * 61, np.full(61, np.nan), scope)
        return unicity.score(pairing, unicity.Options(max_order=max_order), ScoringContext(20, 1))

    assert score(1, 9).score.tolist() == [1]
    with pytest.raises(
        InputError, match=r"of up to 10 of 61 linking variables on at most 0 records .* has 2; .*`max_order`"
    ):
        score(2, 10)
    with pytest.raises(ValueError, match="too many for sets up to order 10"):
        shared_uniques(np.zeros((1, 61), np.int32), np.zeros((2, 61), np.int32), max_order=10)
