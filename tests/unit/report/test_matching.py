"""The section on synthetic data: numbers of the tables, verdicts, what appears only where there is something to say."""

import pandas as pd
import pytest
from making.matching import MATCHING, SUBSETS, write_matching
from making.report import cells, write_results
from reident.report import figures, tables
from reident.report.results import Results
from reident.report.tables import matching_sets
from reident.report.tables.matching import limits


@pytest.fixture
def results(tmp_path):
    """A function from the section `matching` and other keys to its results."""
    return lambda matching=MATCHING, **keys: Results(write_matching(tmp_path / "results", matching, **keys))


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return Results(write_matching(tmp_path_factory.mktemp("matching") / "results"))


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    return Results(write_matching(tmp_path_factory.mktemp("subsets") / "results", SUBSETS))


def limited(**limit):
    return {"decision": limit}


def test_every_synthetic_file_stands_beside_their_mean_and_the_confidential_file(usual):
    text = tables.matching_summaries(usual)
    summary = usual.table("matching/summary.csv")
    assert [text.count(name) for name in ("Synthetic file 1", "Synthetic file 2", "Synthetic file 3")] == [
        1,
        1,
        1,
    ]
    assert (
        text.index("Synthetic file 3")
        < text.index("Mean of the synthetic files")
        < text.index("for comparison")
    )
    for value in summary["expected_match_risk"]:
        assert f"{value:,.1f}" in text
    for word in ("Expected match risk", "True match rate", "False match rate"):
        assert f"**{word}**" in text  # and what it means


def test_many_files_are_shown_by_their_mean(results):
    copies = [{"path": f"synthetic_{file}.csv"} for file in range(1, 15)]
    text = tables.matching_summaries(results({**MATCHING, "synthetic": copies}, n=40))
    assert "Synthetic file" not in text
    assert "has each of the 14 files" in text


@pytest.mark.parametrize(
    ("limit", "title", "said", "sentence"),
    [
        ({}, "no verdict", "names no limit", "without limits the report judges nothing"),
        ({"expected_match_risk_at_most": 300}, "within the limit", "at most 300", "nobody can be beyond all records"),
        ({"true_match_rate_at_most": 0}, "beyond the limit", "at most 0 %", "a limit of nought is broken"),
        ({"expected_match_risk_at_most": 0.01}, "beyond the limit", "by all three intruders", "by everybody"),
        ({"false_match_rate_at_least": 1}, "beyond the limit", "at least 100 %", "a lower bound is broken from above"),
    ],
)  # fmt: skip
def test_the_verdict(results, limit, title, said, sentence):
    found = results(**limited(**limit)) if limit else results()
    text = tables.matching_overall(found).replace("\u00a0", " ")
    assert f"Synthetic data: {title}" in text, sentence
    assert said in text, sentence
    cells = tables.matching_verdicts(found)
    assert (cells is None) == (not limit)
    if limit:
        assert ("▲" in cells) == (title == "beyond the limit")


def test_a_limit_exactly_met_is_kept(results, usual):
    summary = usual.table("matching/scenarios.csv")
    most = summary.loc[summary["file"] == "mean", "expected_match_risk"].max()
    assert "within the limit" in tables.matching_overall(results(**limited(expected_match_risk_at_most=most)))


def test_only_intruders_beyond_the_limit_are_named(results, usual):
    lines = usual.table("matching/scenarios.csv")
    mean = lines[lines["file"] == "mean"].set_index("scenario")["expected_match_risk"]
    assert mean["stranger"] < mean["neighbour"]
    limit = (mean["neighbour"] + mean.drop("neighbour").max()) / 2
    text = tables.matching_overall(results(**limited(expected_match_risk_at_most=limit)))
    assert "broken by neighbour." in text


