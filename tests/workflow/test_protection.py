"""The attack before protection, and clusters, through the real command (METHODS §6, §6.1)."""

import copy

import pandas as pd
import pytest
from workflow.commands import PRELOADED, made, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

COUNTS = ["n_puf", "n_suspected", "n_confirmed"]
SHARES = ["suspected_rate", "confirmed_rate", "conditional_rate", "expected_correct_rate"]


def coarser(row):
    """A record as it is released: ages of five years, incomes of thousands, and the south joined to the east."""
    house, person, region, age, income, *rest = row
    age, income = (text if text == "-9" else str(int(text) // base * base) for text, base in ((age, 5), (income, 1000)))
    return [house, person, "E" if region == "S" else region, age, income, *rest]


def study(name, **files):
    changed = copy.deepcopy(small.STUDY) | {"id": name, "metrics": {"taxicab": {}}}
    changed["files"] |= files
    changed["rates"] = {"interval": "clustered", "cluster": "house"}
    return changed


def test_the_attack_before_protection_is_a_study_of_that_file(tmp_path):
    """Its rates are those of a study that releases the untreated file; the study's own are those without it."""
    tables, run = small.rows(150, 250), tmp_path / "run"
    head, *original = tables["puf"]
    released = {**tables, "puf": [head, *map(coarser, original)]}
    full = {"path": "full.csv"}
    both = small.write(tmp_path, study("both", original=full), {**released, "original": [head, *original]})
    usual = small.write(tmp_path, study("usual"), released)
    puf = {"path": "full.csv", "id": ["house", "person"]}
    before = small.write(tmp_path, study("before", puf=puf), tables)
    ended = snakemake(
        *made("both", "protection/rates.csv"), *made("usual", "rates.csv"), *made("before", "rates.csv"),
        studies=[both, usual, before], folder=run, program=PRELOADED,
    )  # fmt: skip
    assert ended.code == 0, ended.shown
    results = run / "results"
    assert (results / "both/rates.csv").read_bytes() == (results / "usual/rates.csv").read_bytes()
    place = results / "both/variants/before-protection"
    assert (place / "rates.csv").read_bytes() == (results / "before/rates.csv").read_bytes()
    check_protection(results)
    check_clusters(results)
    checked = reident("check", both, folder=run)
    assert "both: the chain closes" in checked.shown

    with (tmp_path / "full.csv").open("a", encoding="utf-8") as file:
        file.write(",".join(["777", "9", *original[0][2:]]) + "\n")
    ended = snakemake(*made("both", "protection/rates.csv"), studies=[both], folder=run, program=PRELOADED)
    assert ended.code != 0
    assert any("lacks 0 of its records and has 1 others" in error for error in ended.errors)
    assert "777" not in ended.shown


def check_protection(results):
    """Every line of both attacks is compared, strata by their values."""
    found = pd.read_csv(results / "both/protection/rates.csv")
    sides = {
        side: pd.read_csv(results / name / "rates.csv") for side, name in (("after", "usual"), ("before", "before"))
    }
    for side, ids in (("after", "stratum"), ("before", "stratum_before")):
        lines = found[found[ids].notna()].set_index(["metric", ids])
        expected = sides[side].set_index(["metric", "stratum"])
        for name in (*COUNTS, *SHARES):
            column = lines[f"{name}_{side}"].reindex(expected.index)
            pd.testing.assert_series_equal(column, expected[name], check_names=False, check_dtype=False)
    (south,) = found[(found["n_puf_after"] == 0) & (found["n_puf_before"] > 0)].to_dict("records")
    assert south["n_suspected_before"] > 0, "a region that the EIF alone still has"


def check_clusters(results):
    """Households by key: `house` is the first part of the key of the PUF."""
    found = pd.read_csv(results / "both/clusters.csv").set_index(["metric", "stratum"])
    pairs = pd.read_parquet(results / "both/confirmed/taxicab.parquet")
    line = found.loc["taxicab", "ALL"]
    assert line["n_suspected"] == pairs["house"].nunique() > 0
    assert line["n_confirmed"] == pairs.loc[pairs["confirmed"], "house"].nunique() > 0
    low, high = (pd.read_csv(results / "both/rates.csv")[f"conditional_{end}"].iloc[0] for end in ("low", "high"))
    assert 0 < low < high < 1
