"""Numbers of a file in another unit than those of another file (METHODS §1)."""

import numpy as np
import pytest
from making.examples import cases
from reident.plausibility.conversions import find, of_distributions

FACTORS = [1000, 1 / 1000, 100, 0.01, 12, 1 / 12, 52, 2.2046, 0.4536, 1.609, 2.54, 0.3937, 12000]


def drawn(seed, factor):
    """Protected numbers of one file, those of another in another unit, and linked pairs, of drawn sizes."""
    random = np.random.default_rng(seed)
    n, links, noise = (int(random.integers(200, 2001)), int(random.integers(20, 301)), random.choice([0, 0.05, 0.1]))
    kind = random.choice(["income", "height", "weight"])
    true = {"income": random.lognormal(10, 0.7, n), "height": random.normal(170, 9, n)}.get(
        kind, random.normal(75, 13, n)
    )
    own = np.round(true * np.exp(noise * random.normal(size=n)))
    other = np.round(true / factor, 3 if factor >= 1 else 0)
    chosen = random.permutation(n)[:links]
    return own, other, (own[chosen], other[chosen])


def test_the_factor_of_thirty_drawn_pairs_is_found():
    """Within 1 %, from 20 to 300 links."""
    for seed in range(30):
        factor = FACTORS[seed % len(FACTORS)]
        found = find(*drawn(seed, factor)[2])
        assert found is not None, seed
        assert found.plus == 0
        assert abs(float(found.times) / factor - 1) < 0.01, (seed, factor, found)


def test_the_same_unit_is_left_alone():
    for seed in range(30):
        own, other, linked = drawn(seed, 1)
        assert find(*linked) is None, seed
        assert of_distributions(np.sort(own), np.sort(other)) is None, seed


AGES = np.random.default_rng(1).integers(16, 90, 500).astype(float)
DEGREES = np.random.default_rng(2).normal(15, 8, 500).round(1)
PAIRS = [
    ("a year of birth", AGES, 2026 - AGES, (-1, 2026)),
    ("a year without its century", 2026 - AGES, 126 - AGES, (1, 1900)),
    ("a reversed scale", AGES % 5 + 1, 6 - (AGES % 5 + 1), (-1, 6)),
    ("degrees", (DEGREES * 1.8 + 32).round(1), DEGREES, (1.8, 32)),
]


@pytest.mark.parametrize(("ours", "theirs", "expected"), cases(PAIRS))
def test_offsets_and_reversed_numbers_are_found(ours, theirs, expected):
    found = find(ours[:80], theirs[:80])
    assert (float(found.times), float(found.plus)) == pytest.approx(expected, rel=0.01)


def test_distributions_show_a_factor_without_links():
    incomes = np.sort(np.random.default_rng(3).lognormal(10, 0.7, 400).round())
    found = of_distributions(incomes, np.sort((incomes / 1000).round(1)))
    assert (found.times, found.plus, found.n) == (1000, 0, 0)


def test_what_is_not_related_has_no_unit():
    random = np.random.default_rng(4)
    first, second = random.normal(50, 9, 300), random.normal(5000, 900, 300)
    assert find(first, second) is None
    assert find(np.empty(0), np.empty(0)) is None
    assert of_distributions(np.empty(0), np.empty(0)) is None
    same = np.full(300, 7.0)
    assert find(same, same) is None
