"""What came of the search for coarser values, as the report shows it."""

import json

import pandas as pd
import pytest
from making.report import Shape, write_results
from making.studies import plain, saved
from reident.errors import InputError
from reident.linkage.recodings import LEFT_OUT, NEIGHBOURS
from reident.report.results import Results
from reident.study.model import load
from reident.suggestion import report as suggestion
from why.cases import write_why

METRICS = ("unicity", "taxicab")
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


def test_a_run_searches_only_where_a_rate_has_a_limit(tmp_path):
    file = saved(tmp_path, plain(why={"suggest": True}))
    with pytest.raises(InputError, match=r"line \d+: `why\.suggest` must not be `true` without a limit"):
        load(file)
