"""Limits on one file for its units, such as households, by a plain count of their members' values (METHODS §7.7)."""

from collections import Counter, defaultdict

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases, examples
from making.filerisk import FILE_RISK, drawn, prepared
from making.studies import PLAIN, plain
from pydantic import ValidationError
from reident.filerisk import assessment, profiles, scenarios, thresholds
from reident.filerisk import step as filerisk_step
from reident.pipeline import steps
from reident.study.model import Study
from reident.verdict import limits
from reident.verdict import step as verdict_step

KEY = ["sex", "job"]
SECTION = {
    "file": {"path": "survey.csv", "id": "pid"},
    "sampling_fraction": 0.1,
    "key_variables": ["sex", {"name": "job", "missing": ["-9"]}],
    "scenarios": [{"name": "Neighbour", "known": ["sex"]}],
    "units": "hh",
    "special": {"standard_error": 0.05},
}
LIMITS = {
    "k_anonymity_at_least": 3,
    "dis_at_most": 0.3,
    "largest_risk_at_most": 0.3,
    "average_risk_at_most": 0.3,
    "share_above": {"risk": 0.33, "at_most": 0.3},
    "expected_reidentifications_at_most": 4,
    "population_uniques_at_most": 1,
    "k_map_at_least": 3,
    "unique_share_at_most": 0.2,
}
SENSITIVE = {"sensitive": ["tenure"], "scenarios": SECTION["scenarios"]}


def tables_of(study, files):
    """The tables of the steps on one file."""
    assessed = assessment.assess(
        filerisk_step.assessment(study), files.file, files.population, files.original, files.categories
    )
    parts = [
        assessed,
        thresholds.measure(filerisk_step.comparing_risks(study), files.file, files.population, files.categories),
    ]
    if study.risk.scenarios:
        parts.append(scenarios.assess(filerisk_step.intruder_rules(study), files.file, files.population))
    found = {name: table for part in parts for name, table in part._asdict().items()} | {"warnings": files.warnings}
    if study.risk.units:
        found["units"] = profiles.assess(filerisk_step.profiling(study), files.file)
    return {f"filerisk/{name}.csv": table for name, table in found.items() if isinstance(table, pd.DataFrame)}


def judged(file, decision, without=(), **section):
    study, files = prepared({**SECTION, **section}, file=file, decision=decision)
    tables = {name: table for name, table in tables_of(study, files).items() if name not in without}
    return limits.judge(verdict_step.judging(study), tables)


def sizes_of(file, names):
    """The size of the cell of each unit without a missing value: units with the same multiset of members' values."""
    members = defaultdict(list)
    for row in file.to_dict("records"):
        members[row["hh"] or row["pid"] + " alone"].append(tuple(row[name] for name in names))
    profiles_ = [tuple(sorted(one)) for one in members.values() if not any("-9" in values for values in one)]
    counts = Counter(profiles_)
    return [counts[one] for one in profiles_]


def expected(file, allowed, fraction):
    """The outcome of every limit of :data:`LIMITS` but DIS by the sizes of cells."""
    sizes = sizes_of(file, KEY)
    n, risks = len(sizes), [1 / size for size in sizes]
    unmet = "breaks" if fraction == 1 else "unsure"
    met = {
        "largest_risk_at_most": n and max(risks) <= 0.3,
        "average_risk_at_most": n and sum(risks) / n <= 0.3 + 1e-12,
        "share_above": n and sum(size <= 3 for size in sizes) / n <= 0.3,
        "expected_reidentifications_at_most": sum(risks) <= 4 + 1e-9,
        "population_uniques_at_most": sizes.count(1) <= 1,
        "k_map_at_least": n and min(sizes) >= 3,
    }
    outcomes = {name: ("passes" if one else unmet) if n else "none" for name, one in met.items()}
    small = sum(size < 3 for size in sizes)
    outcomes["k_anonymity_at_least"] = "none" if not n else "breaks" if small / n > allowed else "passes"
    of_sex = sizes_of(file, ["sex"])
    if (file["job"] == "-9").all():  # a warning invalidates a file without a complete key
        return {**outcomes, "unique_share_at_most": "none"}
    outcomes["unique_share_at_most"] = "passes" if of_sex.count(1) / len(of_sex) <= 0.2 else "breaks"
    return outcomes


def household(n, n_units, levels, missing, seed):
    """People whose household is drawn, some without one, with few values so that ties are frequent."""
    people = drawn(n, seed=seed)
    draw = people.index.to_series().sample(frac=1, random_state=seed)
    people["hh"] = [str(at % n_units) if at % 7 else "" for at in draw]
    people["job"] = [
        "-9" if at % 10 < missing else str(int(job) % levels) for at, job in zip(draw, people["job"], strict=True)
    ]
    return people


