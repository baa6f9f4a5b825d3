"""Taxicab's kernel: each case a sentence, judged by the definition written out (METHODS §4.2, §5)."""

import numpy as np
import pytest
from oracles import pairs
from reident.kernels.errorset import block_size, pair_cost, plan
from reident.kernels.rows import number_rows
from reident.kernels.taxicab import nearest

METHODS = ["pairs", "join", "auto"]


def codes(records, v):
    return np.array(records, np.int32).reshape(-1, v)


def as_oracle(result):
    puf, eif, level, crowded = result
    return list(zip(puf.tolist(), eif.tolist(), level.tolist(), strict=True)), crowded.tolist()


def drawn(seed, n, v, categories, missing):
    generator = np.random.default_rng(seed)
    table = generator.integers(0, categories, (n, v), dtype=np.int32)
    table[generator.random((n, v)) < missing] = -1
    return table


HALF = {"different": 2, "missing": 1}

CASES = [
    ("no PUF record, no pair", codes([], 3), codes([[0, 1, 2]], 3), HALF | {"limit": 4, "keep": 3}),
    (
        "no EIF record, no pair, no crowded record",
        codes([[0, 1, 2]], 3),
        codes([], 3),
        HALF | {"limit": 4, "keep": 3},
    ),
    (
        "equal records have level 0",
        codes([[3, 5, 4]], 3),
        codes([[3, 5, 4]], 3),
        HALF | {"limit": 0, "keep": 1},
    ),
    (
        "a difference counts as different",
        codes([[3, 5, 4]], 3),
        codes([[3, 6, 4]], 3),
        HALF | {"limit": 2, "keep": 1},
    ),
    (
        "missing in either is missing",
        codes([[-1, 5, 4]], 3),
        codes([[3, -1, 4]], 3),
        HALF | {"limit": 2, "keep": 1},
    ),
    ("missing in both counts once", codes([[-1]], 1), codes([[-1]], 1), HALF | {"limit": 1, "keep": 1}),
    (
        "a level above the limit leaves no pair",
        codes([[3]], 1),
        codes([[4]], 1),
        HALF | {"limit": 1, "keep": 1},
    ),
    ("a negative limit allows no pair", codes([[3]], 1), codes([[3]], 1), HALF | {"limit": -1, "keep": 1}),
    (
        "the best level has more than keep pairs: crowded",
        codes([[1]], 1),
        codes([[1], [1], [2]], 1),
        HALF | {"limit": 2, "keep": 1},
    ),
    (
        "the second level would exceed keep: only the first stays",
        codes([[1]], 1),
        codes([[2], [1], [3]], 1),
        HALF | {"limit": 2, "keep": 2},
    ),
    (
        "keep beyond the number of EIF records keeps all",
        codes([[1]], 1),
        codes([[2], [1], [3]], 1),
        HALF | {"limit": 2, "keep": 10**9},
    ),
    (
        "all missing in both files",
        codes([[-1, -1, -1]] * 3, 3),
        codes([[-1, -1, -1]] * 4, 3),
        HALF | {"limit": 2, "keep": 4},
    ),
    (
        "all equal, as many as keep",
        codes([[7, 7, 7]] * 3, 3),
        codes([[7, 7, 7]] * 4, 3),
        HALF | {"limit": 2, "keep": 4},
    ),
    (
        "all equal, one more than keep",
        codes([[7, 7, 7]] * 3, 3),
        codes([[7, 7, 7]] * 5, 3),
        HALF | {"limit": 2, "keep": 4},
    ),
    (
        "missing values that cost nothing",
        drawn(1, 9, 3, 2, 0.5),
        drawn(2, 9, 3, 2, 0.5),
        {"different": 3, "missing": 0, "limit": 3, "keep": 5},
    ),
    (
        "missing dearer than different",
        drawn(3, 20, 3, 2, 0.3),
        drawn(4, 20, 3, 2, 0.3),
        {"different": 2, "missing": 3, "limit": 5, "keep": 5},
    ),
    (
        "codes up to the largest int32",
        codes([[2**31 - 1, 0, 4], [10**9, 5, 4]], 3),
        codes([[2**31 - 1, 5, 4], [2**31 - 2, 0, 4]], 3),
        HALF | {"limit": 2, "keep": 5},
    ),
    (
        "64 variables, any number of differences",
        drawn(5, 12, 64, 2, 0.1),
        drawn(6, 30, 64, 2, 0.1),
        {"different": 1, "missing": 1, "limit": 64, "keep": 7},
    ),
    (
        "no category in common",
        drawn(7, 9, 3, 5, 0.2),
        drawn(8, 9, 3, 5, 0.2) + 100 * (drawn(8, 9, 3, 5, 0.2) >= 0).astype(np.int32),
        HALF | {"limit": 6, "keep": 9},
    ),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("puf", "eif", "setting"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_definition(puf, eif, setting, method):
    assert as_oracle(nearest(puf, eif, **setting, method=method)) == pairs.nearest(puf, eif, **setting)


def test_types_of_the_result():
    result = nearest(drawn(1, 5, 3, 2, 0), drawn(2, 5, 3, 2, 0), **HALF, limit=4, keep=5)
    assert [a.dtype for a in result] == [np.int64, np.int64, np.int64, np.bool_]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eif": np.zeros((3, 2), np.int32)}, "same columns"),
        ({"puf": np.zeros((3, 0), np.int32), "eif": np.zeros((3, 0), np.int32)}, "at least one variable"),
        ({"puf": np.zeros((3, 65), np.int32), "eif": np.zeros((3, 65), np.int32)}, "at most 64 variables"),
        ({"keep": 0}, "at least"),
        ({"different": 0}, "at least"),
        ({"missing": -1}, "at least"),
        ({"different": 2**61}, "64 bits"),
        ({"method": "guess"}, "method"),
    ],
    ids=["columns", "no variable", "too many variables", "keep", "different", "missing", "huge", "method"],
)
def test_arguments_out_of_range(change, message):
    table = np.zeros((3, 3), np.int32)
    setting = {"puf": table, "eif": table, **HALF, "limit": 4, "keep": 3} | change
    with pytest.raises(ValueError, match=message):
        nearest(setting.pop("puf"), setting.pop("eif"), **setting)


