"""No limit on one file passes over a record, and none counts that nothing can break (METHODS §6.2, §7.8)."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.studies import as_text
from oracles import judged as oracle
from reident.filerisk import assessment, profiles, scenarios, thresholds
from reident.filerisk import prepare as intake
from reident.filerisk import step as filerisk_step
from reident.study.model import Study
from reident.verdict import limits
from reident.verdict import step as verdict_step

KEY = [{"name": name, "missing": [""]} for name in ("a", "b")]
KEY_LIMITS = {"k_anonymity_at_least": 3, "largest_risk_at_most": 0.34, "k_map_at_least": 3}


def judged(rows, decision, people=None, units=None, **section):
    """The limits and the verdict on a file of records with two variables; None is missing."""

    def text(lines, columns):
        return as_text(pd.DataFrame(lines, columns=columns).fillna("").astype(str))

    columns = ["a", "b"] if units is None else ["a", "b", "hh"]
    section = {"file": {"path": "file.csv"}, "sampling_fraction": 0.1, "key_variables": KEY, **section}
    lines = rows if units is None else [(*row, unit) for row, unit in zip(rows, units, strict=True)]
    population = None
    if people is not None:
        section["population"] = {"file": {"path": "people.csv"}}
        section["sampling_fraction"] = len(rows) / len(people)
        population = text(people, ["a", "b"])
    if units is not None:
        section["units"] = "hh"
    study = Study.model_validate({"id": "small", "file_risk": section, "decision": decision})
    files = intake.prepare(filerisk_step.risk_files(study), text(lines, columns), population)
    parts = [
        assessment.assess(
            filerisk_step.assessment(study), files.file, files.population, files.original, files.categories
        ),
        thresholds.measure(filerisk_step.comparing_risks(study), files.file, files.population, files.categories),
    ]
    if study.risk.scenarios:
        parts.append(scenarios.assess(filerisk_step.intruder_rules(study), files.file, files.population))
    found = {name: table for part in parts for name, table in part._asdict().items()} | {"warnings": files.warnings}
    if units is not None:
        found["units"] = profiles.assess(filerisk_step.profiling(study), files.file)
    tables = {f"filerisk/{name}.csv": table for name, table in found.items() if isinstance(table, pd.DataFrame)}
    return limits.judge(verdict_step.judging(study), tables)


COMPLETE = [("1", "1")] * 6


@pytest.mark.parametrize("missing", ["excluded", "category", "wildcard"])
@pytest.mark.parametrize("limit", KEY_LIMITS)
def test_a_record_that_is_alone_by_what_is_left_is_judged(missing, limit):
    found = judged([*COMPLETE, ("2", None)], {limit: KEY_LIMITS[limit]}, missing=missing)
    assert found.verdict["verdict"].iloc[0] != "within"
    assert judged(COMPLETE, {limit: KEY_LIMITS[limit]}, missing=missing).verdict["verdict"].iloc[0] == "within"


@pytest.mark.parametrize("limit", KEY_LIMITS)
def test_a_record_that_may_be_equal_to_others_but_is_equal_to_none_for_sure_is_a_reservation(limit):
    rows = [*COMPLETE, ("1", None), (None, "2"), *[("3", "2")] * 3]
    found = judged(rows, {limit: KEY_LIMITS[limit]})
    assert found.limits["outcome"].tolist() == ["unsure"]
    assert found.verdict["verdict"].tolist() == ["reservations"] * 2
    both = judged([*rows, *[("1", None)] * 2, *[(None, "2")] * 2], {limit: KEY_LIMITS[limit]})
    assert both.verdict["verdict"].tolist() == ["within"] * 2


ROWS = st.lists(
    st.tuples(*[st.sampled_from([None, "1", "2"])] * 2).filter(lambda row: row != (None, None)), min_size=1, max_size=14
)


@examples(120)
@given(rows=ROWS.filter(lambda rows: any(None not in row for row in rows)), k=st.integers(2, 4))
def test_the_outcome_of_k_is_the_worse_of_both_conventions_and_the_sure_matches_leave_a_reservation(rows, k):
    (line,) = judged(rows, {"k_anonymity_at_least": k}).limits.to_dict("records")
    codes = [tuple(-1 if value is None else int(value) for value in row) for row in rows]
    complete = [row for row in codes if min(row) >= 0]
    wildcard, sure = (oracle.sizes(codes, match) for match in (oracle.possible, oracle.sure))
    worst = min(complete.count(row) for row in complete), min(wildcard)
    expected = "breaks" if min(worst) < k else "unsure" if min(sure) < k else "passes"
    assert line["outcome"] == expected
    assert line["value"] == min(worst)


def test_units_with_a_member_that_misses_a_value_are_judged():
    rows, units = [("1", "1"), ("2", "2")] * 4, [0, 0, 1, 1, 2, 2, 3, 3]
    whole = judged(rows, {"k_anonymity_at_least": 2}, units=units)
    assert whole.limits[["metric", "outcome"]].to_numpy().tolist() == [["", "passes"], ["units", "passes"]]
    rows[6] = ("3", None)
    lone = judged([*rows, ("3", None)], {"k_anonymity_at_least": 2}, units=[*units, 4])
    assert lone.limits[["metric", "value", "outcome"]].to_numpy().tolist() == [
        ["", 2, "passes"],
        ["units", 1, "breaks"],
    ]


def test_records_that_the_population_does_not_have_have_their_risk_in_the_file_and_a_warning():
    people = [("1", "1")] * 20 + [("2", "2")] * 10
    absent = judged([*COMPLETE, ("2", "1")], {"largest_risk_at_most": 0.5}, people)
    assert absent.limits[["metric", "value", "outcome"]].to_numpy().tolist() == [["population", 1.0, "breaks"]]
    assert absent.warnings["code"].tolist() == ["not_in_the_population"]
    assert absent.warnings["affected"].tolist() == [1]
    beyond = judged([*COMPLETE, *[("2", "2")] * 3], {"largest_risk_at_most": 0.5}, people[:22])
    assert beyond.limits["outcome"].tolist() == ["unsure"]
    assert beyond.warnings["affected"].tolist() == [3]
    assert judged(COMPLETE, {"largest_risk_at_most": 0.5}, people).warnings.empty


def test_a_missing_value_is_no_evidence_that_the_population_lacks_somebody():
    people = [("1", "1")] * 20 + [("1", "2")] * 10
    for missing in ("excluded", "category", "wildcard"):
        found = judged([*COMPLETE, *[("1", None)] * 3], {"largest_risk_at_most": 0.5}, people, missing=missing)
        assert "not_in_the_population" not in set(found.warnings["code"])


UNBREAKABLE = [
    {"largest_risk_at_most": 1},
    {"average_risk_at_most": 1},
    {"share_above": {"risk": 0.1, "at_most": 1}},
    {"share_above": {"risk": 1, "at_most": 0}},
    {"k_anonymity_at_least": 5, "records_below_k_at_most": 1},
    {"expected_reidentifications_at_most": 3},
    {"population_uniques_at_most": 3},
    {"unique_share_at_most": 1},
    {"unique_share_at_most": {"one": 1}},
    {"l_diversity_at_least": 1},
    {"t_closeness_at_most": 1},
    {"dis_at_most": 1},
    {"delta_presence_at_most": 1},
]
MILDER = [
    {"share_above": {"risk": 0.1, "at_most": 0.99}},
    {"l_diversity_at_least": 2},
    {"expected_reidentifications_at_most": 2.9},
    {"population_uniques_at_most": 2},
]
THREE = [("1", "1"), ("2", "2"), ("1", "2")]
SECTION = {"scenarios": [{"name": "one", "known": ["a"]}], "sensitive": ["b"]}


@pytest.mark.parametrize("decision", UNBREAKABLE)
def test_a_limit_that_nothing_can_break_counts_for_no_verdict(decision):
    found = judged(THREE, decision, [*THREE] * 10, **SECTION)
    assert found.limits["outcome"].tolist() == ["unbreakable"]
    assert found.verdict["verdict"].tolist() == ["none"] * 2
    beside = judged([*THREE] * 2, {**decision, "dis_at_most": 0.99}, [*THREE] * 10, **SECTION)
    outcomes = dict(zip(beside.limits["limit"], beside.limits["outcome"], strict=True))
    assert outcomes.pop("dis_at_most") == "passes"
    assert beside.verdict["verdict"].tolist() == ["within"] * 2


@pytest.mark.parametrize("decision", MILDER)
def test_a_limit_that_some_file_can_break_is_judged(decision):
    found = judged(THREE, decision, [*THREE] * 10, **SECTION)
    assert "unbreakable" not in set(found.limits["outcome"])
