"""Rates by hand, in any batches, and what is undefined."""

import math
import random
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pytest
from making.studies import in_strata, manifest, pairs, study
from reident.linkage import batches, intervals, rates
from reident.linkage import step as linkage_step
from reident.pipeline.tables import TABLES

# A study by hand. Stratum s1: PUF 0, 1, 2 and EIF 0…3; s2: PUF 3 and EIF 4; s3: PUF 5 alone; PUF 4 is in no stratum.
# Links: 0–0 and 0–1 (both within s1), 1–4 (lost: other strata), 3–4, 4–2 (lost: no stratum).
STRATA = {"puf": in_strata(0, 0, 0, 1, None, 2), "eif": in_strata(0, 0, 0, 0, 1)}
IUF = pairs("0 0", "0 1", "1 4", "3 4", "4 2")
MANIFEST = manifest(("s1", 3, 4, 2), ("s2", 1, 1, 1), ("s3", 1, 0, 0))


def limits(**ambiguous):
    lines = [(stratum, limit, ambiguous.get(stratum, 0)) for stratum in ("ALL", "s1", "s2", "s3") for limit in (5, 6)]
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
    settings, limit = linkage_step.rating(study()), {"taxicab": limits(**ambiguous)}
    found = rates.rate(settings, {}, IUF, STRATA, MANIFEST, {"taxicab": checked(*rows)}, limit)
    assert set(found.columns) == set(TABLES["rate"][0].names)
    assert list(found["stratum"]) == ["ALL", "s1", "s2", "s3"]
    return {
        line["stratum"]: {name: None if pd.isna(value) else value for name, value in line.items()}
        for line in found.to_dict("records")
    }


def values(line, names):
    return [line[name] for name in names.split()]


def test_rates_by_hand():
    """Record 0 is suspected with three of four EIF records, two of them its links; 1 and 3 with one each."""
    found = rated("0 0!", "0 1!", "0 2", "1 3", "3 4!", ALL=2, s1=2)
    whole, s1, s2 = found["ALL"], found["s1"], found["s2"]
    assert values(whole, "n_puf n_eif n_links n_pairs n_suspected n_confirmed") == [6, 5, 5, 5, 3, 2]
    assert values(whole, "n_confirmed_pairs n_ambiguous") == [3, 2]
    assert (s1["n_ambiguous"], s2["n_ambiguous"]) == (2, 0)
    assert values(whole, "suspected_rate confirmed_rate conditional_rate") == [3 / 6, 2 / 6, 2 / 3]
    assert (whole["conditional_low"], whole["conditional_high"]) == intervals.interval(2, 3)
    assert whole["pair_precision"] == 3 / 5
    assert whole["reach"] == 2 / 4, "of the records 0, 1, 3 and 4, which have a link at all"
    assert values(s1, "n_puf n_eif n_links n_suspected n_confirmed") == [3, 4, 2, 2, 1]
    assert s1["reach"] == 1 / 2, "of the records 0 and 1, though the link of 1 leads to another stratum"
    assert values(s2, "suspected_rate confirmed_rate conditional_rate reach") == [1, 1, 1, 1]


def test_claims_are_the_same_to_the_byte_whatever_the_batches(monkeypatch):
    """Thirds, fifths and sevenths have no exact sum of doubles; batches cut records and ranks in two."""
    rng = random.Random(5)  # noqa: S311
    n, rows = 60, []
    for puf in range(n):
        levels = sorted(rng.choice([1, 2, 3]) for _ in range(rng.choice([1, 3, 5, 6, 7])))
        rows += [f"{puf} {eif} {level}{'!' if rng.random() < 0.4 else ''}" for eif, level in enumerate(levels)]
    strata = {"puf": in_strata(*[0] * n), "eif": in_strata(*[0] * 7)}
    by_metric = {"taxicab": checked(*rows)}, {"taxicab": limits()}
    inputs = {}, pairs(), strata, manifest(("s1", n, 7, 0)), *by_metric
    whole = rates.rate(linkage_step.rating(study()), *inputs)
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
        found = rates.rate(linkage_step.rating(study()), *inputs)
        pd.testing.assert_frame_equal(found, whole, check_exact=True)


def test_the_share_that_passes_is_of_records_that_are_compared():
    """Record 4 is in no stratum, record 5 in one without EIF records; ambiguous records pass the threshold too."""
    found = rated("0 0!", "1 3", "3 4!", ALL=1, s1=1)
    assert [found[stratum]["n_compared"] for stratum in ("ALL", "s1", "s2", "s3")] == [4, 3, 1, 0]
    assert [found[stratum]["passing_rate"] for stratum in found] == [1, 1, 1, None]
    assert rated("0 0!", "3 4!")["ALL"]["passing_rate"] == 2 / 4
    assert {line["tolerance"] for line in found.values()} == {0}, "α/2 of two variables is half a variable"


UNDEFINED = "conditional_rate conditional_low conditional_high pair_precision baseline_rate"


def test_nothing_suspected_leaves_the_conditional_rate_undefined_and_never_0():
    found = rated()
    for stratum in ("ALL", "s1", "s2"):
        assert values(found[stratum], UNDEFINED) == [None] * 5
        assert values(found[stratum], "suspected_rate confirmed_rate reach") == [0, 0, 0]
    assert values(found["s3"], f"{UNDEFINED} reach") == [None] * 6, "no link at all"
    assert found["s3"]["suspected_rate"] == 0


def test_nothing_confirmed_has_a_one_sided_bound_beside_the_two_sided_interval():
    found = rated("0 2", "1 2")["ALL"]
    assert values(found, "conditional_rate conditional_low") == [0, 0]
    assert found["conditional_high"] == pytest.approx(1 - math.sqrt(0.025), rel=1e-12)
    assert found["conditional_bound"] == pytest.approx(1 - math.sqrt(0.05), rel=1e-12)
