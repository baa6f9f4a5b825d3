"""Values in order by scope, and cut points of many scopes, are those of each scope alone."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.binning import cut_points, group_of
from reident.linkage import batches, quantiles

VALUES = st.integers(-2, 6).map(float) | st.sampled_from([np.nan, 1e300, -1e300, 0.1])
RECORDS = st.lists(st.tuples(VALUES, st.integers(-1, 5)), max_size=40)
SIZES = st.sampled_from([(1, 0), (2, 1), (3, 2), (10, 100), (2**20, 0), (2**20, 2**10)])


def ordered(records, n_scopes, rows, together):
    """What the module makes of records ``(value, scope)`` that come `rows` at a time."""
    sizes = np.bincount([scope for _, scope in records if scope >= 0], minlength=n_scopes)
    parts = [records[start : start + rows] for start in range(0, len(records), rows)]
    arrays = [
        tuple(np.array([record[at] for record in part], kind) for at, kind in ((0, float), (1, np.int32)))
        for part in parts
    ]
    with patch.object(batches, "ROWS", rows), patch.object(quantiles, "MAX_TOGETHER", together):
        return quantiles.ascending(arrays, sizes.astype(np.int64))


def of_scope(records, scope):
    return [value for value, own in records if own == scope and not np.isnan(value)]


@given(RECORDS, SIZES)
def test_values_are_in_order_in_each_scope(records, sizes):
    found = ordered(records, 7, *sizes)
    for scope in range(7):
        expected, start = sorted(of_scope(records, scope)), found.starts[scope]
        assert found.counts[scope] == len(expected)
        assert found.values[start : start + len(expected)].tolist() == expected
        rest = sum(own == scope for _, own in records) - len(expected)
        assert np.isnan(found.values[start + len(expected) :][:rest]).all()


@given(RECORDS, SIZES, st.integers(2, 9))
def test_quantiles_of_scopes_are_those_of_each(records, sizes, bins):
    cuts = quantiles.cut_points_of(ordered(records, 7, *sizes), bins)
    for scope in range(7):
        own = [Fraction(value) for value in of_scope(records, scope)]
        if own:
            assert cuts[scope].tolist() == pytest.approx(
                [float(cut) for cut in cut_points(own, bins)], rel=1e-15
            )
        else:
            assert np.isnan(cuts[scope]).all()


@given(RECORDS, SIZES, st.integers(2, 12), st.sampled_from(["mean", "high"]))
def test_a_group_ends_with_its_largest_value_or_that_of_the_group_before(records, sizes, bins, ties):
    cuts = quantiles.cut_points_of(ordered(records, 7, *sizes), bins, ties)
    for scope in range(7):
        own = of_scope(records, scope)
        for k in range(1, bins):
            below = [value for value in own if group_of(own, value, bins, ties) <= k]
            end = max(below) if below else np.nextafter(min(own), -np.inf) if own else np.nan
            assert cuts[scope, k - 1] == end or (np.isnan(end) and np.isnan(cuts[scope, k - 1]))


def test_without_scopes_nothing_is_cut():
    found = quantiles.ascending([(np.array([1.0]), np.array([-1]))], np.zeros(0, np.int64))
    assert quantiles.cut_points_of(found, 5).shape == (0, 4)
