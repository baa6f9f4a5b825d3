"""Rates by hand, published intervals, the baseline of drawing at random, and what is undefined."""

import math
import random
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.studies import in_clusters, in_strata, manifest, pairs, spread, study
from reident.linkage import batches, intervals, rates
from reident.linkage.strata import held_lines
from reident.pipeline import parts

BASELINE = [
    ("one draw of ten, one link", 10, 1, 1, 1 / 10),
    ("two draws", 10, 1, 2, 2 / 10),
    ("three draws of five with two links miss both in one way of ten", 5, 2, 3, 9 / 10),
    ("no link", 10, 0, 5, 0.0),
    ("more draws than there are false records", 5, 3, 3, 1.0),
    ("every record drawn", 4, 1, 4, 1.0),
    ("a million records", 1_000_000, 1, 5, 5 / 1_000_000),
    ("one of one", 1, 1, 1, 1.0),
]


@pytest.mark.parametrize(
    ("sentence", "n_eif", "links", "draws", "chance"), BASELINE, ids=[case[0] for case in BASELINE]
)
def test_the_chance_to_hit_a_link_by_drawing_without_replacement(sentence, n_eif, links, draws, chance):
    assert rates.hit_by_chance(n_eif, links, draws) == pytest.approx(chance, rel=1e-14)


def test_shares():
    assert rates.share(0, 3) == 0
    assert rates.share(3, 3) == 1
    assert rates.share(0, 0) is None


# A study by hand. Stratum s1: PUF 0, 1, 2 and EIF 0…3; s2: PUF 3 and EIF 4; s3: PUF 5 alone; PUF 4 is in no stratum.
# Links: 0–0 and 0–1 (both within s1), 1–4 (lost: other strata), 3–4, 4–2 (lost: no stratum).
STRATA = {"puf": in_strata(0, 0, 0, 1, None, 2), "eif": in_strata(0, 0, 0, 0, 1)}
IUF = pairs("0 0", "0 1", "1 4", "3 4", "4 2")
MANIFEST = manifest(("s1", 3, 4, 2), ("s2", 1, 1, 1), ("s3", 1, 0, 0))


def limits(**ambiguous):
    lines = [
        (stratum, limit, ambiguous.get(stratum, 0))
        for stratum in ("ALL", "s1", "s2", "s3")
        for limit in (5, 6)
    ]
    return pd.DataFrame(lines, columns=["stratum", "max_pairs", "n_ambiguous"]).assign(
        n_ambiguous=lambda frame: frame["n_ambiguous"].where(frame["max_pairs"] == 5, 99)
    )


def checked(*rows):
    """Suspected pairs ``puf eif score``, the score 0.5 if absent; those that are confirmed end in ``!``."""
    cells = [[*row.rstrip("!").split(), "0.5"] for row in rows]
    columns = {
        "score": pa.array([float(cell[2]) for cell in cells], pa.float64()),
        "confirmed": pa.array([row.endswith("!") for row in rows], pa.bool_()),
    }
    table = pairs(*(" ".join(cell[:2]) for cell in cells))
    return pa.table({"puf": table["puf"], "eif": table["eif"], **columns})


def rated(*rows, **ambiguous):
    """The lines of rates for suspected pairs ``puf eif``, with ``!`` if confirmed, by stratum."""
    part, limit = parts.rating(study()), {"taxicab": limits(**ambiguous)}
    found = rates.rate(part, {}, IUF, STRATA, MANIFEST, {"taxicab": checked(*rows)}, limit)
    assert list(found.columns) == rates.COLUMNS
    assert list(found["stratum"]) == ["ALL", "s1", "s2", "s3"]
    return {
        line["stratum"]: {name: None if pd.isna(value) else value for name, value in line.items()}
        for line in found.to_dict("records")
    }


