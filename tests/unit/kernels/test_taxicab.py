"""Taxicab's kernel: arguments that it refuses (METHODS §4.2); its pairs are judged in tests/properties."""

import numpy as np
import pytest
from reident.kernels.taxicab import nearest

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