@examples(20)
@given(
    n=st.integers(2, 60),
    n_units=st.integers(1, 30),
    levels=st.integers(1, 3),
    missing=st.sampled_from([0, 0, 1, 10]),
    seed=st.integers(0, 1000),
    allowed=st.sampled_from([0, 0.5]),
    fraction=st.sampled_from([0.1, 1.0]),
)
def test_limits_are_judged_for_units_as_a_plain_count_says(n, n_units, levels, missing, seed, allowed, fraction):
    file = household(n, n_units, levels, missing, seed)
    decision = {**LIMITS, "records_below_k_at_most": allowed}
    found = judged(file, decision, sampling_fraction=fraction).limits
    units = found[found["metric"].isin(["units", "units: Neighbour"])].set_index("limit")["outcome"].to_dict()
    members = file["hh"].where(file["hh"] != "", file["pid"] + " alone")
    if members.is_unique:
        assert units == {}
        return
    assert set(units) == set(LIMITS)
    del units["dis_at_most"]
    assert units == expected(file, allowed, fraction)


def unlike_households():
    """Households of three, no two of which are alike, with three values that 20 people or more have each."""
    values = [(a, b, c) for a in "1234" for b in "1234" if b >= a for c in "1234" if c >= b]
    rows = [(f"{hh}-{at}", str(hh), one) for hh, unit in enumerate(values) for at, one in enumerate(unit)]
    return pd.DataFrame(rows, columns=["pid", "hh", "sex"]).assign(job="1", tenure="1")


UNLIKE = {"key_variables": ["sex"]}


@pytest.mark.parametrize(
    ("decision", "records", "units", "verdict"),
    cases(
        [
            ("k", {"k_anonymity_at_least": 5}, "passes", "breaks", "above"),
            ("the largest risk", {"largest_risk_at_most": 0.09}, "passes", "unsure", "none"),
            ("scenarios", {"unique_share_at_most": {"Neighbour": 0.1}}, "passes", "breaks", "above"),
            ("uniques", {"population_uniques_at_most": 0}, "passes", "unsure", "none"),
        ]
    ),
)
def test_unique_households_of_people_who_are_not_are_never_within(decision, records, units, verdict):
    found = judged(unlike_households(), decision, **UNLIKE)
    assert found.limits["outcome"].tolist() == [records, units]
    assert found.verdict["verdict"].tolist() == [verdict] * 2
    missing = judged(unlike_households(), decision, without=["filerisk/units.csv"], **UNLIKE)
    assert missing.limits["outcome"].tolist() == [records, "none"]
    assert missing.verdict["verdict"].tolist() == ["reservations"] * 2


@pytest.mark.parametrize("named", ["l_diversity_at_least", "t_closeness_at_most"])
def test_limits_that_only_records_are_compared_with_leave_a_reservation(named):
    decision = {named: 2 if named.startswith("l") else 0.9}
    file = unlike_households().assign(tenure=[str(at % 2) for at in range(60)])
    found = judged(file, decision, **UNLIKE, sensitive=["tenure"])
    assert found.warnings["code"].tolist() == ["records_alone"]
    assert f"`{named}`" in found.warnings["warning"][0]
    assert found.verdict["verdict"].tolist() == ["reservations"] * 2
    single = judged(file.assign(hh=file["pid"]), decision, **UNLIKE, sensitive=["tenure"])
    assert single.verdict["verdict"].tolist() == ["within"] * 2


def test_units_of_one_record_have_no_lines_of_their_own():
    file = unlike_households()
    found = judged(file.assign(hh=file["pid"]), {"k_anonymity_at_least": 5}, **UNLIKE)
    assert found.limits["metric"].tolist() == [""]
    assert found.verdict["verdict"].tolist() == ["within"] * 2


# Where the units come from ------------------------------------------------------------------------

OF_STUDY = {"metrics": {"taxicab": {}}, "units": {"puf": "hh", "eif": ["a", "b"]}}


@pytest.mark.parametrize(
    ("section", "units", "measured"),
    cases(
        [
            ("the public use file", {}, ("hh",), True),
            ("the file of the intruder", {"file": "eif"}, ("a", "b"), True),
            ("units of its own", {"units": "street"}, ("street",), True),
            ("another file", {"file": {"path": "s.csv"}, "key_variables": ["x"]}, None, False),
            ("wildcards", {"missing": "wildcard"}, ("hh",), False),
        ]
    ),
)
def test_a_file_of_the_attack_has_the_units_of_the_study(section, units, measured):
    study = Study.model_validate(plain(**OF_STUDY, file_risk={"sampling_fraction": 0.5, **section}))
    assert study.risk_units == units
    assert study.risk.units == (units if measured else None)
    assert ("assess_units" in {step.rule for step in steps.wanted(study)}) == measured
    assert verdict_step.judging(study).units is False
    limited = study.model_validate({**plain(**OF_STUDY), "file_risk": {"sampling_fraction": 0.5, **section},
                                    "decision": {"k_anonymity_at_least": 5}})  # fmt: skip
    assert verdict_step.judging(limited).units is (units is not None)


def test_households_of_the_models_are_those_of_units_and_no_units_alone():
    section = {**FILE_RISK, "population_models": {"household": "hh"}}
    assert Study.model_validate({"id": "p", "file_risk": section}).risk.units is None
    with pytest.raises(ValidationError, match="must have the columns of `units`"):
        Study.model_validate({**PLAIN, **OF_STUDY, "file_risk": {"sampling_fraction": 0.5,
                              "population_models": {"household": "other"}}})  # fmt: skip
