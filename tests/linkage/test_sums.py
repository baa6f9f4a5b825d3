"""Sums of many rows at a time are those of `math.fsum`, bit by bit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.linkage import sums

NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from(
    [0.0, -0.0, 0.1, 1 / 3, 1e16, -1e16, 1.0, 2.0**-53, 2.0**-106, 2.0**-160, 5e-324]
)
LISTS = st.lists(st.lists(NUMBERS, max_size=sums.MAX_TOGETHER + 8), max_size=8)


@given(LISTS)
def test_each_segment_is_summed_exactly_and_rounded_once(segments):
    bounds = np.append(0, np.cumsum([len(one) for one in segments])).astype(np.int64)
    values = np.array([value for one in segments for value in one], float)
    expected = [math.fsum(one) for one in segments]
    assert sums.of_segments(values, bounds).tolist() == expected


@given(st.lists(NUMBERS, max_size=12), st.integers(1, 3))
def test_a_row_does_not_change_those_beside_it(row, times):
    values = np.array([row] * times + [[1.0] * len(row)], float).reshape(times + 1, len(row))
    assert sums.of_rows(values).tolist() == [math.fsum(row)] * times + [float(len(row))]


@pytest.mark.parametrize("row", [[1e308, 1e308, -1e308], [2.0**-160, 1.0, 2.0**160, -(2.0**160), -1.0]])
def test_a_sum_that_two_numbers_do_not_hold_is_left_to_fsum(row):
    try:
        expected = math.fsum(row)
    except OverflowError:
        with pytest.raises(OverflowError):
            sums.of_rows(np.array([row]))
        return
    assert sums.of_rows(np.array([row])).tolist() == [expected]


@given(
    st.lists(
        st.tuples(
            st.floats(1e-200, 1) | st.sampled_from([0.0, 0.1, 1 / 3, 1 - 2.0**-53, 1e-9]),
            st.integers(0, 2**53) | st.sampled_from([1, 3, 2**53 - 1]),
        ),
        max_size=30,
    )
)
def test_a_product_and_its_error_are_exact(pairs):
    values, times = (np.array([pair[0] for pair in pairs], float), np.array([pair[1] for pair in pairs], np.int64))
    products = zip(*(part.tolist() for part in sums.products(values, times)), strict=True)
    for (value, n), (product, error) in zip(pairs, products, strict=True):
        assert Fraction(product) + Fraction(error) == Fraction(value) * n
        assert product == value * n
