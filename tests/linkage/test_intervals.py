"""Published intervals, the one-sided bound, and the special cases of clustered records."""

import numpy as np
import pytest
from making.studies import spread
from oracles import rating as oracle
from reident.linkage import intervals
from scipy import stats
from scipy.stats import beta, t

# Newcombe, R. G. (1998), Statistics in Medicine 17, 857–872, table I: the exact (Clopper–Pearson) and the score
# (Wilson) interval of four proportions.
NEWCOMBE = [
    (81, 263, "clopper-pearson", 0.2527, 0.3676),
    (15, 148, "clopper-pearson", 0.0578, 0.1617),
    (0, 20, "clopper-pearson", 0.0000, 0.1684),
    (1, 29, "clopper-pearson", 0.0009, 0.1776),
    (81, 263, "wilson", 0.2553, 0.3662),
    (15, 148, "wilson", 0.0624, 0.1605),
    (0, 20, "wilson", 0.0000, 0.1611),
    (1, 29, "wilson", 0.0061, 0.1718),
]


@pytest.mark.parametrize(("successes", "trials", "method", "low", "high"), NEWCOMBE)
def test_published_intervals(successes, trials, method, low, high):
    assert intervals.interval(successes, trials, method) == pytest.approx((low, high), abs=0.00005)


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("n", [100, 300, 1000, 2000])
def test_an_interval_contains_the_long_run_rate_and_less_often_that_of_one_further_file(n, rate):
    """What METHODS §6 says of the two, each from the distribution of the counts of this file and of a further one."""
    counts = np.arange(n + 1)
    chances = stats.binom.pmf(counts, n, rate)
    low, high = np.array([intervals.interval(int(y), n) for y in counts], dtype=float).T
    assert chances[(low <= rate) & (rate <= high)].sum() >= 0.95
    further = (low[:, None] <= counts / n) & (counts / n <= high[:, None])
    assert 0.815 < chances @ further @ chances < 0.87


EDGES = [
    ("with nothing confirmed there is an upper bound", 0, 10, 0.95, (0.0, 1 - 0.025**0.1)),
    ("with all confirmed a lower bound", 10, 10, 0.95, (0.025**0.1, 1.0)),
    ("one of one", 1, 1, 0.95, (0.025, 1.0)),
    ("another level", 0, 1, 0.90, (0.0, 0.95)),
]


@pytest.mark.parametrize(("sentence", "successes", "trials", "level", "found"), EDGES, ids=[case[0] for case in EDGES])
def test_intervals_at_the_edges(sentence, successes, trials, level, found):
    assert intervals.interval(successes, trials, level=level) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("method", ["clopper-pearson", "wilson"])
def test_counts_of_independent_records_have_the_interval_of_the_study(method):
    expected = oracle.interval({"interval": method, "level": 0.9}, 7, 40)
    assert intervals.of_study(7, 40, method, 0.9) == pytest.approx(expected, rel=1e-9)
    assert intervals.are_independent(method)


BOUNDS = [(1, 0.95, 0.95), (20, 0.95, 1 - 0.05 ** (1 / 20)), (3, 0.9, 1 - 0.1 ** (1 / 3)), (0, 0.95, None)]


@pytest.mark.parametrize(("trials", "level", "bound"), BOUNDS)
def test_the_one_sided_bound_of_0_successes(trials, level, bound):
    assert intervals.one_sided(trials, level) == (bound if bound is None else pytest.approx(bound, rel=1e-12))


def test_the_one_sided_bound_is_the_rate_at_which_0_successes_have_the_remaining_probability():
    bound = intervals.one_sided(137, 0.99)
    assert (1 - bound) ** 137 == pytest.approx(0.01, rel=1e-10)
    assert bound < intervals.interval(0, 137, level=0.99).high


CLUSTERS = [
    ("no records", [], (None, None)),
    ("one cluster, some confirmed", [(0, 1), (0, 0)], (0, 1)),
    ("one cluster, nothing confirmed", [(0, 0), (0, 0)], (0, 0.975)),
    ("nothing confirmed in three clusters", [(0, 0), (1, 0), (1, 0), (2, 0)], (0, 1 - 0.025 ** (1 / 3))),
    ("all confirmed in two clusters", [(4, 1), (4, 1), (9, 1)], (0.025 ** (1 / 2), 1)),
]


@pytest.mark.parametrize(("sentence", "records", "found"), CLUSTERS, ids=[case[0] for case in CLUSTERS])
def test_special_cases_of_clusters(sentence, records, found):
    result = intervals.clustered(spread((cluster, hit, 1) for cluster, hit in records))
    assert result == (found if found[0] is None else pytest.approx(found, rel=1e-12))


def test_clusters_of_one_record_are_nearly_independent_records():
    """The jackknife variance is R(1 − R)/(n − 1): the interval is that of one record less, with n − 1 degrees."""
    found = intervals.clustered(spread((at, hit, 1) for at, hit in enumerate([1, 0, 0, 1, 0, 0, 0])))
    yes, no = 6 * 2 / 7, 6 * 5 / 7
    assert found == pytest.approx((beta.ppf(0.025, yes, no + 1), beta.ppf(0.975, yes + 1, no)), rel=1e-12)


def test_clusters_of_equal_rates_have_at_most_the_records_that_they_have():
    """Where the variance is 0 all records count, less what few clusters of different sizes can tell."""
    found = intervals.clustered(spread([(0, 2, 4), (1, 2, 4), (2, 2, 4), (3, 8, 16)]))
    freedom = 1 / (3 / 49 + 16 / 49) - 1
    n = 28 * (t.ppf(0.975, 27) / t.ppf(0.975, freedom)) ** 2
    assert found == pytest.approx((beta.ppf(0.025, n / 2, n / 2 + 1), beta.ppf(0.975, n / 2 + 1, n / 2)), rel=1e-9)


def test_one_cluster_with_nearly_all_records_tells_nothing():
    found = intervals.clustered(spread([(0, 10**8, 10**9), (1, 1, 1)]))
    assert found == pytest.approx((0, 1), abs=1e-12)
