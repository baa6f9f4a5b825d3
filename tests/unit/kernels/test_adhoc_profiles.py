"""What categories cost in bytes: the steps add up to the least cost of the codes of each byte (METHODS §4.4)."""

import itertools

import numpy as np
import pytest
from reident.kernels.adhoc_profiles import ABSENT, SPARE, profile_tables
from reident.kernels.adhoc_rules import Exact, Table, flatten

ONE = 10**12
UNIT = ONE // 4
NONE = np.empty((1, 0), np.int32)


def table(width, seed):
    """Random scores in quarters, without symmetry, whose rows have a largest score of their own."""
    generator = np.random.default_rng([width, seed])
    scores = generator.integers(0, 21, (width, width)) * generator.integers(0, 2, (width, 1))
    return Table(scores.astype(np.int64) * UNIT)


def byte_of(code, width):
    """In a table with more codes than bytes, neighbours share one."""
    return code if width <= ABSENT else int(code / width * ABSENT)


def cost_of(profiles, row, byte):
    """The least that a category costs, and all its steps outside whose interval the byte is."""
    steps = profiles.steps[profiles.first[row] : profiles.first[row + 1]]
    return profiles.least[row] + sum(cost for _, first, width, cost in steps if (byte - first) % 256 > width)


def least_costs(rule, flat, k, code):
    """The least cost of the codes of each byte, and that of a missing value."""
    n, highest = len(rule.scores), int(flat.highest[k])
    own = {byte: [] for byte in range(min(n, ABSENT))}
    for y, score in enumerate(rule.scores[code]):
        own[byte_of(y, n)].append((highest - int(score)) // UNIT)
    return {byte: min(costs) for byte, costs in own.items()} | {ABSENT: highest // UNIT}


def drawn_profiles(rule, n):
    """Profiles of all categories, with n EIF records of some categories and some missing values."""
    width = len(rule.scores)
    flat = flatten([Exact(), rule], ONE)
    rng = np.random.default_rng([width, n])
    eif = rng.choice(rng.integers(-1, width, 9), n).astype(np.int32)
    puf = np.arange(width, dtype=np.int32)
    return (
        flat,
        eif,
        profile_tables(flat, np.arange(2), UNIT, np.stack([puf, puf], axis=1), np.stack([eif, eif])),
    )


@pytest.mark.parametrize("width", [1, 2, 3, 5, 40, 254, 255, 256, 600])
@pytest.mark.parametrize("n", [0, 1, 6, 5000])
def test_steps_cost_hardly_less_than_the_cheapest_code_of_a_byte_and_a_missing_value_costs_most(width, n):
    rule = table(width, 1)
    flat, eif, profiles = drawn_profiles(rule, n)
    for code in range(0, width, max(1, width // 40)):
        row = profiles.row[1] + code
        assert (profiles.steps[profiles.first[row] : profiles.first[row + 1], 0] == 1).all()
        least = least_costs(rule, flat, 1, code)
        costs = {byte: cost_of(profiles, row, byte) for byte in least}
        assert all(costs[byte] <= least[byte] for byte in least)
        assert costs[ABSENT] == least[ABSENT] == max(costs.values())
        bytes_ = [byte_of(int(y), width) for y in eif[eif >= 0]]
        above = sum(least[byte] - profiles.least[row] for byte in bytes_)
        assert sum(least[byte] - costs[byte] for byte in bytes_) <= above // SPARE


def test_few_steps_of_a_function_of_the_distance_cost_nearly_as_much_as_the_best_choice_of_levels():
    width, far = 41, 20
    costs = np.abs(np.subtract.outer(np.arange(width), np.arange(width)))
    flat = flatten([Table((far - costs).clip(min=0).astype(np.int64) * UNIT)], ONE)
    records = np.repeat(np.arange(width, dtype=np.int32), 3)[None, :]
    profiles = profile_tables(flat, np.arange(1), UNIT, np.array([[20]], np.int32), records)
    loss = sum(abs(20 - byte) - cost_of(profiles, 20, byte) for byte in range(width))
    n = len(profiles.steps)
    assert n < far
    least = min(
        sum(2 * (d - max(level for level in (0, *chosen, far) if level <= d)) for d in range(1, far))
        for chosen in itertools.combinations(range(1, far), n - 1)
    )
    assert 0 < loss <= 1.2 * least


def test_only_categories_that_occur_have_steps():
    flat = flatten([Table(np.eye(9, dtype=np.int64) * ONE)], ONE)
    profiles = profile_tables(flat, np.arange(1), ONE, np.array([[2], [-1], [7], [2]], np.int32), NONE)
    assert np.flatnonzero(np.diff(profiles.first)).tolist() == [2, 7]


def test_a_file_without_a_present_category_has_no_steps():
    flat = flatten([table(5, 1)], ONE)
    assert not profile_tables(flat, np.arange(1), UNIT, np.full((3, 1), -1, np.int32), NONE).steps.size
    assert not profile_tables(flat, np.arange(1), UNIT, np.empty((0, 1), np.int32), NONE).steps.size


def test_costs_beyond_a_byte_saturate():
    flat = flatten([Table(np.eye(2, dtype=np.int64) * 5 * ONE)], ONE)
    profiles = profile_tables(flat, np.arange(1), 1, np.array([[0]], np.int32), NONE)
    assert cost_of(profiles, 0, 0) == 0
    assert cost_of(profiles, 0, 1) == cost_of(profiles, 0, ABSENT) == 255
