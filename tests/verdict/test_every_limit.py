"""Every limit that a study file accepts has a line in the verdict, whatever the tables lack (METHODS §6.2)."""

import copy

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases, examples
from making.filerisk import FILE_RISK, SEVERAL, prepared
from making.studies import plain
from making.warnings import warning_table
from pydantic import ValidationError
from reident.filerisk import assessment, scenarios, thresholds
from reident.filerisk import step as filerisk_step
from reident.sections.decision import LIMITS
from reident.study.model import Study
from reident.verdict import limits
from reident.verdict import step as verdict_step

MATCHING = {
    "confidential": {"path": "confidential.csv"},
    "synthetic": [{"path": "synthetic.csv"}],
    "known": ["age", "sex"],
    "synthesized": ["income"],
    "closest": {"holdout": {"path": "holdout.csv"}},
}
POPULATION = {**SEVERAL, "population": {"file": {"path": "census.csv"}}}
ATTRIBUTES = {
    "original": {"path": "o.csv"},
    "released": [{"path": "r.csv"}],
    "keys": ["age"],
    "targets": ["job", "pay"],
}
NAMES = {
    "metrics": ("taxicab", "adhoc"),
    "together": ("taxicab", "adhoc"),
    "file_risk.scenarios": ("Neighbour", "Employer"),
    "file_risk.sensitive": ("tenure",),
    "attribute_disclosure": ("job", "pay"),
}
KEYS = [(section, key) for section, keys in LIMITS.items() for key in keys if section != "confirm"]
"""All limits but that on confirmation by values, which takes the place of those on links: see tests/values."""


def value(section, key, per_name):
    """A limit as a study file has it, for all or by name."""
    one = {"surest": {"right": 0.9, "at_most": 1}, "share_above": {"risk": 0.09, "at_most": 0.1}}.get(
        key, 2 if key.endswith("_at_least") and not key.startswith("false") else 0
    )
    return dict.fromkeys(NAMES[section], one) if per_name and section in NAMES else one


def of(decision):
    """A study with every analysis and these limits."""
    varied = [{"name": "files", "combinations": {"first": {"files.eif.path": "a.csv", "files.iuf.path": "b.csv"}}}]
    return Study.model_validate(
        plain(
            metrics={"taxicab": {}, "adhoc": {}},
            file_risk=copy.deepcopy(POPULATION),
            matching=MATCHING,
            attribute_disclosure=ATTRIBUTES,
            variants=varied,
            together="files",
            decision=decision,
        )
    )


def test_all_sections_with_limits_are_about_something():
    assert list(limits.SECTIONS) == list(LIMITS)


@examples(60)
@given(chosen=st.lists(st.tuples(st.sampled_from(KEYS), st.booleans()), min_size=1, unique_by=lambda one: one[0]))
def test_a_limit_without_a_table_has_a_line_and_is_not_met(chosen):
    decision = {key: value(section, key, per_name) for (section, key), per_name in chosen}
    found = limits.judge(verdict_step.judging(of(decision)), {})
    lines = found.limits.groupby("limit")["metric"].agg(set).to_dict()
    for (section, key), _ in chosen:
        named = {"metrics.any": {"any"}}.get(section, {""})
        assert lines[key] == set(NAMES.get(section, named))
    assert set(lines) == set(decision)
    assert set(found.limits["outcome"]) == {"none"}
    assert set(found.verdict["verdict"]) == {"none"}


def measured(section, decision):
    """The verdict on one file, by the steps of the study."""
    study, files = prepared(section, n=60, decision=decision)
    assessed = assessment.assess(
        filerisk_step.assessment(study), files.file, files.population, files.original, files.categories
    )
    risks = thresholds.measure(filerisk_step.comparing_risks(study), files.file, files.population, files.categories)
    several = scenarios.assess(filerisk_step.intruder_rules(study), files.file, files.population)
    tables = {**assessed._asdict(), **risks._asdict(), **several._asdict(), "warnings": warning_table(())}
    return study, {f"filerisk/{name}.csv": table for name, table in tables.items() if isinstance(table, pd.DataFrame)}


SENSITIVE = ("age", "sex", "job", "tenure")


@examples(12)
@given(
    known=st.lists(st.lists(st.sampled_from(SENSITIVE), min_size=1, unique=True), max_size=2),
    of_sets=st.none() | st.lists(st.sampled_from(SENSITIVE), min_size=1, max_size=2, unique=True),
    sensitive=st.lists(st.sampled_from(SENSITIVE), min_size=1, unique=True),
    named=st.booleans(),
)
def test_a_sensitive_variable_has_a_line_or_its_limit_is_refused(known, of_sets, sensitive, named):
    section = {
        **FILE_RISK,
        "sensitive": sensitive,
        "scenarios": [{"name": str(at), "known": names} for at, names in enumerate(known)],
    }
    section |= {} if of_sets is None else {"key_sets": {"variables": of_sets, "up_to": 2}}
    if not known and of_sets is None:
        return
    limit = dict.fromkeys(sensitive, 2) if named else 2
    decision = {"k_anonymity_at_least": 2, "l_diversity_at_least": limit}
    sets = [*known, *([name] for name in of_sets or ())]
    if any(all(name in one for one in sets) for name in sensitive):
        with pytest.raises(ValidationError, match=r"`\.decision\.l_diversity_at_least` must not be a limit of `"):
            measured(section, decision)
        return
    study, tables = measured(section, decision)
    found = limits.judge(verdict_step.judging(study), tables).limits
    assert sorted(found.loc[found["limit"] == "l_diversity_at_least", "metric"]) == sorted(sensitive)


KNOWN = {**SEVERAL, "sensitive": ["sex", "tenure"], "key_sets": None}


@pytest.mark.parametrize(
    ("decision", "section", "accepted"),
    cases(
        [
            ("by all", {"l_diversity_at_least": 2}, KNOWN, False),
            ("t by all", {"t_closeness_at_most": 0.1}, KNOWN, False),
            ("by its name", {"l_diversity_at_least": {"sex": 2}}, KNOWN, False),
            ("by another name", {"l_diversity_at_least": {"tenure": 2}}, KNOWN, True),
            ("with sets", {"l_diversity_at_least": 2}, {**KNOWN, "key_sets": {}}, True),
            (
                "with a set of it alone",
                {"l_diversity_at_least": 2},
                {**KNOWN, "key_sets": {"variables": ["sex"]}},
                False,
            ),
        ]
    ),
)
def test_a_limit_on_a_variable_that_everyone_knows_is_refused(decision, section, accepted):
    content = {"id": "p", "file_risk": section, "decision": decision}
    if accepted:
        assert Study.model_validate(content).decision
        return
    with pytest.raises(ValidationError, match="must not be a limit of `sex`, which every scenario and set"):
        Study.model_validate(content)