def test_rates_by_hand():
    """Record 0 is suspected with three of four EIF records, two of them its links; 1 and 3 with one each."""
    found = rated("0 0!", "0 1!", "0 2", "1 3", "3 4!", ALL=2, s1=2)
    whole, s1, s2 = found["ALL"], found["s1"], found["s2"]
    assert [
        whole[name] for name in ("n_puf", "n_eif", "n_links", "n_pairs", "n_suspected", "n_confirmed")
    ] == [6, 5, 5, 5, 3, 2]
    assert [whole["n_confirmed_pairs"], whole["n_ambiguous"], s1["n_ambiguous"], s2["n_ambiguous"]] == [
        3,
        2,
        2,
        0,
    ]
    assert [whole["suspected_rate"], whole["confirmed_rate"], whole["conditional_rate"]] == [
        3 / 6,
        2 / 6,
        2 / 3,
    ]
    assert (whole["conditional_low"], whole["conditional_high"]) == intervals.interval(2, 3)
    assert whole["pair_precision"] == 3 / 5
    assert whole["reach"] == 2 / 4, "of the records 0, 1, 3 and 4, which have a link at all"
    assert [s1[name] for name in ("n_puf", "n_eif", "n_links", "n_suspected", "n_confirmed")] == [
        3,
        4,
        2,
        2,
        1,
    ]
    assert s1["reach"] == 1 / 2, "of the records 0 and 1, though the link of 1 leads to another stratum"
    assert [s2[name] for name in ("suspected_rate", "confirmed_rate", "conditional_rate", "reach")] == [
        1,
        1,
        1,
        1,
    ]


def test_the_baseline_by_hand():
    """1 − C(2,3)/C(4,3) for record 0, 0 for record 1 (no link in its stratum), 1 for record 3."""
    found = rated("0 0!", "0 2", "0 3", "1 3", "3 4!")
    assert found["s1"]["baseline_rate"] == pytest.approx((1 + 0) / 2)
    assert found["ALL"]["baseline_rate"] == pytest.approx((1 + 0 + 1) / 3)
    one = rated("0 2")
    assert one["ALL"]["baseline_rate"] == pytest.approx(2 / 4)
    two = rated("0 2", "0 3")
    assert two["ALL"]["baseline_rate"] == pytest.approx(1 - 1 / math.comb(4, 2))


CLAIMS = ("expected_correct", "best_rank_correct", "n_single", "n_single_confirmed", "n_false_outside")


def claimed(*rows, stratum="ALL"):
    line = rated(*rows)[stratum]
    for name in ("expected_correct", "best_rank_correct"):
        assert line[f"{name}_rate"] == (line[name] / line["n_suspected"] if line["n_suspected"] else None)
    assert line["single_rate"] == rates.share(line["n_single_confirmed"], line["n_single"])
    return tuple(line[name] for name in CLAIMS)


GUESSES = [
    ("nothing is suspected", [], (0, 0, 0, 0, 0)),
    ("a single candidate that is right", ["3 4!"], (1, 1, 1, 1, 0)),
    ("a single candidate that is wrong", ["1 0"], (0, 0, 1, 0, 0)),
    ("a record without a link at all", ["2 0"], (0, 0, 1, 0, 1)),
    ("one of two, at the same rank", ["0 0!", "0 2"], (0.5, 0.5, 0, 0, 0)),
    ("one of two, first", ["0 0 0.1!", "0 2 0.2"], (0.5, 1, 0, 0, 0)),
    ("one of two, second", ["0 2 0.1", "0 0 0.2!"], (0.5, 0, 0, 0, 0)),
    ("two of three, one of two at the first rank", ["0 0 1!", "0 2 1", "0 1 2!"], (2 / 3, 0.5, 0, 0, 0)),
    ("two of two", ["0 0!", "0 1!"], (1, 1, 0, 0, 0)),
    ("high is best", ["0 2 9", "0 0 8!"], (0.5, 0, 0, 0, 0)),
    ("several", ["0 0!", "0 2", "0 3", "1 0", "2 0", "3 4!"], (1 + 1 / 3, 1 + 1 / 3, 3, 1, 1)),
]


@pytest.mark.parametrize(("sentence", "rows", "right"), GUESSES, ids=[case[0] for case in GUESSES])
def test_what_is_right_if_the_intruder_names_one_candidate(sentence, rows, right):
    """Expected correct, the same at the best rank, single candidates, those that are right, persons outside."""
    assert claimed(*rows) == pytest.approx(right, rel=1e-15)


def test_a_link_to_another_stratum_is_no_person_outside():
    assert claimed("1 0", stratum="s1")[-1] == 0
    assert claimed("2 0", stratum="s1")[-1] == 1
    assert claimed("2 0", stratum="s2")[-1] == 0


