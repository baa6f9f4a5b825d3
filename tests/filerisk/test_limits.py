"""Limits on risks of records, on sensitive variables and on any metric, each with its outcomes (METHODS §6.2, §7.6)."""

import pandas as pd
import pytest
from making.studies import plain
from making.warnings import Sentence, warning_table
from pydantic import ValidationError
from reident.filerisk import step as filerisk_step
from reident.sections.decision import Decision
from reident.study.model import Study
from reident.verdict import limits
from reident.verdict.settings import VerdictSettings

NAN = float("nan")
LOW, HIGH = ({"n_records": 10, "smallest": 2, "n_unique": 0}, {"n_records": 10, "smallest": 1, "n_unique": 4})


def one_file(second, *, above=(0.5, 0.5), sample=HIGH, largest=1.0, mean=0.6, expected=6.0):
    """The tables of a file: the sample, then a second basis; `above` are the shares above .09 of both."""
    first = {"basis": "sample", **sample, "largest": largest, "mean": mean, "expected": expected}
    risks = pd.DataFrame([first, {"n_records": sample["n_records"], **second}])
    missing = dict.fromkeys(["n_beyond", "smallest", "n_unique", "largest_presence"], NAN)
    risks = risks.assign(**{name: NAN for name in missing if name not in risks})
    table = pd.DataFrame({"basis": risks["basis"], "risk": 0.09, "share_above": above})
    return {
        "filerisk/cells.csv": pd.DataFrame({"cell_size": [1], "n_records": [sample["n_records"]]}),
        "filerisk/summary.csv": pd.DataFrame({"quantity": ["dis", "records"], "value": ["", "10"]}),
        "filerisk/risks.csv": risks,
        "filerisk/thresholds.csv": table,
    }


def population(beyond=0, **columns):
    return {
        "basis": "population",
        "largest": 0.2,
        "mean": 0.1,
        "expected": 1.0,
        "smallest": 5,
        "n_unique": 2,
        "largest_presence": 0.4,
        "n_beyond": beyond,
        **columns,
    }


INDIVIDUAL = {"basis": "individual", "largest": 0.2, "mean": 0.1, "expected": 1.0}


def judged(decision, tables, warnings=()):
    read = {"filerisk/warnings.csv": warning_table(warnings)}
    return limits.judge(VerdictSettings(Decision.model_validate(decision), 4, ()), {**read, **tables})


def outcome(found):
    (line,) = found.limits.to_dict("records")
    whole = found.verdict.set_index("scope")["verdict"]
    assert whole["ALL"] == whole["file_risk"]
    return line["metric"], line["outcome"], whole["ALL"]


LIMITS = [
    ("largest_risk_at_most", 0.2, 1e-6),
    ("average_risk_at_most", 0.1, 1e-6),
    ("expected_reidentifications_at_most", 1.0, 1e-6),
    ("population_uniques_at_most", 2, 1),
    ("k_map_at_least", 5, -1),
    ("delta_presence_at_most", 0.4, 1e-6),
    ("share_above", 0.3, 1e-6),
]
"""Each limit with its value in the population, and what makes the limit milder."""


def limit(name, bound):
    return {name: {"risk": 0.09, "at_most": bound} if name == "share_above" else bound}


@pytest.mark.parametrize(("name", "value", "milder"), LIMITS)
def test_a_limit_by_the_population_at_and_on_either_side(name, value, milder):
    for beyond, met in ((0, ("passes", "within")), (3, ("unsure", "reservations"))):
        tables = one_file(population(beyond), above=(0.5, 0.3))
        for bound, expected in ((value, met), (value + milder, met), (value - milder, ("breaks", "above"))):
            assert outcome(judged(limit(name, bound), tables)) == ("population", *expected)


@pytest.mark.parametrize(("name", "value", "milder"), [one for one in LIMITS if one[0] not in
                         ("population_uniques_at_most", "k_map_at_least", "delta_presence_at_most")])  # fmt: skip
