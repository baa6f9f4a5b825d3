"""The interval of DIS for its sampling error, in populations whose expectations are known (METHODS §7)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from reident.filerisk import dis, wildcards
from scipy.stats import beta

DRAWS = 800


def populations():
    """People by cell: four kinds of populations, and three that are harder."""
    rng = np.random.default_rng(0)
    return {
        "geometric": rng.geometric(0.3, 3000),
        "lognormal": np.ceil(rng.lognormal(1, 1.5, 3000)).astype(int),
        "power": np.minimum((rng.pareto(1.1, 4000) + 1).astype(int), 3000),
        "even": 8 + rng.poisson(4, 500),
        "few cells": np.ceil(rng.lognormal(1, 1.5, 40)).astype(int),
        "pairs alone": np.full(2000, 2),
        "one large cell": np.array([5000, *[1] * 30]),
    }


POPULATIONS = populations()


def drawn(people, fraction):
    """Cells of one and of two records in each of the draws, and E U / E ΣF: a Bernoulli sample, size by size."""
    size, n = np.unique(people, return_counts=True)
    one = size * fraction * (1 - fraction) ** (size - 1.0)
    two = size * (size - 1) / 2 * fraction**2 * (1 - fraction) ** (size - 2.0)
    rng = np.random.default_rng(1)
    shares = np.stack([one, two, 1 - one - two], axis=1)
    counts = sum(rng.multinomial(cells, np.maximum(own, 0), DRAWS) for cells, own in zip(n, shares, strict=True))
    return counts[:, 0], counts[:, 1], float((n * one).sum() / (n * size * one).sum())


def ends(uniques, pairs, fraction):
    """The interval of each draw; every pair of counts once."""
    known = {}
    for key in zip(uniques.tolist(), pairs.tolist(), strict=True):
        if key not in known:
            known[key] = dis.interval(key[0], 2 * key[1], fraction)
    return np.array([known[key] for key in zip(uniques.tolist(), pairs.tolist(), strict=True)]).T


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_interval_contains_the_truth_in_at_least_94_of_100_samples(name, fraction):
    uniques, pairs, truth = drawn(POPULATIONS[name], fraction)
    low, high = ends(uniques, pairs, fraction)
    defined = uniques + pairs > 0
    assert (np.isfinite(low) == defined).all()
    assert ((low <= truth) & (truth <= high))[defined].mean() >= 0.94
    without = (pairs == 0) & (uniques > 0)
    assert (high[without] == 1).all(), "without a pair nothing says that a match is ever wrong"
    assert (low[without] < 1).all()
    assert (low[(uniques == 0) & defined] == 0).all()


@examples(100)
@given(n_unique=st.integers(0, 40), n_pairs=st.integers(0, 40), fraction=st.sampled_from([0.01, 0.3, 0.9, 1.0]))
def test_the_interval_is_that_of_clopper_and_pearson_on_the_scale_of_dis(n_unique, n_pairs, fraction):
    low, high = dis.interval(n_unique, 2 * n_pairs, fraction)
    value = dis.general(n_unique, 2 * n_pairs, fraction)
    if np.isnan(value):
        assert np.isnan([low, high]).all()
        return
    assert low <= value <= high
    p = [beta.ppf(0.025, n_unique, n_pairs + 1) if n_unique else 0.0]
    p += [beta.ppf(0.975, n_unique + 1, n_pairs) if n_pairs else 1.0]
    expected = [dis.general(own, 2 * (1 - own), fraction) for own in p]
    assert [low, high] == pytest.approx(expected)


@pytest.mark.parametrize(("variables", "levels", "fraction", "missing"), [(4, 6, 0.02, 0.08), (2, 30, 0.1, 0.01)])
def test_with_wildcards_the_interval_contains_the_truth_in_most_samples(variables, levels, fraction, missing):
    """Every person is matched, by a complete key, with records that match every missing value; .92 to .99 in 120."""
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(levels), variables)
    people = np.stack([rng.choice(levels, 3000, p=own) for own in shares], axis=1).astype(np.int32)
    intervals, right, every = [], 0, 0
    for _ in range(60):
        taken = np.flatnonzero(rng.random(len(people)) < fraction)
        codes = people[taken].copy()
        codes[rng.random(codes.shape) < missing] = -1
        sizes = np.where((codes >= 0).all(axis=1), wildcards.matches(codes, codes), 0)
        u, p = ((sizes == size).sum() for size in (1, 2))
        if u + p:
            intervals.append(dis.interval(u, p, fraction, wildcards.independent_pairs(codes, sizes == 2)))
        unique = wildcards.matches(people, codes) == 1
        right, every = right + unique[taken].sum(), every + unique.sum()
    low, high = np.array(intervals).T
    assert ((low <= right / every) & (right / every <= high)).mean() >= 0.85


def test_records_that_match_the_same_record_are_one_event():
    """Records 0 and 1 match each other; 2, 3 and 4 match the incomplete record 5 alone: events of 2 and of 3."""
    codes = np.array([[0, 0], [0, 0], [1, 1], [1, 2], [1, 3], [1, -1]], np.int32)
    sizes = wildcards.matches(codes, codes)
    assert sizes.tolist() == [2, 2, 2, 2, 2, 4]
    assert wildcards.independent_pairs(codes, sizes == 2) == pytest.approx(25 / 13)
    assert wildcards.independent_pairs(codes[2:3], np.array([False])) == 0
