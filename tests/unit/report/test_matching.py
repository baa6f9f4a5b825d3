"""The report on synthetic data: numbers of the tables, verdicts, and nothing without a table."""

import pandas as pd
import pytest
from making.matching import MATCHING, SUBSETS, write_matching
from making.report import cells, write_results
from reident.report import figures, tables
from reident.report.results import Results
from reident.report.tables import matching_sets
from reident.report.tables.common import size_class
from reident.report.tables.matching import limits


@pytest.fixture
def make_results(tmp_path):
    """Return a function that makes the results of a section `matching` and of other keys."""
    return lambda matching=MATCHING, **keys: Results(write_matching(tmp_path / "results", matching, **keys))


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return Results(write_matching(tmp_path_factory.mktemp("matching") / "results"))


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    return Results(write_matching(tmp_path_factory.mktemp("subsets") / "results", SUBSETS))


def limited(**limit):
    return {"decision": limit}


def test_every_synthetic_file_is_shown_with_their_mean_and_the_confidential_file(usual):
    text = tables.matching_summaries(usual)
    summary = usual.table("matching/summary.csv")
    order = (
        "Synthetic file 1",
        "Synthetic file 2",
        "Synthetic file 3",
        "Mean of the synthetic files",
        "for comparison",
    )
    assert [text.count(name) for name in order] == [1] * 5
    assert sorted(order, key=text.index) == list(order)
    for value in summary["expected_match_risk"]:
        assert f"{value:,.1f}" in text
    for word in ("Expected match risk", "True match rate", "False match rate"):
        assert f"**{word}**" in text  # the explanation below the table


def test_many_files_are_shown_by_their_mean(make_results):
    copies = [{"path": f"synthetic_{file}.csv"} for file in range(1, 15)]
    text = tables.matching_summaries(make_results({**MATCHING, "synthetic": copies}, n=40))
    assert "Synthetic file" not in text
    assert "contains each of the 14 files" in text


@pytest.mark.parametrize(
    ("limit", "title", "text", "case"),
    [
        ({}, "no verdict", "sets no limit", "no limit"),
        ({"expected_match_risk_at_most": 300}, "within the limit", "at most 300", "a limit of all records"),
        ({"true_match_rate_at_most": 0}, "beyond the limit", "at most 0 %", "a limit of 0"),
        ({"expected_match_risk_at_most": 0.01}, "beyond the limit", "for all three intruders", "all intruders"),
        ({"false_match_rate_at_least": 1}, "beyond the limit", "at least 100 %", "a lower limit"),
    ],
)  # fmt: skip
def test_the_verdict(make_results, limit, title, text, case):
    results = make_results(**limited(**limit)) if limit else make_results()
    verdict = tables.matching_overall(results).replace("\u00a0", " ")
    assert f"Synthetic data: {title}" in verdict, case
    assert text in verdict, case
    by_intruder = tables.matching_verdicts(results)
    assert (by_intruder is None) == (not limit)
    if limit:
        assert ("▲" in by_intruder) == (title == "beyond the limit")


def test_a_risk_equal_to_the_limit_meets_it(make_results, usual):
    lines = usual.table("matching/scenarios.csv")
    highest = lines.loc[lines["file"] == "mean", "expected_match_risk"].max()
    results = make_results(**limited(expected_match_risk_at_most=highest))
    assert "within the limit" in tables.matching_overall(results)


def test_only_intruders_beyond_the_limit_are_named(make_results, usual):
    lines = usual.table("matching/scenarios.csv")
    mean = lines[lines["file"] == "mean"].set_index("scenario")["expected_match_risk"]
    assert mean["stranger"] < mean["neighbour"]
    limit = (mean["neighbour"] + mean.drop("neighbour").max()) / 2
    text = tables.matching_overall(make_results(**limited(expected_match_risk_at_most=limit)))
    assert "(for neighbour)" in text


def test_a_lower_limit_is_met_without_a_unique_match(make_results):
    matching = {**MATCHING, "known": [], "scenarios": [], "synthesized": ["sex"], "radius": {}}
    results = make_results(matching, **limited(false_match_rate_at_least=0.9))
    assert "within the limit" in tables.matching_overall(results)
    assert "no unique match" in tables.matching_verdicts(results)
    assert "not defined" in tables.matching_summaries(results)
    assert "There is no person for whom exactly one record" in tables.matching_findings(results)