def test_progress_ends_at_one():
    reports = []
    nearest(drawn(1, 50, 3, 3, 0), drawn(2, 50, 3, 3, 0), **HALF, limit=4, keep=5, progress=reports.append)
    assert reports == sorted(reports)
    assert reports[-1] == 1


@pytest.fixture
def rows():
    return number_rows(drawn(1, 500, 3, 9, 0.1), drawn(2, 500, 3, 9, 0.1))


def test_the_most_selective_variable_comes_first():
    codes_of = np.column_stack([np.zeros(60), np.arange(60) % 2, np.arange(60) % 20]).astype(np.int32)
    np.testing.assert_allclose(number_rows(codes_of, codes_of).agree, [1 / 20, 1 / 2, 1])


def test_refining_never_pays_where_comparing_costs_nothing(rows):
    assert np.isinf(plan(rows, 2, 0.0)).all()


def test_refining_pays_sooner_if_comparing_a_pair_costs_more(rows):
    cheap, dear = plan(rows, 1, 0.1), plan(rows, 1, 10.0)
    assert (dear[:2] < cheap[:2]).all()
    assert np.isinf(dear[3]).all()  # no variable is left


def test_few_pairs_are_compared_and_many_are_refined():
    assert pair_cost("auto", 10**6, 10, 2) == pair_cost("pairs", 10**12, 10, 2) == 0
    assert 0 < pair_cost("auto", 10**12, 10, 2) < pair_cost("join", 10**6, 10, 2)


@pytest.mark.parametrize(("per_pair", "expected"), [(0.0, 4000), (1e-3, 4000), (1e9, 1)])
def test_the_size_of_a_block_depends_on_the_cost_of_a_pair(rows, per_pair, expected):
    assert block_size(rows, 2, per_pair, 4000) == pytest.approx(expected, abs=1)