def test_without_a_population_the_file_alone_passes_and_the_estimate_only_breaks(name, value, milder):
    tables = one_file(INDIVIDUAL, above=(0.5, 0.3), largest=0.9)
    assert outcome(judged(limit(name, value - milder), tables)) == ("individual", "breaks", "above")
    assert outcome(judged(limit(name, value), tables)) == ("individual", "unsure", "reservations")
    sample = {"largest_risk_at_most": 0.9, "average_risk_at_most": 0.6, "share_above": 0.5}.get(name, 6.0)
    assert outcome(judged(limit(name, sample), tables)) == ("sample", "passes", "within")
    assert outcome(judged(limit(name, sample - 1e-6), tables)) == ("individual", "unsure", "reservations")


def test_k_map_without_a_population_is_met_by_cells_that_are_large_enough_and_otherwise_not_judged():
    for k, expected in ((2, ("sample", "passes", "within")), (3, ("sample", "none", "none"))):
        assert outcome(judged({"k_map_at_least": k}, one_file(INDIVIDUAL, sample=LOW))) == expected


@pytest.mark.parametrize(
    ("bound", "ends", "expected"),
    [
        (2, (2, 1, 3), ("main", "unsure", "reservations")),
        (3, (3.5, 2.5, 4.5), ("main", "unsure", "none")),
        (3, (4, 3.1, 5), ("main", "breaks", "above")),
        (3, (2, 1, 3), ("main", "passes", "within")),
        (3, (2, NAN, NAN), ("main", "unsure", "reservations")),
        (3, None, ("sample", "none", "none")),
    ],
)
def test_population_uniques_without_a_population_are_judged_by_the_recommended_model(bound, ends, expected):
    lines = [{"model": "pitman", "quantity": "population_uniques", "recommended": True, "estimate": 99.0}]
    lines += [{"model": "two-way", "quantity": "uniques_in_sample", "recommended": False, "estimate": 99.0}]
    if ends is not None:
        more = dict(zip(("estimate", "low", "high"), ends, strict=True))
        lines.append({"model": "main", "quantity": "uniques_in_sample", "recommended": True, **more})
    tables = {**one_file(INDIVIDUAL), "filerisk/population.csv": pd.DataFrame(lines)}
    assert outcome(judged({"population_uniques_at_most": bound}, tables)) == expected
    assert outcome(judged({"population_uniques_at_most": 4}, tables)) == ("sample", "passes", "within")
    assert outcome(judged({"population_uniques_at_most": 3}, one_file(INDIVIDUAL))) == ("sample", "none", "none")


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, value, _ in LIMITS])
def test_without_a_record_in_a_cell_or_with_an_invalid_file_there_is_no_verdict(name, value):
    nothing = one_file({**population(), "n_records": 0}, sample={"n_records": 0, "smallest": NAN, "n_unique": 0})
    assert outcome(judged(limit(name, value), nothing)) == ("sample", "none", "none")
    invalid = judged(limit(name, value), one_file(population()), [Sentence("invalidates", "wrong file")])
    assert outcome(invalid) == ("population", "none", "none")


def diversity(*lines):
    return {
        **one_file(INDIVIDUAL),
        "filerisk/diversity.csv": pd.DataFrame(lines, columns=["target", "distinct_l", "t"]),
    }


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"l_diversity_at_least": 2}, ["passes", "breaks"]),
        ({"l_diversity_at_least": {"job": 2}}, ["passes"]),
        ({"l_diversity_at_least": {"job": 3}}, ["breaks"]),
        ({"t_closeness_at_most": 0.4}, ["passes", "passes"]),
        ({"t_closeness_at_most": 0.399999}, ["breaks", "passes"]),
        ({"t_closeness_at_most": {"income": 0.2}}, ["passes"]),
    ],
)
def test_limits_of_sensitive_variables_are_for_the_worst_scenario_or_set(decision, expected):
    tables = diversity(("job", 2, 0.3), ("job", 4, 0.4), ("income", 1, 0.2), ("income", NAN, NAN))
    found = judged(decision, tables)
    assert found.limits["outcome"].tolist() == expected
    assert found.verdict["verdict"].tolist() == ["above" if "breaks" in expected else "within"] * 2


