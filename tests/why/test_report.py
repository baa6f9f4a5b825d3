"""What carries the confirmed claims, as the report shows it."""

import json

import pandas as pd
import pytest
from making.additions import write_why
from making.report import Shape, added, write_results
from reident.linkage.recodings import LEFT_OUT, NEIGHBOURS
from reident.report.results import Results
from reident.suggestion import report as suggestion
from reident.why import report as why

METRICS = ("unicity", "taxicab")

results = added(write_why)


def test_every_change_has_a_line_with_the_net_change_of_each_metric(results):
    study = results()
    shown, drawn = str(why.why_recodings(study)), why.why_carried_figure(study)
    for text in ("left out", "intervals of 10", "top code 85", "−26 (30; 4)", "+1 (12; 13)", "0 (0; 0)"):
        assert text in shown
    assert len([row for row in shown.splitlines() if "left out" in row]) == len(study.study["linking_variables"])
    assert "75.0" in drawn.alt
    assert "50.0" in str(why.why_variables(study))


SUGGESTED = {
    "place": [1, 2, 3, 4],
    "recodings": [f"age: width 10; school: {NEIGHBOURS}", f"age: {LEFT_OUT}", f"school: {LEFT_OUT}", "none"],
    "verdict": ["within", "within", "above", "above"],
    "values_changed": [0.125, 0.5, 0.25, 0],
    "loss": [0.0625, 0.5, 0.5, 0],
    "dominated": ["no", "yes", "yes", "no"],
}


@pytest.fixture
def suggested(tmp_path):
    """Results of a study that asks for coarser values or not, with what came of them."""

    def make(*, asked=True, **columns):
        folder = write_why(write_results(tmp_path / "results", Shape(metrics=METRICS)))
        study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        study["why"]["suggest"] = asked
        (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
        (folder / "suggest").mkdir()
        lines = pd.DataFrame({**SUGGESTED, **columns})
        lines.to_csv(folder / "suggest" / "suggestions.csv", index=False)
        return Results(folder)

    return make


def test_the_set_that_meets_the_limits_and_loses_least_is_named(suggested):
    text = str(suggestion.suggested(suggested()))
    assert "tried with 3 sets" in text
    assert "**2 of them meet the limits" in text
    assert "age: intervals of 10; school: pairs of neighbours" in text
    assert "12.5" in text


def test_sets_that_another_dominates_are_left_to_the_file(suggested):
    shown = str(suggestion.suggestions(suggested()))
    assert "intervals of 10" in shown
    assert "none: the study itself" in shown
    assert "left out |" not in shown.replace("  ", " ")


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"verdict": ["above"] * 4}, "None of them meets the limits"),
        ({"verdict": ["within", "above", "above", "above"]}, "One of them meets the limits"),
        ({"verdict": ["within"] * 4}, "Every metric meets its limits without coarser values."),
    ],
)
def test_what_was_not_found_or_not_needed_is_said(suggested, columns, text):
    assert text in str(suggestion.suggested(suggested(**columns)))
