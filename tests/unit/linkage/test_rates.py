"""Rates by hand, published intervals, the baseline of drawing at random, and what is undefined."""

import math

import pandas as pd
import pyarrow as pa
import pytest
from making.studies import in_strata, manifest, pairs, study
from reident.linkage import rates
from reident.pipeline import parts

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
    assert rates.interval(successes, trials, method) == pytest.approx((low, high), abs=0.00005)


EDGES = [
    ("with nothing confirmed there is an upper bound", 0, 10, 0.95, (0.0, 1 - 0.025**0.1)),
    ("with all confirmed a lower bound", 10, 10, 0.95, (0.025**0.1, 1.0)),
    ("one of one", 1, 1, 0.95, (0.025, 1.0)),
    ("another level", 0, 1, 0.90, (0.0, 0.95)),
]


@pytest.mark.parametrize(
    ("sentence", "successes", "trials", "level", "found"), EDGES, ids=[case[0] for case in EDGES]
)
def test_intervals_at_the_edges(sentence, successes, trials, level, found):
    assert rates.interval(successes, trials, level=level) == pytest.approx(found, rel=1e-12)


def test_the_interval_of_none_of_none_is_undefined():
    assert rates.interval(0, 0) == (None, None)


def test_more_successes_than_trials_is_a_mistake_of_the_program():
    with pytest.raises(ValueError, match="successes"):
        rates.interval(2, 1)


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
    """Suspected pairs ``puf eif``; those that are confirmed end in ``!``."""
    confirmed = pa.array([row.endswith("!") for row in rows], pa.bool_())
    return pairs(*(row.rstrip("!") for row in rows)).append_column("confirmed", confirmed)


def rated(*rows, **ambiguous):
    """The lines of rates for suspected pairs ``puf eif``, with ``!`` if confirmed, by stratum."""
    part, limit = parts.rating(study()), {"taxicab": limits(**ambiguous)}
    found = rates.rate(part, IUF, STRATA, MANIFEST, {"taxicab": checked(*rows)}, limit)
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
    assert (whole["conditional_low"], whole["conditional_high"]) == rates.interval(2, 3)
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


UNDEFINED = ("conditional_rate", "conditional_low", "conditional_high", "pair_precision", "baseline_rate")


def test_nothing_suspected_leaves_the_conditional_rate_undefined_and_never_0():
    found = rated()
    for stratum in ("ALL", "s1", "s2"):
        assert [found[stratum][name] for name in UNDEFINED] == [None] * 5
        assert [found[stratum][name] for name in ("suspected_rate", "confirmed_rate", "reach")] == [0, 0, 0]
    assert [found["s3"][name] for name in (*UNDEFINED, "reach")] == [None] * 6, "no link at all"
    assert found["s3"]["suspected_rate"] == 0


def test_nothing_confirmed_has_an_upper_bound():
    found = rated("0 2")["ALL"]
    assert [found["conditional_rate"], found["conditional_low"], found["conditional_high"]] == [0, 0, 0.975]


def test_a_stratum_without_puf_records_has_no_rates():
    strata, listed = {"puf": in_strata(None), "eif": in_strata(0, 0, 0, 0)}, manifest(("s1", 0, 4, 0))
    limit = {"unicity": limits().iloc[:0]}
    found = rates.rate(parts.rating(study()), pairs(), strata, listed, {"unicity": checked()}, limit)
    assert found["suspected_rate"].isna().tolist() == [False, True]
    assert found["n_ambiguous"].tolist() == [0, 0]


def test_the_interval_is_that_of_the_study():
    part = parts.rating(study(rates={"interval": "wilson", "level": "0.9"}))
    found = rates.rate(part, IUF, STRATA, MANIFEST, {"taxicab": checked("0 2")}, {"taxicab": limits()})
    assert found["conditional_high"].iloc[0] == rates.interval(0, 1, "wilson", 0.9).high