def test_claims_are_the_same_to_the_byte_whatever_the_batches(monkeypatch):
    """Thirds, fifths and sevenths have no exact sum of doubles; batches cut records and ranks in two."""
    rng = random.Random(5)  # noqa: S311
    n, rows = 60, []
    for puf in range(n):
        levels = sorted(rng.choice([1, 2, 3]) for _ in range(rng.choice([1, 3, 5, 6, 7])))
        rows += [
            f"{puf} {eif} {level}{'!' if rng.random() < 0.4 else ''}" for eif, level in enumerate(levels)
        ]
    strata = {"puf": in_strata(*[0] * n), "eif": in_strata(*[0] * 7)}
    inputs = (
        {},
        pairs(),
        strata,
        manifest(("s1", n, 7, 0)),
        {"taxicab": checked(*rows)},
        {"taxicab": limits()},
    )
    whole = rates.rate(parts.rating(study()), *inputs)
    assert whole["expected_correct"].iloc[0] == pytest.approx(
        sum(
            Fraction(sum(row.endswith("!") for row in own), len(own))
            for own in ([row for row in rows if row.startswith(f"{puf} ")] for puf in range(n))
        ),
        rel=1e-15,
    )
    assert 0 < whole["best_rank_correct"].iloc[0] != whole["expected_correct"].iloc[0]
    for size in (1, 2, 3, 11):
        monkeypatch.setattr(batches, "ROWS", size)
        found = rates.rate(parts.rating(study()), *inputs)
        pd.testing.assert_frame_equal(found, whole, check_exact=True)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from([0.0, 0.1, 1 / 3, 2 / 7, 1 - 2.0**-53, 1e-9]),
            st.integers(1, 70),
        ),
        max_size=40,
    ),
    st.sampled_from([1, 2, 3, 2**20]),
)
def test_values_that_come_several_times_are_summed_as_if_each_stood_alone(drawn, rows):
    stratum, values, times = (np.array([line[at] for line in drawn]) for at in range(3))
    lines = rates.Lines(stratum.astype(np.int64), 4)
    with patch.object(batches, "ROWS", rows):
        found = lines.fsum(values.astype(float), times.astype(np.int64))
    each = [
        [value for own, value, n in drawn for _ in range(n) if own in which]
        for which in (range(4), *([at] for at in range(4)))
    ]
    assert found.tolist() == [math.fsum(one) for one in each]


def test_links_are_counted_by_record_whatever_the_batches(monkeypatch):
    """Links of 40 records in three strata and none; every third record is asked for, and none twice."""
    rng = random.Random(7)  # noqa: S311
    own = {side: [rng.choice([0, 1, 2, None]) for _ in range(40)] for side in ("puf", "eif")}
    links = sorted({(rng.randrange(40), rng.randrange(40)) for _ in range(60)})
    strata = {side: in_strata(*own[side]) for side in own}
    records = list(range(0, 40, 3))
    for size in (1, 2, 3, 11, 2**20):
        monkeypatch.setattr(batches, "ROWS", size)
        eif = held_lines(strata["eif"], 3)
        assert eif.dtype == np.int8
        truth = rates.Truth(pairs(*(f"{puf} {eif}" for puf, eif in links)), strata["puf"], eif)
        for part in (records[:5], [], records[5:6], records[6:]):
            found = truth.of(np.array(part, np.int32))
            of = {puf: [eif for own, eif in links if own == puf] for puf in part}
            assert found.stratum.tolist() == [
                -1 if own["puf"][puf] is None else own["puf"][puf] for puf in part
            ]
            assert found.any.tolist() == [bool(of[puf]) for puf in part]
            assert found.inside.tolist() == [
                sum(own["puf"][puf] is not None and own["eif"][eif] == own["puf"][puf] for eif in of[puf])
                for puf in part
            ]


FILES = {
    "complete": pa.table({"x": pa.array([1.0, 2.0]), "c": ["a", "b"], "other": [None, None]}),
    "incomplete": pa.table({"x": pa.array([1.0, 2.0]), "c": ["a", None], "other": [None, None]}),
}


@pytest.mark.parametrize(
    ("puf", "eif", "tolerance"),
    [("complete", "complete", 0), ("complete", "incomplete", 1), ("incomplete", "complete", 1)],
)
def test_the_tolerance_of_unicity_depends_on_missing_linking_values(puf, eif, tolerance):
    """With `auto`, sets of one variable are searched if a linking value is missing; other columns do not count."""
    part, prepared = parts.rating(study(metrics={"unicity": {}})), {"puf": FILES[puf], "eif": FILES[eif]}
    limit = {"unicity": limits().iloc[:0]}
    found = rates.rate(part, prepared, IUF, STRATA, MANIFEST, {"unicity": checked("0 0!")}, limit)
    assert found["tolerance"].tolist() == [tolerance] * 4


