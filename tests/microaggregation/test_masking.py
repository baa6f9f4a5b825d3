"""Micro-aggregation gives what the definition gives, with ties, missing values and remainders (METHODS §9)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import microaggregation as oracle
from reident.kernels.groups import microaggregate

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float), st.sampled_from([0.1, 0.2, 0.3, 1e-9, 1e300, -5e-324]), st.floats(-1e6, 1e6)
)


@given(st.lists(st.one_of(st.none(), NUMBERS), max_size=40), st.integers(1, 12), st.sampled_from(["mean", "median"]))
def test_it_is_the_definition(values, k, aggregate):
    found = microaggregate(np.array([np.nan if x is None else x for x in values], float), k, aggregate)
    asked = oracle.microaggregate([None if x is None else Fraction(x) for x in values], k, aggregate)
    for ours, theirs in zip(found.tolist(), asked, strict=True):
        if theirs is None:
            assert ours != ours
        else:
            assert ours == pytest.approx(float(theirs), rel=4e-16, abs=1e-323)


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.integers(1, 12), st.sampled_from(["mean", "median"]))
def test_groups_keep_their_range(values, k, aggregate):
    """At least k records share each masked value, values keep their order, and equal ones stay what they are."""
    ordered = np.sort(np.array(values))
    masked = microaggregate(ordered, k, aggregate)
    assert (np.diff(masked) >= 0).all()
    assert np.unique(masked, return_counts=True)[1].min() >= min(k, len(values))
    assert ordered[0] <= masked[0] <= masked[-1] <= ordered[-1]
    assert microaggregate(np.full(7, values[0]), k, aggregate).tolist() == [values[0]] * 7
