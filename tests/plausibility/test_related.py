"""Whether a variable goes with the others alike in both files (METHODS §1.1)."""

import numpy as np
import pytest
from making import descriptions
from reident.plausibility import related

CHANGES = {
    "the same": (lambda _, values: values, True),
    "other values": (lambda rng, values: values + rng.normal(size=len(values)), True),
    "permuted": (lambda rng, values: rng.permutation(values), False),
    "turned round": (lambda _, values: -values, False),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("side", [0, 1])
def test_a_column_goes_with_the_others_unless_it_is_another_one(change, side):
    rng = np.random.default_rng(7)
    ability = rng.normal(size=900)
    columns = {f"v{at}": ability + rng.normal(size=900) for at in range(4)}
    numbers = {name: [values[:500], values[300:]] for name, values in columns.items()}
    make, alike = CHANGES[change]
    numbers["v0"][side] = make(rng, numbers["v0"][side])
    assert related.is_alike(descriptions.records_of(numbers), "v0") is alike


def test_what_nothing_predicts_is_not_known():
    rng = np.random.default_rng(8)
    numbers = {f"v{at}": (rng.normal(size=400), rng.normal(size=400)) for at in range(3)}
    assert related.is_alike(descriptions.records_of(numbers), "v0") is None
