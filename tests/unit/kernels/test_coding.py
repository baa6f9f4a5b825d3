"""Columns of codes: counted, translated and numbered (METHODS §4.1–4.4, §7)."""

import math

import numpy as np
import pytest
from reident.kernels import coding

SPARSE = [5, 10**9, 10**6]


@pytest.mark.parametrize(
    ("column", "mask", "absent", "expected"),
    [
        ([0, 1, 2, -1], [True, False, True], 9, [0, 9, 1, 9]),
        ([5, 3, 2], [True, True, True], 3, [3, 3, 2]),  # codes beyond the mask
        ([-1, -1], [], 0, [0, 0]),
        ([], [True], 1, []),
        ([0, 1], [True, True], 700, [0, 1]),
    ],
    ids=[
        "a code outside the mask",
        "codes beyond the mask",
        "all missing",
        "no record",
        "more than a byte holds",
    ],
)
def test_recoding_numbers_the_codes_of_a_mask(column, mask, absent, expected):
    result = coding.recode(np.array(column, np.int32), np.array(mask, bool), absent)
    assert result.tolist() == expected
    assert result.dtype == (np.uint8 if absent < 256 else np.int32)


@pytest.mark.parametrize(
    ("puf", "eif", "expected"),
    [
        ([0, 4, -1], [4, 2], ([0, 4, -1], [4, 2], 5)),
        (SPARSE, [10**6, -1], ([0, 2, 1], [1, -1], 3)),
        ([-1], [-1, -1], ([-1], [-1, -1], 0)),
        ([], [], ([], [], 0)),
    ],
    ids=["dense codes stay", "sparse codes keep their order", "all missing", "no record"],
)
def test_compact_codes_fit_a_table(puf, eif, expected):
    puf, eif, n_codes = coding.compact(np.array(puf, np.int32), np.array(eif, np.int32))
    assert (puf.tolist(), eif.tolist(), n_codes) == expected


def test_the_most_frequent_code_of_the_eif_comes_first():
    puf, eif, n_codes = coding.rank_by_frequency(np.array([0, 1, 2, -1]), np.array([2, 2, 1, -1]))
    assert (puf.tolist(), eif.tolist(), n_codes) == ([2, 1, 0, -1], [0, 0, 1, -1], 3)


def test_ranks_are_those_of_the_distinct_values_of_both_files():
    puf, eif, values = coding.rank_values(np.array([7.5, np.nan, -1.0]), np.array([3.0, 7.5]))
    assert (puf.tolist(), eif.tolist(), values.tolist()) == ([2, -1, 0], [1, 2], [-1.0, 3.0, 7.5])


@pytest.mark.parametrize(("counts", "expected"), [([], 0), ([0, 0], 0), ([5], 0), ([3, 3, 0], math.log(2))])
def test_entropy_of_a_frequency_table(counts, expected):
    assert coding.entropy(np.array(counts, np.int64)) == pytest.approx(expected)


def test_frequencies_leave_out_missing_values():
    column = np.array([2, -1, 0, 2], np.int32)
    assert coding.frequencies(column).tolist() == [1, 0, 2]
    assert coding.frequencies(column, 5).tolist() == [1, 0, 2, 0, 0]
