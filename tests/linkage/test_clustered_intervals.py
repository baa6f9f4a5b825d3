"""Intervals of clustered records: those of the oracle, and how often they cover the rate in simulated studies (§6)."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.studies import in_clusters, in_strata, manifest, pairs, spread, study
from oracles import rating as oracle
from reident.linkage import batches, cluster_sums, intervals, rates
from reident.linkage import step as linkage_step

RECORDS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)).map(
        lambda row: (row[0], min(row[1], row[2]), row[2])
    ),
    max_size=12,
)


@given(records=RECORDS, level=st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_intervals_of_clusters_are_those_of_the_oracle(records, level):
    """Clusters without a record in the denominator do not count; the ends stay in [0, 1] around the rate."""
    found = intervals.clustered(spread(records), level)
    expected = oracle.clustered(records, level)
    if expected is None:
        assert found == (None, None)
        return
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    hits, n = (sum(row[at] for row in records) for at in (1, 2))
    assert 0 <= found.low <= hits / n <= found.high <= 1


@st.composite
def marked_records(draw):
    """Records by cluster and stratum (None for no stratum), which of them count, and which of these are marked."""
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, 6), st.sampled_from([None, 0, 1]), st.booleans(), st.booleans()),
            min_size=1,
            max_size=14,
        )
    )
    return [(cluster, line, chosen, chosen and marked) for cluster, line, chosen, marked in rows]


@given(records=marked_records(), span=st.integers(1, 8), rows=st.integers(1, 5))
def test_sums_over_clusters_do_not_depend_on_what_is_in_memory(records, span, rows):
    """Nor on the numbers of the clusters: sums of each line, and clusters with a record that counts, one by one."""
    columns = list(zip(*records, strict=True))
    chosen, marked = (np.array(column) for column in columns[2:])
    with patch.object(cluster_sums, "RANGE", span), patch.object(batches, "ROWS", rows):
        clusters = cluster_sums.Clusters(in_clusters(*columns[0]), in_strata(*columns[1]), 2)
        spreads, everyone = clusters.spreads(chosen, marked), clusters.spreads()
    for at, line in enumerate((None, 0, 1)):
        inside = [row for row in records if line is None or row[1] == line]
        assert spreads[at] == spread((cluster, int(hit), int(n)) for cluster, _, n, hit in inside)
        assert spreads[at].clusters == len({row[0] for row in inside if row[2]})
        assert spreads[at].hit == len({row[0] for row in inside if row[3]})
        assert everyone[at].clusters == len({row[0] for row in inside})


SIZES = np.array([1, 2, 3, 4, 5])
SHARES = np.array([0.3, 0.3, 0.2, 0.15, 0.05])
SUSPECTED, CONFIRMED = 0.6, np.array([0.10, 0.12, 0.2, 0.25, 0.3])
"""Households by size; the share of records that are suspected, and of these the mean share confirmed, by size."""

RATE = (SHARES * SIZES * CONFIRMED).sum() / (SHARES * SIZES).sum()


def survey(rng, households, correlation):
    """The household of each suspected record, and whether it is confirmed: beta-binomial within a household."""
    kind = rng.choice(len(SIZES), households, p=SHARES)
    if correlation < 1:
        strength = 1 / correlation - 1
        chance = rng.beta(CONFIRMED[kind] * strength, (1 - CONFIRMED[kind]) * strength)
    else:
        chance = (rng.random(households) < CONFIRMED[kind]).astype(float)
    household = np.repeat(np.arange(households), SIZES[kind])
    household = household[rng.random(len(household)) < SUSPECTED]
    return household, rng.random(len(household)) < chance[household]


def coverage(studies, households, correlation, seed):
    """The share of simulated studies whose interval has the rate: clustered, and Clopper–Pearson."""
    rng = np.random.default_rng(seed)
    methods = {
        method: linkage_step.rating(study(metrics={"unicity": {}}, rates={"interval": method, "cluster": "hh"}))
        for method in ("clustered", "clopper-pearson")
    }
    covered = dict.fromkeys(methods, 0)
    for _ in range(studies):
        household, confirmed = survey(rng, households, correlation)
        n = len(household)
        suspected = pa.table(
            {
                "puf": np.arange(n, dtype=np.int32),
                "eif": np.zeros(n, np.int32),
                "order": np.ones(n, np.int64),
                "confirmed": confirmed,
            }
        )
        tables = pairs(), {"puf": in_strata(*[0] * n), "eif": in_strata(0)}, manifest(("s1", n, 1, 0))
        limit = {"unicity": pd.DataFrame()}
        for method, settings in methods.items():
            line = rates.rate(settings, {}, *tables, {"unicity": suspected}, limit, in_clusters(*household)).iloc[0]
            covered[method] += line["conditional_low"] <= RATE <= line["conditional_high"]
    return {method: count / studies for method, count in covered.items()}


@pytest.mark.slow
def test_the_interval_covers_the_rate_of_clustered_records():
    """Few studies: of 95 %, 120 studies have between 88 % and 100 %."""
    assert 0.88 <= coverage(120, 150, 0.4, seed=1)["clustered"] <= 1


HOUSEHOLDS = [1, 2, 3, 4, 5], [0.3, 0.3, 0.2, 0.15, 0.05]
LARGE = range(1, 9), [0.3, 0.3, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02]
DESIGNS = {
    # clusters, smallest and largest size (or sizes and their shares), correlation, rate, least coverage
    "14 clusters of 5 to 200": (14, (5, 200), 0.1, 0.03, 0.905),
    "60 clusters of 5 to 200": (60, (5, 200), 0.1, 0.03, 0.935),
    "45 households": (45, HOUSEHOLDS, 0.3, 0.1, 0.935),
    "14 clusters, common": (14, (5, 200), 0.1, 0.2, 0.935),
    "60 clusters, common": (60, (5, 200), 0.1, 0.2, 0.935),
    "300 households": (300, HOUSEHOLDS, 0.3, 0.1, 0.935),
    "300 clusters, rare": (300, (5, 200), 0.1, 0.01, 0.935),
    "100 large households": (100, LARGE, 0.6, 0.1, 0.935),
    "25 clusters of 20": (25, (20, 20), 0.3, 0.5, 0.935),
    "one of 300 and 29 of 5 to 20": (30, (5, 20), 0.1, 0.1, 0.935),
    "8 clusters, rare": (8, (5, 200), 0.3, 0.03, 0.85),
}


def clusters_of(rng, k, size):
    """The records of k clusters."""
    if isinstance(size[0], int):
        return rng.integers(size[0], size[1] + 1, k)
    return rng.choice(list(size[0]), k, p=size[1])


@pytest.mark.long
@pytest.mark.parametrize("name", DESIGNS)
def test_the_interval_covers_the_rate_in_the_share_of_2000_studies_that_methods_publishes(name):
    """Beta-binomial clusters of unequal sizes; the figures are in METHODS §6."""
    k, size, correlation, rate, least = DESIGNS[name]
    rng, covered, strength = np.random.default_rng(2026), 0, 1 / correlation - 1
    for _ in range(2000):
        n = clusters_of(rng, k, size)
        if name.startswith("one of 300"):
            n[0] = 300
        hits = rng.binomial(n, rng.beta(rate * strength, (1 - rate) * strength, k))
        found = intervals.clustered(spread(zip(range(k), hits.tolist(), n.tolist(), strict=True)))
        covered += found.low <= rate <= found.high
    assert least <= covered / 2000, covered / 2000


@pytest.mark.long
def test_records_that_depend_on_each_other_are_no_independent_trials():
    found = coverage(1000, 400, 0.9, seed=2026)
    assert found["clustered"] >= 0.93
    assert found["clopper-pearson"] < 0.93
