"""The risk of records beside thresholds in the report, and the limits on it in words (METHODS §7.6)."""

import pytest
from making.filerisk import FILE_RISK, POPULATION, SEVERAL, drawn, write_filerisk
from reident.filerisk import report as filerisk
from reident.filerisk import report_thresholds as filerisk_thresholds
from reident.report.results import Results

KNOWN = {**FILE_RISK, "population": {"file": {"path": "census.csv"}}}


@pytest.fixture
def results(tmp_path):
    return lambda section=FILE_RISK, **keys: Results(write_filerisk(tmp_path / "results", section, **keys))


def told(made):
    """The verdict as it is beside an attack; alone, a table has the limits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filerisk, "is_alone", lambda _: False)
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
    ({"largest_risk_at_most": 1}, "sample", "no verdict", ["so they count for no verdict"]),
    ({"largest_risk_at_most": 1, "expected_reidentifications_at_most": 119.9}, "", "reservations",
     ["No result can break these limits, so they count for no verdict: a largest risk of at most 100 %"]),
    ({"average_risk_at_most": 0.0001}, "individual", "above the limit", ["a mean risk of at most 0.01 %"]),
    ({"share_above": {"risk": 0.09, "at_most": 0.001}}, "individual", "above", ["the records with a risk above 9 %"]),
    ({"expected_reidentifications_at_most": 0.5}, "individual", "above", ["0.5 expected re-identifications"]),
    ({"population_uniques_at_most": 1}, "sample", "no verdict", ["which side of a limit", "which does not decide it"]),
    ({"population_uniques_at_most": 1, "k_anonymity_at_least": 2, "records_below_k_at_most": 0.999}, "", "reservations",
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
        ({"expected_reidentifications_at_most": 119.9}, "within"),
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
    made = results(KNOWN, file=stranger, decision={"average_risk_at_most": 0.999})
    assert of(made, "population")["n_beyond"] >= 50
    assert "with reservations" in told(made)
    judged = made.table("filerisk/judged.csv").set_index("limit")
    n = int(judged.at["n_beyond", "wildcard"])  # of all records, one of which misses its job
    assert f"which lacks people of {n} records" in told(made)
    assert f"{n} records are not in the population file, or more frequent" in str(
        filerisk_thresholds.risk_thresholds(made)
    )


def test_limits_of_sensitive_variables_name_them(results):
    made = results(SEVERAL, decision={"l_diversity_at_least": 2, "t_closeness_at_most": 0.999})
    text = told(made)
    worst = made.table("filerisk/diversity.csv")["distinct_l"].min()
    assert f"at least 2 values of tenure in every cell, here {worst:.0f}" in text
    assert "a distance t of tenure of at most 99.9 %" in text


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("section", [KNOWN, FILE_RISK, POPULATION], ids=["known", "alone", "simulated"])
def test_every_sentence_is_there_in_both_languages(results, language, section):
    made = results(section, language=language, decision={"largest_risk_at_most": 0.5, "average_risk_at_most": 0.5})
    assert filerisk_thresholds.risk_thresholds(made)
    assert filerisk.risk_overall(made)


UNLIKE = [(a, b) for a in range(1, 7) for b in range(a, 7)]
PAIRS = drawn(2 * len(UNLIKE)).assign(hh=[str(at // 2) for at in range(2 * len(UNLIKE))], tenure="1",
                                      region=[str(one) for pair in UNLIKE for one in pair])  # fmt: skip
OF_UNITS = {**FILE_RISK, "key_variables": ["region"], "units": "hh",
            "scenarios": [{"name": "Neighbour", "known": ["region"]}]}  # fmt: skip
OF_ALL = {
    "k_anonymity_at_least": 5, "dis_at_most": 0.9, "largest_risk_at_most": 0.2, "average_risk_at_most": 0.9,
    "share_above": {"risk": 0.33, "at_most": 0.5}, "expected_reidentifications_at_most": 12,
    "population_uniques_at_most": 1, "k_map_at_least": 2, "unique_share_at_most": 0.1,
}  # fmt: skip


def test_limits_on_units_are_beside_those_on_records(results):
    """Seven records have each region, and no two pairs are alike."""
    text = told(results(OF_UNITS, file=PAIRS, decision=OF_ALL))
    assert "above the limit" in text
    assert "cells of at least 5 records, here the smallest has 7 records and 0 % of the records" in text
    assert "cells of at least 5 units, here the smallest has 1 unit and 100 % of the units" in text
    assert "at most 10 % unique units for the intruder Neighbour, here 100.0 %" in text
    undecided = "here 100.0 % (in the file alone, which does not decide it)"
    assert f"a largest risk of a unit of at most 20 %, {undecided}" in text
    assert f"at most 50 % of the units with a risk above 33 %, {undecided}" in text
    assert "at most 12 units expected to be re-identified, here 21 (in the file" in text


def test_limits_on_units_are_in_the_language_of_the_report(results):
    text = told(results(OF_UNITS, file=PAIRS, decision=OF_ALL, language="de"))
    assert "Zellen mit mindestens 5 Einheiten, hier hat die kleinste 1 Einheit" in text
    assert "größtes Risiko einer Einheit höchstens 20" in text


def test_units_whose_share_in_small_cells_is_allowed_are_told_by_it(results):
    decision = {"k_anonymity_at_least": 3, "records_below_k_at_most": 0.5}
    assert "at most 50 % of the units in cells of fewer than 3 units, here 100 %" in told(
        results(OF_UNITS, file=PAIRS, decision=decision)
    )