def test_without_a_unique_match_a_lower_bound_is_met(results):
    """Everybody alike: no match is unique, no false match rate is defined."""
    matching = {**MATCHING, "known": [], "scenarios": [], "synthesized": ["sex"], "radius": {}}
    found = results(matching, **limited(false_match_rate_at_least=0.9))
    assert "within the limit" in tables.matching_overall(found)
    assert "nothing unique" in tables.matching_verdicts(found)
    assert "not defined" in tables.matching_summaries(found)
    assert "nobody stands out" in tables.matching_findings(found)


def test_limits_of_linkage_are_not_those_of_matching(usual):
    usual_limits = {"decision": {"conditional_rate_at_most": 0.1, "true_match_rate_at_most": 0.2}}
    assert limits(type("Study", (), {"study": usual_limits})()) == {"true_match_rate_at_most": 0.2}


def test_three_sentences_name_what_an_intruder_knows(usual):
    text = tables.matching_findings(usual)
    assert text.count("- **") == 3
    assert "who knows sex and region of a person, and the true job and income" in text
    assert "of 300 persons" in text


def test_the_premise_names_radii_and_targets(results):
    found = results({**MATCHING, "targets": {"variable": "sex", "equals": ["1"]}})
    text = tables.matching_premise(found).replace("\u00a0", " ")
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
    ("low", "high", "said"),
    [(0, 0, "none"), (1, 1, "1"), (3, 4, "3 – 4"), (1000, float("nan"), "1,000 and more")],
)
def test_classes_in_words(low, high, said):
    assert matching_sets.class_words(low, high) == said


def test_intruders_are_compared_where_there_are_several(usual, results):
    text = tables.matching_scenarios(usual)
    assert "*neighbour* is the most dangerous" in text
    assert "nothing but the synthesized variables" in text
    assert tables.matching_scenarios(results({**MATCHING, "scenarios": [], "radius": {}})) is None


def test_all_subsets_are_ranked(every, usual):
    text = tables.matching_subsets(every)
    assert (
        "All 7 sets of at most 3 known variables were tried. The most dangerous is sex, age and region"
        in text
    )
    found = matching_sets.subsets(every)
    assert found["place"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert found["expected_match_risk"].is_monotonic_decreasing
    assert tables.matching_subsets(usual) is None
    assert figures.matching_subsets(usual) is None


def test_what_a_variable_adds_is_a_geometric_mean():
    found = pd.DataFrame({"known": ["a", "b", "a + b"], "expected_match_risk": [1.0, 4.0, 8.0]})
    assert matching_sets.gains(found) == {"a": pytest.approx(2), "b": pytest.approx(8)}
    assert matching_sets.gains(found.assign(expected_match_risk=[0.0, 4.0, 8.0])) == {"a": pytest.approx(2)}


def test_choices_and_account(usual):
    assert "a number at the very end matches" in tables.matching_choices(usual)
    assert tables.matching_account(usual).count("**rows used**") == 5
    assert tables.matching_warnings(usual) is None
    assert "release of the synthetic data" in tables.sign_off(usual)
    assert "matching/summary" in tables.provenance(usual).replace("\\", "")


def test_a_name_of_an_intruder_cannot_steer_the_page(results):
    hostile = "<script>|$x$ `{=html}`"
    found = results(
        {**MATCHING, "scenarios": [{"name": hostile, "known": ["age"]}]}, **limited(true_match_rate_at_most=0)
    )
    for part in (tables.matching_scenarios, tables.matching_verdicts):
        assert "<script>" not in part(found)
        assert "\\<script\\>" in part(found)
    assert "broken by both intruders" in tables.matching_overall(found)


def test_the_notebook_of_synthetic_data_alone(usual):
    shown = cells(usual)
    assert shown["front"]
    assert shown["matching"]
    assert shown["provenance"]
    for name in ("attack", "rates", "suspicions", "agreement", "cut-points"):
        assert shown[name] == [], name


def test_the_notebook_of_linkage_alone(tmp_path):
    shown = cells(Results(write_results(tmp_path / "results")))
    assert shown["matching"] == []
    assert shown["rates"]
    assert not any("Synthetic data" in str(one) for one in shown["front"])
    assert any("public use file:" in str(one) for one in shown["sign-off"])
