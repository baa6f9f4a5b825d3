"""The kernel of weights against the definition, whatever the weights (METHODS §4.6, §5)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples, few_or_many
from making.kernels import METHODS, by_method, with_every_division
from oracles import patterns as oracle
from oracles.mixed import as_rows
from reident.kernels.weighted import nearest

VARIABLES = few_or_many([3], [1, 3, 10])
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def small_studies(draw):
    """Files that hypothesis can shrink, and weights of any sign and order."""
    v = draw(st.sampled_from(VARIABLES))
    value = st.integers(-1, draw(st.integers(0, 4)))
    records = st.lists(st.lists(value, min_size=v, max_size=v), max_size=12)
    puf, eif = (np.array(draw(records), np.int32).reshape(-1, v) for _ in range(2))
    weight = st.integers(-3, 4)
    weights = np.array(draw(st.lists(st.lists(weight, min_size=4, max_size=4), min_size=v, max_size=v)))
    near = draw(st.lists(st.booleans(), min_size=v, max_size=v))
    return (puf, eif, weights, {"near": near, "least": draw(st.integers(-8, 12)), "keep": draw(st.integers(1, 8))})


@given(case=small_studies(), method=st.sampled_from(sorted(METHODS)))
def test_small_files_equal_the_definition(case, method):
    puf, eif, weights, setting = case
    found = as_rows(by_method(nearest, method, puf, eif, weights, **setting))
    assert found == oracle.nearest(puf, eif, weights, **setting)


def study(generator, sizes):
    """Two files of which some records are copies with changes, and weights as a study would have."""
    v = generator.choice(VARIABLES)
    categories = generator.choice([1, 2, 3, 5, 40, 1000], v)
    n_puf, n_eif = generator.choice(sizes, 2)
    both = generator.integers(0, categories, (n_puf + n_eif, v), dtype=np.int32)
    for i in np.flatnonzero(generator.random(len(both)) < 0.5):
        both[i] = np.where(generator.random(v) < 0.15, both[i], both[generator.integers(len(both))])
    both[generator.random(both.shape) < generator.choice([0, 0.05, 0.3])] = -1
    weights = np.stack([generator.integers(low, high, v) for low, high in ((1, 9), (-3, 3), (-9, 1), (0, 1))], axis=1)
    if generator.random() < 0.3:  # agreement is evidence against a link
        weights[generator.integers(v), 0] = -2
    near = (generator.random(v) < generator.choice([0, 0.5])).tolist()
    highest = int(weights.max(axis=1).sum())
    least = highest - int(generator.integers(0, 5 * min(v, 4) + 1))
    return (
        both[:n_puf],
        both[n_puf:],
        weights * 10**12,
        {"near": near, "least": least * 10**12, "keep": int(generator.choice([1, 5, 20]))},
    )


@examples(60)
@given(seed=SEEDS)
def test_edges_of_words_and_tiles_equal_the_definition(seed):
    generator = np.random.default_rng(seed)
    puf, eif, weights, setting = study(generator, [1, 63, 65, 129, 513])
    puf = puf[:40]
    expected = oracle.nearest(puf, eif, weights, **setting)
    for method in METHODS:
        assert as_rows(by_method(nearest, method, puf, eif, weights, **setting)) == expected


@examples(40)
@given(seed=SEEDS)
def test_method_threads_and_blocks_make_no_difference(seed):
    generator = np.random.default_rng(seed)
    puf, eif, weights, setting = study(generator, range(200, 3000))
    one = by_method(nearest, "pairs", puf, eif, weights, **setting)
    for other in with_every_division(nearest, generator, puf, eif, weights, **setting):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


ONE = np.zeros((1, 1), np.int32)


@pytest.mark.parametrize(
    ("puf", "weights", "keep", "message"),
    [
        (np.zeros((1, 2), np.int32), np.zeros((1, 4), np.int64), 1, "same columns"),
        (ONE, np.zeros((1, 3), np.int64), 1, "row of four"),
        (ONE, np.zeros((1, 4), np.int64), 0, "keep must be"),
        (ONE, np.full((1, 4), 2**61), 1, "64 bits"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(puf, weights, keep, message):
    with pytest.raises(ValueError, match=message):
        nearest(puf, ONE, weights, near=[False], least=0, keep=keep)
