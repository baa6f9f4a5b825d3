"""Rates of households: by hand, and against counting keys one by one."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.studies import in_clusters, in_strata, manifest, pairs, study
from reident.linkage import clusters, intervals
from reident.pipeline import parts

MANIFEST = manifest(("s1", 3, 4, 2), ("s2", 2, 1, 1), ("s3", 0, 2, 0))


def checked(*rows):
    """Suspected pairs ``puf eif``; those that are confirmed end in ``!``."""
    confirmed = pa.array([row.endswith("!") for row in rows], pa.bool_())
    return pairs(*(row.rstrip("!") for row in rows)).append_column("confirmed", confirmed)


def rated(cluster, stratum, suspected, **rates):
    part = parts.rating(study(rates={"cluster": "hh", **rates}))
    found = clusters.rate(part, in_clusters(*cluster), in_strata(*stratum), MANIFEST, {"taxicab": suspected})
    assert list(found.columns) == clusters.COLUMNS
    return found


def test_rates_of_households_by_hand():
    """Households 0 {0, 1}, 1 {2, 3}, 2 {4}, 3 {5, in no stratum}; household 1 lies in both strata."""
    suspected = checked("0 0", "0 1!", "1 0", "2 0", "3 4!", "3 0!")
    found = rated((0, 0, 1, 1, 2, 3), (0, 0, 0, 1, 1, None), suspected).set_index("stratum")
    counts = found[["n_clusters", "n_suspected", "n_confirmed"]].to_numpy().tolist()
    assert counts == [[4, 2, 2], [2, 2, 1], [2, 1, 1], [0, 0, 0]]
    assert found.loc["ALL", ["suspected_rate", "confirmed_rate", "conditional_rate"]].tolist() == [
        0.5,
        0.5,
        1,
    ]
    assert found.loc["s1", "conditional_rate"] == 0.5
    ends = tuple(found.loc["s1", ["conditional_low", "conditional_high"]])
    assert ends == intervals.interval(1, 2)
    assert found.loc["s3"].drop(["metric", "n_clusters", "n_suspected", "n_confirmed"]).isna().all()


def test_nothing_confirmed_has_a_one_sided_bound():
    found = rated((0, 0, 1), (0, 0, 0), checked("0 0", "1 1", "2 2"), level="0.9").iloc[0]
    assert (found["conditional_rate"], found["conditional_low"]) == (0, 0)
    assert found["conditional_bound"] == pytest.approx(1 - 0.1**0.5, rel=1e-12)


def test_clusters_are_independent_trials_whatever_the_interval_of_records():
    suspected = checked("0 0", "2 1!")
    usual, clustered, wilson = (
        rated((0, 0, 1), (0, 0, 0), suspected, interval=method)
        for method in ("clopper-pearson", "clustered", "wilson")
    )
    pd.testing.assert_frame_equal(usual, clustered)
    assert wilson["conditional_high"].iloc[0] == intervals.interval(1, 2, "wilson").high


def test_a_study_without_clusters_has_no_line():
    assert rated((), (0, 0), checked("0 0")).empty


RECORDS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, 0, 1])), min_size=1, max_size=8)


@given(records=RECORDS, data=st.data())
def test_a_household_is_suspected_or_confirmed_if_a_member_is(records, data):
    household, stratum = (list(column) for column in zip(*records, strict=True))
    compared = [at for at, line in enumerate(stratum) if line is not None]
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(compared), st.booleans()))) if compared else []
    suspected = checked(*(f"{puf} 0{'!' * hit}" for puf, hit in drawn))
    found = rated(household, stratum, suspected)
    for name, line in (("ALL", None), ("s1", 0), ("s2", 1), ("s3", 2)):
        inside = {at for at in range(len(records)) if line is None or stratum[at] == line}
        expected = [
            len({household[at] for at in rows})
            for rows in (inside, {at for at, _ in drawn} & inside, {at for at, hit in drawn if hit} & inside)
        ]
        row = found[found["stratum"] == name].iloc[0]
        assert row[["n_clusters", "n_suspected", "n_confirmed"]].tolist() == expected
