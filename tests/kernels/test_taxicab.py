"""Taxicab's kernel against the definition, at sizes that force every path (METHODS §4.2, §5)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples, few_or_many
from making.kernels import METHODS, by_method, with_every_division
from oracles import pairs
from oracles.mixed import as_rows
from reident.kernels.taxicab import nearest

# Compiled code is made per number of variables and of binary digits that the allowed differences take.
VARIABLES = few_or_many([3, 10], [1, 3, 10])
COSTS = [(2, 1), (3, 1), (3, 2), (1, 1), (1, 0), (2, 5)]
EDGES = [63, 64, 65, 127, 129, 511, 512, 513, 700]
SEEDS = st.integers(0, 2**32 - 1)


def table(generator, n, v, categories, missing, scale=1):
    """Some records are drawn, the others repeat one of them with a few values changed."""
    drawn = generator.integers(0, categories, (n, v), dtype=np.int32)
    for i in np.flatnonzero(generator.random(n) < 0.5):
        changed = generator.random(v) < 0.15
        drawn[i] = np.where(changed, drawn[i], drawn[generator.integers(n)])
    drawn *= scale
    drawn[generator.random((n, v)) < missing] = -1
    return drawn


def study(generator, sizes, variables=VARIABLES):
    """Two files and a setting, all from the generator: hypothesis itself would prefer the simplest of everything."""
    v = generator.choice(variables)
    categories = generator.choice([1, 2, 3, 5, 40, 100, 10_000], p=[0.05, 0.2, 0.2, 0.2, 0.15, 0.1, 0.1])
    missing = generator.choice([0, 0.02, 0.2, 0.6, 1], p=[0.2, 0.35, 0.35, 0.08, 0.02])
    scale = generator.choice([1, 200_000], p=[0.8, 0.2])
    n_puf, n_eif = generator.choice(sizes, 2)
    both = table(generator, n_puf + n_eif, v, categories, missing, scale)
    different, missing_cost = generator.choice(COSTS)
    setting = {
        "different": int(different),
        "missing": int(missing_cost),
        "limit": int(
            generator.integers(
                -1 if generator.random() < 0.05 else 0, different * min(v, generator.choice([2, 6, 20])) + 1
            )
        ),
        "keep": int(generator.choice([1, 2, 5, 20, 400])),
    }
    return both[:n_puf], both[n_puf:], setting


@st.composite
def small_studies(draw):
    """Files that hypothesis can shrink."""
    v = draw(st.sampled_from(VARIABLES))
    records = st.lists(st.lists(st.integers(-1, draw(st.integers(0, 3))), min_size=v, max_size=v), max_size=12)
    puf, eif = (np.array(draw(records), np.int32).reshape(-1, v) for _ in range(2))
    different, missing = draw(st.sampled_from(COSTS))
    limit, keep = draw(st.integers(-1, 3 * different)), draw(st.integers(1, 8))
    return puf, eif, {"different": different, "missing": missing, "limit": limit, "keep": keep}


@given(case=small_studies(), method=st.sampled_from(sorted(METHODS)))
def test_small_files_equal_the_definition(case, method):
    puf, eif, setting = case
    assert as_rows(by_method(nearest, method, puf, eif, **setting)) == pairs.nearest(puf, eif, **setting)


def by_numpy(puf, eif, *, different, missing, limit, keep):
    """The definition with whole matrices, for files too large for plain Python."""
    absent = (puf[:, None, :] < 0) | (eif[None, :, :] < 0)
    unlike = (puf[:, None, :] != eif[None, :, :]) & ~absent
    levels = different * unlike.sum(axis=2) + missing * absent.sum(axis=2)
    suspected = [[(h, k) for k, h in enumerate(of_record) if h <= limit] for of_record in levels.tolist()]
    return pairs.kept(suspected, keep)


@examples(100)
@given(seed=SEEDS)
def test_edges_of_words_and_tiles_equal_the_definition(seed):
    generator = np.random.default_rng(seed)
    puf, eif, setting = study(generator, EDGES)
    puf = puf[:130]
    for method in METHODS:
        assert as_rows(by_method(nearest, method, puf, eif, **setting)) == by_numpy(puf, eif, **setting)


@pytest.mark.slow
@examples(20)
@given(seed=SEEDS)
def test_many_variables_equal_the_definition(seed):
    generator = np.random.default_rng(seed)
    puf, eif, setting = study(generator, range(60, 130), [64])
    for method in METHODS:
        assert as_rows(by_method(nearest, method, puf, eif, **setting)) == by_numpy(puf, eif, **setting)


@examples(80)
@given(seed=SEEDS)
def test_method_threads_and_blocks_make_no_difference(seed):
    generator = np.random.default_rng(seed)
    puf, eif, setting = study(generator, range(200, 5000))
    one = by_method(nearest, "pairs", puf, eif, **setting)
    for other in with_every_division(nearest, generator, puf, eif, **setting):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@examples(50)
@given(seed=SEEDS)
def test_order_of_records_and_variables_and_names_of_categories_do_not_matter(seed):
    generator = np.random.default_rng(seed)
    puf, eif, setting = study(generator, range(1, 300))
    method = str(generator.choice(sorted(METHODS)))
    of_puf, of_eif = generator.permutation(len(puf)), generator.permutation(len(eif))
    variables = generator.permutation(puf.shape[1])
    names = {c: generator.integers(10**6) * 1000 + k for k, c in enumerate(np.unique(np.r_[puf, eif]).tolist())}
    names[-1] = -1

    def disguised(codes, records):
        return np.array([[names[c] for c in row] for row in codes[records][:, variables].tolist()], np.int32)

    puf_2, eif_2, level_2, *of_record_2 = by_method(
        nearest, method, disguised(puf, of_puf), disguised(eif, of_eif), **setting
    )
    puf_1, eif_1, level_1, *of_record_1 = by_method(nearest, method, puf, eif, **setting)
    assert sorted(zip(puf_1, eif_1, level_1, strict=True)) == sorted(
        zip(of_puf[puf_2], of_eif[eif_2], level_2, strict=True)
    )
    for one, other in zip(of_record_1, of_record_2, strict=True):
        np.testing.assert_array_equal(one[of_puf], other)


@pytest.mark.slow
@pytest.mark.parametrize("categories", [(2, 5, 7, 3, 18, 50, 9, 4, 25, 12), (2, 5, 5, 3, 5, 5, 2, 4, 5, 5)])
def test_join_equals_pairs_on_a_hundred_thousand_records(categories):
    generator = np.random.default_rng(7)
    v, n = len(categories), 100_000
    likely = [1 / np.arange(1, c + 1) for c in categories]
    both = np.column_stack(
        [generator.choice(c, 2 * n, p=w / w.sum()) for c, w in zip(categories, likely, strict=True)]
    ).astype(np.int32)
    both[n : n + n // 2] = both[: n // 2]
    both[generator.random(both.shape) < 0.05] = -1
    setting = {"different": 2, "missing": 1, "limit": (v - 1) // 2, "keep": 20}
    one = by_method(nearest, "pairs", both[:n], both[n:], **setting, threads=2)
    for method in ("join", "auto"):
        other = by_method(nearest, method, both[:n], both[n:], **setting)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert one[0].size > n / 2


HALF = {"different": 2, "missing": 1}


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
    ],
    ids=["columns", "no variable", "too many variables", "keep", "different", "missing", "huge"],
)
def test_arguments_out_of_range(change, message):
    table = np.zeros((3, 3), np.int32)
    setting = {"puf": table, "eif": table, **HALF, "limit": 4, "keep": 3} | change
    with pytest.raises(ValueError, match=message):
        nearest(setting.pop("puf"), setting.pop("eif"), **setting)
