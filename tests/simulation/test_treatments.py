"""Each treatment of a simulated release does what it says, on none, one and many records."""

import numpy as np
import pytest
from reident.simulation import treatments

SIX = {"sex": np.array([1, 1, 2, 1, 1, 2]), "age": np.array([30, 50, 40, 31, 52, 90]), "income": np.arange(6) * 10}


def swapped(share, table=None):
    rng = np.random.default_rng(0)
    return treatments.swap(table or SIX, share, ("sex",), "age", ("income",), rng)


def test_swapping_all_exchanges_neighbours_of_one_class():
    out = swapped(1)
    assert out["income"].tolist() == [30, 40, 50, 0, 10, 20]
    assert out["age"] is SIX["age"]


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_noise_keeps_zeros_and_integers(n):
    rng = np.random.default_rng(1)
    assert (treatments.multiply_noise(np.zeros(n, np.int64), 0.5, rng) == 0).all()
    noisy = treatments.multiply_noise(np.full(n, 1000), 0.1, rng)
    assert noisy.dtype == np.int64
    assert (noisy > 0).all()


@pytest.mark.parametrize(
    ("values", "quantile", "expected", "sentence"),
    [
        ([1, 2, 3, 4], 0.5, [1, 2, 2, 2], "the quantile is a value of the file"),
        ([4, 1, 3, 2], 1, [4, 1, 3, 2], "the largest value cuts nothing"),
        ([7, 7, 7], 0.1, [7, 7, 7], "all tied"),
        ([5], 0.5, [5], "one value"),
        ([], 0.5, [], "no value"),
    ],
)
def test_top_coding(values, quantile, expected, sentence):
    assert treatments.top_code(np.array(values, np.int64), quantile).tolist() == expected, sentence


@pytest.mark.parametrize(("share", "differ"), [(0, 0), (0.25, 0.25), (1, 1)])
def test_values_are_replaced_by_those_of_other_records(share, differ):
    values = np.arange(4000)
    out = treatments.replace_by_others(values, share, np.random.default_rng(3))
    assert (out != values).mean() == pytest.approx(differ, abs=0.03)
    assert set(out.tolist()) <= set(values.tolist())


def test_a_larger_share_treats_the_same_records_and_more():
    few, many = (treatments.drawn(500, share, np.random.default_rng(4)) for share in (0.2, 0.6))
    assert (few <= many).all()
    assert few.sum() < many.sum()
