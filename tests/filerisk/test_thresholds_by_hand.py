"""k-map, δ-presence and thresholds of a small file and its population, counted by hand (METHODS §7.6)."""

import pandas as pd
import pytest
from making.studies import as_text
from reident.filerisk import prepare as intake
from reident.filerisk import step as filerisk_step
from reident.filerisk import thresholds
from reident.study.model import Study

FILE = pd.DataFrame({"age": list("aabbc"), "sex": list("12112"), "region": list("NNNNS")})
PEOPLE = pd.DataFrame(
    [("a", "1", "N")] * 12 + [("a", "2", "N")] + [("b", "1", "N")] * 25 + [("c", "2", "S")] * 11,
    columns=["age", "sex", "region"],
)


def measured(file=FILE, people=PEOPLE, **risk):
    section = {"file": {"path": "file.csv"}, "sampling_fraction": 0.1, "key_variables": list(file.columns), **risk}
    if people is not None:
        section["population"] = {"file": {"path": "people.csv"}}
    decision = {"share_above": {"risk": 0.04, "at_most": 0}}
    study = Study.model_validate({"id": "small", "file_risk": section, "decision": decision})
    files = intake.prepare(
        filerisk_step.risk_files(study), *(None if x is None else as_text(x) for x in (file, people))
    )
    return thresholds.measure(filerisk_step.comparing_risks(study), files.file, files.population, files.categories)


def test_a_file_of_five_in_a_population_of_forty_nine():
    found = measured()
    line = found.risks.set_index("basis").loc["population"]
    assert (line["n_records"], line["n_beyond"], line["smallest"], line["n_unique"]) == (5, 0, 1, 1)
    assert line["largest"] == 1
    assert line["mean"] == pytest.approx((1 / 12 + 1 + 2 / 25 + 1 / 11) / 5, abs=1e-12)
    assert line["expected"] == pytest.approx(1.25424242, abs=1e-8)
    assert line["largest_presence"] == 1
    assert line["mean_presence"] == pytest.approx((1 / 12 + 1 + 2 * 2 / 25 + 1 / 11) / 5, abs=1e-12)
    above = found.thresholds[found.thresholds["basis"] == "population"].set_index("risk")
    assert above["share_above"].to_dict() == {
        0.04: 0.6, 0.05: 0.6, 0.075: 0.6, 0.09: 0.4, 0.1: 0.2, 0.2: 0.2, 0.33: 0.2, 0.5: 0.2,
    }  # fmt: skip
    alone = found.risks.set_index("basis").loc["sample"]
    assert (alone["smallest"], alone["n_unique"], alone["mean"]) == (1, 3, 0.8)


def test_a_whole_population_has_the_same_risks_on_every_basis():
    found = measured(PEOPLE, None, sampling_fraction=1).risks.set_index("basis")
    for column in ("largest", "mean", "expected"):
        assert found.at["sample", column] == pytest.approx(found.at["individual", column], abs=1e-9)
    known = measured(PEOPLE, PEOPLE, sampling_fraction=1).risks.set_index("basis")
    assert known.at["population", "largest_presence"] == known.at["population", "mean_presence"] == 1
    assert known.at["population", "mean"] == known.at["sample", "mean"]


def test_a_record_that_lacks_a_value_counts_by_the_convention_of_the_study():
    file = FILE.assign(age=["a", "a", "b", "", "c"])
    key = [{"name": "age", "missing": [""]}, "sex", "region"]
    people = [
        measured(file, missing=missing, key_variables=key).risks.set_index("basis").loc["population"]
        for missing in ("excluded", "wildcard")
    ]
    assert [line["n_records"] for line in people] == [4, 5]
    assert people[1]["mean"] == pytest.approx((1 / 12 + 1 + 1 / 25 + 1 / 37 + 1 / 11) / 5, abs=1e-12)


def test_one_record_and_a_file_without_values():
    assert measured(FILE[:1]).risks["n_records"].tolist() == [1, 1]
    key = [{"name": "age", "missing": ["-"]}, "sex", "region"]
    nothing = measured(FILE.assign(age="-"), key_variables=key)
    assert nothing.risks["n_records"].tolist() == [0, 0]
    assert nothing.risks[["largest", "mean", "smallest"]].isna().all(axis=None)
    assert nothing.thresholds["share_above"].isna().all()
    assert (nothing.thresholds["n_above"] == 0).all()
