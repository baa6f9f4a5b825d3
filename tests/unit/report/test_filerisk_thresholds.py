"""The risk of records beside thresholds in the report, and the limits on it in words (METHODS §7.6)."""

import pytest
from making.filerisk import FILE_RISK, POPULATION, SEVERAL, drawn, write_filerisk
from reident.report.blocks import filerisk, filerisk_thresholds
from reident.report.results import Results

KNOWN = {**FILE_RISK, "population": {"file": {"path": "census.csv"}}}


@pytest.fixture
def results(tmp_path):
    return lambda section=FILE_RISK, **keys: Results(write_filerisk(tmp_path / "results", section, **keys))


def told(made):
    return str(filerisk.risk_overall(made)).replace("\u00a0", " ")


def of(made, basis):
    return made.table("filerisk/risks.csv").set_index("basis").loc[basis]


def test_the_table_has_each_threshold_by_the_file_alone_and_in_the_population(results):
    made = results(KNOWN)
    text = str(filerisk_thresholds.risk_thresholds(made)).replace("\u00a0", " ")
    lines = made.table("filerisk/thresholds.csv")
    assert list(dict.fromkeys(lines["basis"])) == ["sample", "population"]
    assert text.count("\n| ") == 2 + lines["risk"].nunique()
    row = lines[lines["risk"] == 0.09].set_index("basis")
    assert f"| 9 % | {row.at['sample', 'n_above']} |" in text
    assert f"| {row.at['population', 'n_above']} |" in text
    assert "(k-map" in text
    assert f"the mean is {100 * of(made, 'population')['mean']:.1f} %" in text


def test_without_a_population_the_individual_risk_is_beside_the_file_alone(results):
    text = str(filerisk_thresholds.risk_thresholds(results()))
    assert "individual risk estimates 1/F" in text
    assert "k-map" not in text


def test_a_file_without_a_record_in_a_cell_has_no_table_and_no_verdict(results):
    made = results(file=drawn(60).assign(age="-9"), decision={"largest_risk_at_most": 0.1})
    assert filerisk_thresholds.risk_thresholds(made) is None
    assert "no verdict" in told(made)
    assert "No record has a complete key" in told(made)


CASES = [
    ({"largest_risk_at_most": 0.999}, "individual", "Within the limit, with reservations",
     ["often too low", "in the file alone it is above the limit"]),
    ({"largest_risk_at_most": 0.0001}, "individual", "above the limit", ["estimated by the individual risk)"]),
    ({"largest_risk_at_most": 1}, "sample", "within the limit", ["in the file alone; in the population"]),
    ({"average_risk_at_most": 0.0001}, "individual", "above the limit", ["a mean risk of at most 0.01 %"]),
    ({"share_above": {"risk": 0.09, "at_most": 1}}, "sample", "within", ["the records with a risk above 9 %"]),
    ({"expected_reidentifications_at_most": 0.5}, "individual", "above", ["0.5 expected re-identifications"]),
    ({"population_uniques_at_most": 1}, "sample", "no verdict", ["which side of a limit", "which does not decide it"]),
    ({"population_uniques_at_most": 1, "k_anonymity_at_least": 2, "records_below_k_at_most": 1}, "", "reservations",
     ["Not decided: at most 1 records that are unique in the population", "which does not decide it"]),
    ({"k_map_at_least": 3}, "sample", "no verdict", ["at least 3 people who match each record"]),
]  # fmt: skip


@pytest.mark.parametrize(("decision", "basis", "verdict", "says"), CASES)
def test_each_limit_without_a_population_names_what_it_was_judged_by(results, decision, basis, verdict, says):
    made = results(decision=decision)
    text = told(made)
    assert verdict.lower() in text.lower()
    assert all(part in text for part in says), text
    if basis:
        assert made.table("verdict/limits.csv")["metric"].tolist() == [basis]


@pytest.mark.parametrize(
    ("decision", "verdict"),
    [
        ({"k_map_at_least": 2}, "above"),
        ({"delta_presence_at_most": 0.01}, "above"),
        ({"delta_presence_at_most": 1}, "within"),
        ({"largest_risk_at_most": 1}, "within"),
        ({"population_uniques_at_most": 0}, "above"),
    ],
)
def test_each_limit_with_a_population_is_judged_by_it(results, decision, verdict):
    made = results(KNOWN, decision=decision)
    text = told(made)
    assert f"{verdict} the limit**" in text
    assert "(in the population)" in text


def test_a_population_that_lacks_people_of_the_file_puts_a_limit_that_is_met_under_reservation(results):
    regions = ["99"] * 59 + ["1"]  # a file without a code of the population is refused
    stranger = drawn(60).assign(region=regions)
    made = results(KNOWN, file=stranger, decision={"largest_risk_at_most": 0.5})
    assert of(made, "population")["n_beyond"] >= 50
    assert "with reservations" in told(made)
    n = int(of(made, "population")["n_beyond"])
    assert f"which lacks people of {n} records" in told(made)
    assert f"{n} records are matched by fewer people" in str(filerisk_thresholds.risk_thresholds(made))


def test_limits_of_sensitive_variables_name_them(results):
    made = results(SEVERAL, decision={"l_diversity_at_least": 2, "t_closeness_at_most": 1})
    text = told(made)
    worst = made.table("filerisk/diversity.csv")["distinct_l"].min()
    assert f"at least 2 values of tenure in every cell, here {worst:.0f}" in text
    assert "a distance t of tenure of at most 100 %" in text


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("section", [KNOWN, FILE_RISK, POPULATION], ids=["known", "alone", "simulated"])
def test_every_sentence_is_there_in_both_languages(results, language, section):
    made = results(section, language=language, decision={"largest_risk_at_most": 0.5, "average_risk_at_most": 0.5})
    assert filerisk_thresholds.risk_thresholds(made)
    assert filerisk.risk_overall(made)