def test_limits_of_linkage_are_not_limits_of_matching(usual):
    usual_limits = {"decision": {"conditional_rate_at_most": 0.1, "true_match_rate_at_most": 0.2}}
    assert limits(type("Study", (), {"study": usual_limits})()) == {"true_match_rate_at_most": 0.2}


def test_findings_say_what_the_intruder_knows(usual):
    text = tables.matching_findings(usual)
    assert text.count("- **") == 3
    assert "knows sex and region of a person, and the true values of job and income" in text
    assert "of 300 people" in text


def test_the_premise_names_radii_and_targets(make_results):
    results = make_results({**MATCHING, "targets": {"variable": "sex", "equals": ["1"]}})
    text = tables.matching_premise(results).replace("\u00a0", " ")
    assert "income within 10 % of the true value" in text
    assert "age within 1" in text
    assert "the *targets*" in text
    assert "three synthetic files are released" in text


def test_the_distribution_adds_up(usual):
    classes = matching_sets.by_class(usual)
    assert classes["n_records"].sum() == pytest.approx(300)
    assert classes["confidential"].sum() == 300
    mean = usual.table("matching/summary.csv").set_index("file").loc["mean"]
    assert classes["risk"].sum() == pytest.approx(mean["expected_match_risk"])
    assert classes["n_records"].iloc[1] == pytest.approx(mean["unique_matches"])


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0, 0, "none"), (1, 1, "1"), (3, 4, "3 – 4"), (1000, float("nan"), "1,000 or more")],
)
def test_classes_in_words(low, high, words):
    assert size_class(low, high) == words


def test_several_intruders_are_compared(usual, make_results):
    text = tables.matching_scenarios(usual)
    assert "*neighbour* has the highest expected match risk" in text
    assert "nothing but the synthesized variables" in text
    assert tables.matching_scenarios(make_results({**MATCHING, "scenarios": [], "radius": {}})) is None


def test_all_sets_of_known_variables_are_ranked(every, usual):
    text = tables.matching_subsets(every)
    assert (
        "every set of at most 3 known variables: 7 sets in total. The set with the highest risk is sex, age and region,"
        in text
    )
    sets = matching_sets.all_sets(every)
    assert sets["rank"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert sets["expected_match_risk"].is_monotonic_decreasing
    assert tables.matching_subsets(usual) is None
    assert figures.matching_subsets(usual) is None


def test_the_factor_of_a_variable_is_a_geometric_mean():
    sets = pd.DataFrame({"known": ["a", "b", "a + b"], "expected_match_risk": [1.0, 4.0, 8.0]})
    assert matching_sets.gains(sets) == {"a": pytest.approx(2), "b": pytest.approx(8)}
    assert matching_sets.gains(sets.assign(expected_match_risk=[0.0, 4.0, 8.0])) == {"a": pytest.approx(2)}


def test_choices_and_account_are_shown(usual):
    assert "a value at the end of the radius matches" in tables.matching_choices(usual)
    assert tables.matching_account(usual).count("**rows used**") == 5
    assert tables.matching_warnings(usual) is None
    assert "release of the synthetic data" in tables.sign_off(usual)
    assert "matching/summary" in tables.provenance(usual).replace("\\", "")


def test_names_of_intruders_are_escaped(make_results):
    hostile = "<script>|$x$ `{=html}`"
    results = make_results(
        {**MATCHING, "scenarios": [{"name": hostile, "known": ["age"]}]}, **limited(true_match_rate_at_most=0)
    )
    for part in (tables.matching_scenarios, tables.matching_verdicts):
        assert "<script>" not in part(results)
        assert "\\<script\\>" in part(results)
    assert "for both intruders" in tables.matching_overall(results)


def test_the_notebook_of_a_study_of_synthetic_data_alone(usual):
    shown = cells(usual)
    assert shown["front"]
    assert shown["matching"]
    assert shown["provenance"]
    for name in ("attack", "rates", "suspicions", "agreement", "cut-points"):
        assert shown[name] == [], name


def test_the_notebook_of_a_study_of_linkage_alone(tmp_path):
    shown = cells(Results(write_results(tmp_path / "results")))
    assert shown["matching"] == []
    assert shown["rates"]
    assert not any("Synthetic data" in str(one) for one in shown["front"])
    assert any("public use file:" in str(one) for one in shown["sign-off"])
