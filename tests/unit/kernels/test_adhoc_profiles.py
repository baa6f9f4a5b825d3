"""What categories cost in bytes: the steps add up to the least cost of the codes of each byte (METHODS §4.4)."""

import numpy as np
import pytest
from reident.kernels.adhoc_profiles import ABSENT, profile_tables
from reident.kernels.adhoc_rules import Exact, Table, flatten

ONE = 10**12
UNIT = ONE // 4


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


@pytest.mark.parametrize("width", [1, 2, 3, 40, 254, 255, 256, 600])
def test_steps_cost_what_the_cheapest_code_of_a_byte_does(width):
    rules = [Exact(), table(width, 1), table(3, 2)]
    flat = flatten(rules, ONE)
    codes = np.array([0, width // 3, width - 1])
    puf_codes = np.stack([codes, codes, codes % 3], axis=1).astype(np.int32)
    profiles = profile_tables(flat, np.arange(3), UNIT, puf_codes)
    for k in (1, 2):
        n, highest = len(rules[k].scores), int(flat.highest[k])
        for code in np.unique(puf_codes[:, k]):
            row = profiles.row[k] + code
            costs = (highest - rules[k].scores[code]) // UNIT
            for byte in range(min(n, ABSENT)):
                own = [cost for y, cost in enumerate(costs) if byte_of(y, n) == byte]
                assert cost_of(profiles, row, byte) == min(own)
            assert cost_of(profiles, row, ABSENT) == highest // UNIT
            assert (profiles.steps[profiles.first[row] : profiles.first[row + 1], 0] == k).all()


def test_only_categories_that_occur_have_steps():
    flat = flatten([Table(np.eye(9, dtype=np.int64) * ONE)], ONE)
    profiles = profile_tables(flat, np.arange(1), ONE, np.array([[2], [-1], [7], [2]], np.int32))
    assert np.flatnonzero(np.diff(profiles.first)).tolist() == [2, 7]


def test_a_file_without_a_present_category_has_no_steps():
    flat = flatten([table(5, 1)], ONE)
    assert not profile_tables(flat, np.arange(1), UNIT, np.full((3, 1), -1, np.int32)).steps.size
    assert not profile_tables(flat, np.arange(1), UNIT, np.empty((0, 1), np.int32)).steps.size


def test_costs_beyond_a_byte_saturate():
    flat = flatten([Table(np.eye(2, dtype=np.int64) * 5 * ONE)], ONE)
    profiles = profile_tables(flat, np.arange(1), 1, np.array([[0]], np.int32))
    assert cost_of(profiles, 0, 0) == 0
    assert cost_of(profiles, 0, 1) == cost_of(profiles, 0, ABSENT) == 255
