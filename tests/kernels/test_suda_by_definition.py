"""Minimal sample uniques against the definition, and what must not change them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from making.examples import examples
from making.kernels import skewed
from oracles import unicity as oracle
from reident.kernels.suda import minimal_uniques

SIZES = st.one_of(st.integers(0, 9), st.sampled_from([31, 63, 64, 65, 66, 130]))


def draw_file(seed, n, v, levels, missing, copies):
    """A file with skewed categories, missing values and exact copies."""
    rng = np.random.default_rng(seed)
    return skewed(rng, n, v, rng.integers(1, levels + 1, v), missing, copies)


FILES = st.builds(
    draw_file,
    seed=st.integers(0, 2**32),
    n=SIZES,
    v=st.integers(1, 6),
    levels=st.sampled_from([1, 2, 3, 5, 12, 70]),
    missing=st.sampled_from([0.0, 0.05, 0.4, 1.0]),
    copies=st.sampled_from([0.0, 0.0, 0.3]),
)


def assert_equals_the_definition(result, records, max_order):
    """Compare all that is returned with the sets of the oracle."""
    width = result.counts.shape[1]
    by_level = [np.zeros_like(levels) for levels in result.by_level]
    for i, sets in enumerate(oracle.minimal_uniques(records, max_order)):
        assert result.counts[i].tolist() == np.bincount([len(s) for s in sets], minlength=width).tolist()
        smallest = (len(sets[0]), sum(1 << j for j in sets[0])) if sets else (0, 0)
        assert (result.order[i], result.variables[i]) == smallest
        for variables in sets:
            for j in variables:
                by_level[j][records[i, j], len(variables)] += 1
    assert all(np.array_equal(a, b) for a, b in zip(result.by_level, by_level, strict=True))


@given(records=FILES, max_order=st.none() | st.integers(1, 7), threads=st.integers(1, 2))
def test_equals_the_definition(records, max_order, threads):
    result = minimal_uniques(records, max_order=max_order, threads=threads)
    assert_equals_the_definition(result, records, max_order)


@pytest.mark.slow
@settings(max_examples=10)
@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([1, 12, 70]),
    v=st.integers(58, 60),
    levels=st.sampled_from([2, 4, 40]),
    missing=st.sampled_from([0.0, 0.2, 1.0]),
)
@example(seed=2, n=70, v=60, levels=4, missing=0.2)
def test_sets_of_a_few_of_the_most_variables(seed, n, v, levels, missing):
    records = draw_file(seed, n, v, levels, missing, 0.2)
    assert_equals_the_definition(minimal_uniques(records, max_order=2), records, 2)


@examples(50)
@given(records=FILES, seed=st.integers(0, 2**32))
def test_order_of_records_and_variables_does_not_matter(records, seed):
    rng = np.random.default_rng(seed)
    order, variables = rng.permutation(len(records)), rng.permutation(records.shape[1])
    result, other = minimal_uniques(records), minimal_uniques(records[order][:, variables].copy())
    assert np.array_equal(result.counts[order], other.counts)
    assert np.array_equal(result.order[order], other.order)
    assert all(np.array_equal(result.by_level[j], other.by_level[i]) for i, j in enumerate(variables))


@examples(50)
@given(records=FILES, record=st.integers(0, 200))
def test_an_exact_copy_removes_all_sets_of_its_record(records, record):
    if not len(records):
        return
    record %= len(records)
    result = minimal_uniques(np.vstack([records, records[record]]))
    assert not result.counts[[record, -1]].any()


@examples(50)
@given(records=FILES)
def test_a_sample_unique_of_the_full_set_has_a_minimal_one_and_counts_bound_each_other(records):
    """Sets that hold a variable, over variables, are sets times their size; MSUs hold no other MSU."""
    result = minimal_uniques(records)
    sizes = np.arange(result.counts.shape[1])
    held = sum(levels.sum(axis=0) for levels in result.by_level)
    assert np.array_equal(held, result.counts.sum(axis=0) * sizes)
    complete = (records >= 0).all(axis=1)
    _, inverse, copies = np.unique(records, axis=0, return_inverse=True, return_counts=True)
    unique = complete & (copies[inverse.ravel()] == 1)
    assert (result.order[unique] > 0).all()