def test_the_share_that_passes_is_of_records_that_are_compared():
    """Record 4 is in no stratum, record 5 in one without EIF records; ambiguous records pass the threshold too."""
    found = rated("0 0!", "1 3", "3 4!", ALL=1, s1=1)
    assert {stratum: line["n_compared"] for stratum, line in found.items()} == {
        "ALL": 4,
        "s1": 3,
        "s2": 1,
        "s3": 0,
    }
    assert [found[stratum]["passing_rate"] for stratum in found] == [1, 1, 1, None]
    assert rated("0 0!", "3 4!")["ALL"]["passing_rate"] == 2 / 4
    assert {line["tolerance"] for line in found.values()} == {0}, "α/2 of two variables is half a variable"


UNDEFINED = ("conditional_rate", "conditional_low", "conditional_high", "pair_precision", "baseline_rate")


def test_nothing_suspected_leaves_the_conditional_rate_undefined_and_never_0():
    found = rated()
    for stratum in ("ALL", "s1", "s2"):
        assert [found[stratum][name] for name in UNDEFINED] == [None] * 5
        assert [found[stratum][name] for name in ("suspected_rate", "confirmed_rate", "reach")] == [0, 0, 0]
    assert [found["s3"][name] for name in (*UNDEFINED, "reach")] == [None] * 6, "no link at all"
    assert found["s3"]["suspected_rate"] == 0


def test_nothing_confirmed_has_a_one_sided_bound_beside_the_two_sided_interval():
    found = rated("0 2", "1 2")["ALL"]
    assert [found["conditional_rate"], found["conditional_low"]] == [0, 0]
    assert found["conditional_high"] == pytest.approx(1 - math.sqrt(0.025), rel=1e-12)
    assert found["conditional_bound"] == pytest.approx(1 - math.sqrt(0.05), rel=1e-12)


def test_there_is_no_bound_where_something_is_confirmed_or_nothing_suspected():
    assert rated("0 0!", "1 2")["ALL"]["conditional_bound"] is None
    assert rated()["ALL"]["conditional_bound"] is None


def test_a_stratum_without_puf_records_has_no_rates():
    strata, listed = {"puf": in_strata(None), "eif": in_strata(0, 0, 0, 0)}, manifest(("s1", 0, 4, 0))
    limit = {"unicity": limits().iloc[:0]}
    part, prepared = parts.rating(study(metrics={"unicity": {}})), {"puf": FILES["complete"]}
    found = rates.rate(part, prepared, pairs(), strata, listed, {"unicity": checked()}, limit)
    assert found["suspected_rate"].isna().tolist() == [False, True]
    assert found["n_ambiguous"].tolist() == [0, 0]


def test_the_interval_is_that_of_the_study():
    part = parts.rating(study(rates={"interval": "wilson", "level": "0.9"}))
    found = rates.rate(part, {}, IUF, STRATA, MANIFEST, {"taxicab": checked("0 2")}, {"taxicab": limits()})
    assert found["conditional_high"].iloc[0] == intervals.interval(0, 1, "wilson", 0.9).high


def test_clusters_change_the_interval_and_nothing_else():
    """Records 0 and 1 are one household, 3 another one; 0 and 3 are confirmed."""
    part = parts.rating(study(rates={"interval": "clustered", "cluster": "hh"}))
    cluster = in_clusters(7, 7, 2, 5, 2, 0)
    suspected = {"taxicab": checked("0 0!", "1 3", "3 4!")}
    usual = rates.rate(parts.rating(study()), {}, IUF, STRATA, MANIFEST, suspected, {"taxicab": limits()})
    found = rates.rate(part, {}, IUF, STRATA, MANIFEST, suspected, {"taxicab": limits()}, cluster)
    ends = ["conditional_low", "conditional_high"]
    pd.testing.assert_frame_equal(usual.drop(columns=ends), found.drop(columns=ends))
    assert tuple(found.loc[0, ends]) == intervals.clustered(spread([(7, 1, 1), (7, 0, 1), (5, 1, 1)]))
    assert tuple(found.loc[1, ends]) == (0, 1), "one cluster in s1"
    assert tuple(found.loc[2, ends]) == intervals.interval(1, 1), "one cluster in s2, all of it confirmed"
    assert found.loc[3, ends].isna().all()


def test_with_clustered_intervals_the_bound_counts_clusters():
    part = parts.rating(study(rates={"interval": "clustered", "cluster": "hh", "level": "0.9"}))
    suspected, limit = {"taxicab": checked("0 2", "1 3", "3 4")}, {"taxicab": limits()}
    found = rates.rate(part, {}, IUF, STRATA, MANIFEST, suspected, limit, in_clusters(7, 7, 2, 5, 2, 0))
    assert found["conditional_bound"].iloc[0] == pytest.approx(1 - math.sqrt(0.1), rel=1e-12)
