"""No published count can be told closer than the policy allows (METHODS §11.2)."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import gated
from making.examples import examples
from oracles.attacker import Attacker, alone

POLICIES = ("census-drb", "opensafely", "midpoint-6", "base-5-random", "base-3-random")
SHARE = 0.5
"""The share of its interval that a rounded count keeps; a small one keeps all of it."""


def exact(records, cell):
    """The count of a cell, record by record."""
    quantity, metric, stratum, limit = cell
    chosen = np.ones(len(records.stratum), bool) if stratum == "ALL" else records.stratum == int(stratum) - 1
    sizes = np.bincount(records.stratum, minlength=len(records.n_eif))
    if metric:
        at = gated.METRICS.index(metric)
        return gated.counts(records, at, int(limit) or gated.LIMIT, chosen)[quantity]
    whole = {
        "n_puf": sizes,
        "n_eif": records.n_eif,
        "n_links": records.n_links,
    }[quantity]
    return int(whole.sum() if stratum == "ALL" else whole[int(stratum) - 1])


def attack(seed, policy, folder):
    """Publish a study and attack it; the counts that are told too closely, with widths."""
    records = gated.draw(np.random.default_rng(seed), largest=200)
    gated.publish(gated.passed(records, policy), folder)
    known = {
        "ALL": len(records.stratum),
        **{
            str(at + 1): int(n)
            for at, n in enumerate(np.bincount(records.stratum, minlength=len(records.n_eif)))
        },
    }
    attacker = Attacker(policy, folder, known)
    before = None
    found = []
    for cell in attacker.cells:
        if cell[0] == "n_puf":
            continue
        count = exact(records, cell)
        assert attacker.low[attacker.cells[cell]] <= count <= attacker.high[attacker.cells[cell]]
        rounded, low, high = alone(policy, count)
        required = math.floor((SHARE if rounded else 1) * (high - low))
        width = attacker.width(cell)
        if width < required:
            before = before or Attacker(policy, folder, known, blind=True)
            if width < before.width(cell):  # what nobody published cannot make it narrower
                found.append((cell, count, width, required))
    return found


@settings(examples(80), suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(POLICIES))
def test_no_count_is_told_closer_than_the_policy_allows(seed, policy, tmp_path_factory):
    assert attack(seed, policy, tmp_path_factory.mktemp("edition")) == []


@pytest.mark.long
@pytest.mark.parametrize("batch", range(10))
def test_no_count_of_a_thousand_studies_is_told_closer(batch, tmp_path):
    for seed in range(100 * batch, 100 * batch + 100):
        policy = POLICIES[seed % len(POLICIES)]
        assert attack(seed, policy, tmp_path / str(seed)) == [], seed
