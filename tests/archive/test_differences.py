"""The differences of rates between two releases, and their intervals (METHODS §10)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.archive import differences
from reident.archive.differences import FELL, GREW, OPEN, SAME, UNCLEAR, Attack, Share, newcombe
from reident.linkage.intervals import interval
from scipy.optimize import brentq
from scipy.stats import binom, norm


def share(hits, records, method="wilson", level=0.95):
    return Share(hits, records, hits / records, *interval(hits, records, method, level))


# Newcombe (1998), Table II, method 10, of p1 - p2: here before is the second sample.
PUBLISHED = [
    ((56, 70), (48, 80), 0.0524, 0.3339),
    ((9, 10), (3, 10), 0.1705, 0.8090),
    ((6, 7), (2, 7), 0.0582, 0.8062),
    ((5, 56), (0, 29), -0.0381, 0.1926),
    ((0, 10), (0, 20), -0.1611, 0.2775),
    ((0, 10), (0, 10), -0.2775, 0.2775),
    ((10, 10), (0, 20), 0.6791, 1.0),
    ((10, 10), (0, 10), 0.6075, 1.0),
]


@pytest.mark.parametrize(("first", "second", "low", "high"), PUBLISHED)
def test_the_interval_is_the_published_one(first, second, low, high):
    ends = newcombe(share(*second), share(*first))
    assert ends == pytest.approx((low, high), abs=5e-5)


def score_ends(hits, records, level):
    """The ends of the score interval by its definition: where the observed rate is z standard errors away."""
    z, rate = norm.ppf((1 + level) / 2), hits / records

    def away(p):
        return (rate - p) ** 2 - z * z * p * (1 - p) / records

    low = 0.0 if hits == 0 else brentq(away, 0, min(rate, 1 - 1e-12), xtol=1e-15)
    high = 1.0 if hits == records else brentq(away, max(rate, 1e-12), 1, xtol=1e-15)
    return low, high


counts = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_interval_is_made_of_the_two_score_intervals(before, after, level):
    (low1, high1), (low2, high2) = score_ends(*before, level), score_ends(*after, level)
    p1, p2 = before[0] / before[1], after[0] / after[1]
    found = newcombe(share(*before, level=level), share(*after, level=level))
    low = p2 - p1 - math.sqrt((p2 - low2) ** 2 + (high1 - p1) ** 2)
    high = p2 - p1 + math.sqrt((high2 - p2) ** 2 + (p1 - low1) ** 2)
    assert found == pytest.approx((max(-1, low), min(1, high)), abs=1e-9)
    assert found.low <= p2 - p1 <= found.high
    back = newcombe(share(*after, level=level), share(*before, level=level))
    assert (-back.high, -back.low) == pytest.approx(found, abs=1e-12)


def test_the_interval_covers_the_difference_of_independent_samples():
    """Exact coverage over all outcomes of two binomial samples: the mean near the level, never far below."""
    covered = []
    for (n1, p1), (n2, p2) in itertools.product([(40, 0.05), (40, 0.3), (60, 0.5)], [(50, 0.1), (50, 0.6)]):
        weights = np.outer(binom.pmf(range(n1 + 1), n1, p1), binom.pmf(range(n2 + 1), n2, p2))
        inside = [
            [ends.low <= p2 - p1 <= ends.high for ends in (newcombe(share(x, n1), share(y, n2)) for y in range(n2 + 1))]
            for x in range(n1 + 1)
        ]
        covered.append(float((weights * np.array(inside)).sum()))
    assert min(covered) > 0.92
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)


# The comparison of rates --------------------------------------------------------------------------


def line(metric, stratum, n_puf, suspected, confirmed, single=(0, 0), **more):
    ends = interval(confirmed, suspected)
    return {
        "metric": metric, "stratum": stratum, "n_puf": n_puf, "n_suspected": suspected, "n_confirmed": confirmed,
        "suspected_rate": suspected / n_puf, "confirmed_rate": confirmed / n_puf,
        "conditional_rate": confirmed / suspected if suspected else None,
        "conditional_low": ends.low, "conditional_high": ends.high,
        "n_single": single[1], "n_single_confirmed": single[0],
        "single_rate": single[0] / single[1] if single[1] else None,
        "expected_correct_rate": 0.1, "best_rank_correct_rate": 0.1, "reach": 0.2, "pair_precision": 0.05,
        "baseline_rate": 0.01, **more,
    }  # fmt: skip


def attack(*lines, groups=None, method="clopper-pearson", level=0.95):
    return Attack(pd.DataFrame(lines), groups or {}, method, level)


def by_rate(before, after, *, same_records=False, group=None, metric="taxicab"):
    found = differences.compare(before, after, same_records=same_records)
    return {one.rate: one for one in found if one.group == group and one.metric == metric}


def test_every_rate_has_its_counts_and_a_direction():
    before = attack(line("taxicab", "ALL", 1000, 400, 40, (3, 10)))
    after = attack(line("taxicab", "ALL", 1200, 400, 90, (9, 20)))
    found = by_rate(before, after)
    assert {name: one.direction for name, one in found.items()} == {
        "suspected_rate": FELL, "confirmed_rate": GREW, "conditional_rate": GREW, "single_rate": UNCLEAR,
        "expected_correct_rate": OPEN, "best_rank_correct_rate": OPEN, "reach": OPEN, "pair_precision": OPEN,
        "baseline_rate": OPEN,
    }  # fmt: skip
    confirmed = found["confirmed_rate"]
    assert (confirmed.before[:3], confirmed.after[:3]) == ((40, 1000, 0.04), (90, 1200, 0.075))
    assert confirmed.change == pytest.approx(0.035)
    assert (confirmed.low, confirmed.high) == pytest.approx(newcombe(share(40, 1000), share(90, 1200)))
    # The interval of each release is that of its study, and not the one behind the difference.
    assert confirmed.before[3:] == pytest.approx(interval(40, 1000))
    assert found["conditional_rate"].after[3:] == pytest.approx(interval(90, 400))


def test_rates_on_the_same_file_are_exact():
    before, after = (attack(line("taxicab", "ALL", 1000, 400, hits)) for hits in (40, 41))
    found = by_rate(before, after, same_records=True)
    assert found["confirmed_rate"].direction == GREW
    assert found["confirmed_rate"].low is None
    assert found["suspected_rate"].direction == SAME
    assert by_rate(before, after)["confirmed_rate"].direction == UNCLEAR


@pytest.mark.parametrize("clustered", [("before",), ("after",), ("before", "after")])
def test_clustered_rates_have_the_intervals_of_the_studies(clustered):
    wide = {"conditional_low": 0.02, "conditional_high": 0.2}
    sides = [
        attack(line("taxicab", "ALL", 1000, 400, 40, **wide), method="clustered" if side in clustered else "wilson")
        for side in ("before", "after")
    ]  # fmt: skip
    found = by_rate(*sides)
    one = Share(40, 400, 0.1, 0.02, 0.2)
    assert (found["conditional_rate"].low, found["conditional_rate"].high) == pytest.approx(newcombe(one, one))
    assert found["confirmed_rate"].low is None
    other_level = sides[1]._replace(level=0.9)
    assert by_rate(sides[0], other_level)["conditional_rate"].low is None