def test_a_sensitive_variable_without_a_cell_has_no_verdict():
    found = judged({"l_diversity_at_least": 2}, diversity(("job", NAN, NAN), ("income", 2, 0.2)))
    assert found.limits["outcome"].tolist() == ["none", "passes"]
    assert found.verdict["verdict"].tolist() == ["reservations"] * 2


def attack(*tolerance):
    names = [f"metric{at}" for at in range(len(tolerance))]
    rates = pd.DataFrame({"metric": names, "stratum": "ALL", "tolerance": tolerance, "n_ambiguous": 0, "n_compared": 9,
                          "n_suspected": 9, "passing_rate": 0.5})  # fmt: skip
    overlap = [("suspected", "a", 9), ("confirmed", "a", 3), ("confirmed", "a+b", 2), ("confirmed", "b", 1)]
    return rates, pd.DataFrame(overlap, columns=["set", "metrics", "n_pufids"])


@pytest.mark.parametrize(("bound", "expected"), [(6, "within"), (7, "within"), (5, "above")])
def test_a_limit_on_the_records_that_any_metric_confirms(bound, expected, monkeypatch):
    rates, overlap = attack(1, 1)
    monkeypatch.setattr(limits.warnings, "_thresholds", lambda *_: [])
    tables = {"rates.csv": rates, "description/overlap.csv": overlap, "prepared/warnings.csv": warning_table(())}
    found = judged({"confirmed_by_any_at_most": bound}, tables)
    assert found.limits[["metric", "value", "bound"]].to_numpy().tolist() == [["any", 6.0, float(bound)]]
    assert found.verdict["verdict"].tolist() == [expected] * 2


@pytest.mark.parametrize(("tolerance", "expected"), [((-1, -1), "none"), ((-1, 1), "within")])
def test_metrics_that_can_suspect_nobody_confirm_nobody_either(tolerance, expected, monkeypatch):
    rates, overlap = attack(*tolerance)
    rates.loc[rates["tolerance"] < 0, "n_suspected"] = 0
    monkeypatch.setattr(limits.warnings, "_thresholds", lambda *_: [])
    tables = {"rates.csv": rates, "description/overlap.csv": overlap, "prepared/warnings.csv": warning_table(())}
    assert judged({"confirmed_by_any_at_most": 9}, tables).verdict["verdict"].tolist() == [expected] * 2


REFUSED = [
    ({"k_map_at_least": 1}, "greater than or equal to 2"),
    ({"largest_risk_at_most": 1.01}, "less than or equal to 1"),
    ({"share_above": {"risk": 0.09}}, "at_most"),
    ({"share_above": {"risk": 0, "at_most": 0}}, "greater than 0"),
]


@pytest.mark.parametrize(("decision", "reason"), REFUSED)
def test_limits_that_cannot_be_are_refused(decision, reason):
    with pytest.raises(ValidationError, match=reason):
        Decision.model_validate(decision)


RISK = {"file": "puf", "sampling_fraction": 0.1}


@pytest.mark.parametrize(
    ("decision", "sections", "reason"),
    [
        ({"largest_risk_at_most": 0.1}, {}, "without `file_risk`"),
        ({"delta_presence_at_most": 0.1}, {"file_risk": RISK}, "without `file_risk.population`"),
        ({"l_diversity_at_least": 2}, {"file_risk": RISK}, "without `file_risk.sensitive`"),
        (
            {"t_closeness_at_most": {"nobody": 0.2}},
            {"file_risk": {**RISK, "sensitive": ["c"], "key_sets": {}}},
            r"`\.decision\.t_closeness_at_most\.nobody` must be a limit of a sensitive variable",
        ),
    ],
)
def test_limits_must_fit_the_study(decision, sections, reason):
    with pytest.raises(ValidationError, match=reason):
        Study.model_validate(plain(decision=decision, **sections))


def test_the_declared_threshold_is_measured_and_no_other_step_takes_it():
    decision = {"share_above": {"risk": 0.04, "at_most": 0.1}}
    study, other = (Study.model_validate(plain(file_risk=RISK, **more)) for more in ({"decision": decision}, {}))
    assert filerisk_step.comparing_risks(study).risks == (0.04, *filerisk_step.comparing_risks(other).risks)
    assert filerisk_step.assessment(study) == filerisk_step.assessment(other)
