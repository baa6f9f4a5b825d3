"""What a study must have to link records, to match synthetic data, or both; and which steps a change touches."""

from pathlib import Path

import pytest
from making.matching import MATCHING, WITH_HOLDOUT
from making.studies import changed, files, load, refused
from reident.study import model as study
from reident.study import named_files

ROOT = Path(__file__).parents[2]
LINKAGE = {"files": files(), "linking_variables": [{"name": "age", "type": "numeric"}], "metrics": {"taxicab": {}}}
SURVEY = {"kind": "synthetic-survey"}
WITHOUT_FILES = {key: value for key, value in MATCHING.items() if key not in ("confidential", "synthetic")}


@pytest.mark.parametrize(
    ("keys", "sides"),
    [
        (LINKAGE, ["puf", "eif", "iuf"]),
        ({"matching": MATCHING}, ["confidential", "synthetic_1", "synthetic_2", "synthetic_3"]),
        ({"matching": WITHOUT_FILES, "simulate": {**SURVEY, "copies": 2}},
         ["confidential", "synthetic_1", "synthetic_2"]),
        ({"matching": WITH_HOLDOUT}, ["confidential", "synthetic_1", "synthetic_2", "synthetic_3", "holdout"]),
        ({"matching": {**WITHOUT_FILES, "closest": {}}, "simulate": {**SURVEY, "copies": 1, "holdout": 9}},
         ["confidential", "synthetic_1", "holdout"]),
        ({**LINKAGE, "matching": MATCHING},
         ["puf", "eif", "iuf", "confidential", "synthetic_1", "synthetic_2", "synthetic_3"]),
    ],
)  # fmt: skip
def test_the_files_that_a_study_reads(tmp_path, keys, sides):
    found = load(tmp_path, **keys)
    assert list(found.sources) == sides
    assert found.simulated == (set(sides) if "simulate" in keys else set())
    assert study.Study.model_validate_json(study.canonical_json(found)) == found


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({}, "`metrics`, `matching`, `file_risk` or `attribute_disclosure` is missing"),
        ({**LINKAGE, "metrics": None}, "`files` must not be given without `metrics`"),
        ({"matching": MATCHING, "strata": ["region"]}, "`strata` must not be given without `metrics`"),
        ({"matching": MATCHING, "linking_variables": LINKAGE["linking_variables"]},
         "`linking_variables` must not be given without"),
        ({**LINKAGE, "simulate": {"seed": 1}}, "`metrics` must have exactly one source of records: `files`"),
        ({**LINKAGE, "simulate": SURVEY}, "`simulate` must not have the kind `synthetic-survey` without `matching`"),
        ({"matching": MATCHING, "simulate": {"seed": 1}},
         "`simulate` must not have the kind `household-survey` without `metrics`"),
        ({"matching": MATCHING, "simulate": SURVEY}, "`matching` must have exactly one source of files"),
        ({"matching": WITHOUT_FILES}, "`matching` must have exactly one source of files"),
        ({"matching": MATCHING, "decision": {}}, "`decision` must have at least one limit"),
        ({"matching": MATCHING, "decision": {"conditional_rate_at_most": 0.1}},
         "`decision.conditional_rate_at_most` must not be given without `metrics`"),
        ({**LINKAGE, "decision": {"true_match_rate_at_most": 0.1}},
         "`decision.true_match_rate_at_most` must not be given without"),
        ({"matching": {**MATCHING, "known": ["job"]}},
         "line 2: `matching`: `job` must not be both in `known` and in `synthesized`"),
        ({"matching": {**MATCHING, "closest": {"variables": ["person"]}}},
         "`matching.closest.variables` must name known or synthesized variables, and `person` is not one"),
        ({"matching": {**WITHOUT_FILES, "closest": {"holdout": {"path": "h.csv"}}}, "simulate": SURVEY},
         "`matching.closest.holdout` must not be given with `simulate`"),
        ({"matching": WITHOUT_FILES, "simulate": {**SURVEY, "holdout": 9}},
         "`simulate.holdout` must not be given without `matching.closest`"),
        ({"matching": MATCHING, "simulate": {"kind": "census"}}, "must have as `kind` one of"),
    ],
)  # fmt: skip
def test_invalid_sections_are_refused(tmp_path, keys, sentence):
    refused(tmp_path, sentence, **keys)


def test_a_missing_file_is_reported_with_its_key(tmp_path):
    found = load(tmp_path, matching=MATCHING)
    for name in ("confidential.csv", "synthetic_1.csv"):
        (tmp_path / name).write_text("a\n")
    problem, *_ = named_files.problems(found, tmp_path / "study.yaml")
    assert "`matching.synthetic[2].path`: synthetic_2.csv does not exist" in problem


def test_simulated_files_need_not_exist(tmp_path):
    found = load(tmp_path, matching=WITHOUT_FILES, simulate=SURVEY)
    assert not list(named_files.problems(found, tmp_path / "study.yaml"))


CHANGES = [
    ({"title": "x"}, {}, set()),
    ({"decision": {"true_match_rate_at_most": 0.1}}, {}, {"judge"}),
    ({}, {"scenarios": [{"name": "other", "known": ["age"]}]}, {"match"}),
    ({}, {"interval": "open"}, {"match"}),
    ({}, {"missing": "each_other"}, {"match"}),
    ({}, {"radius": {"income": {"relative": "0.3"}, "age": {"absolute": "1"}}}, {"match"}),
    ({}, {"radius": {"income": {"relative": "0.1"}}}, {"match", "prepare_matching"}),
    ({}, {"targets": {"variable": "sex", "equals": "1"}}, {"prepare_matching"}),
    ({}, {"synthesized": ["job", {"name": "income", "missing": ["-8"]}]}, {"prepare_matching"}),
    ({}, {"confidential": {"path": "other.csv"}}, {"prepare_matching"}),
]


@pytest.mark.parametrize(("keys", "matching", "touched"), CHANGES)
def test_a_change_affects_the_steps_that_take_it(keys, matching, touched):
    before = study.Study.model_validate({"id": "s", **LINKAGE, "matching": MATCHING})
    after = study.Study.model_validate({"id": "s", **LINKAGE, "matching": {**MATCHING, **matching}, **keys})
    assert changed(before, after) - {"resolve", "report"} == touched


def test_matching_does_not_affect_the_steps_of_linkage():
    alone = study.Study.model_validate({"id": "s", **LINKAGE})
    both = study.Study.model_validate({"id": "s", **LINKAGE, "matching": MATCHING})
    assert changed(alone, both) == {"resolve"}


def test_the_bundled_study_simulates_three_files_with_two_synthesized_variables():
    bundled = study.load(ROOT / "config" / "studies" / "synthetic-survey.yaml")
    assert list(bundled.sources) == ["confidential", "synthetic_1", "synthetic_2", "synthetic_3", "holdout"]
    assert len(bundled.matching.synthesized) == 2
