"""The conclusions about utility, and when each is printed."""

import pytest
from making.conclusions import printed
from making.report import Shape, write_results
from making.variants import ALPHA, add_variants
from reident.report.results import Results
from reident.utility import report as utility
from utility.cases import write_utility

UTILITY = {
    "unchanged": r"Protection changed no value",
    "changed": r"Protection changed a value of \d+ records? \(",
    "moved": r"The distribution of a variable moved by .+ on average",
    "pairs moved": r"The joint distribution of two variables moved by",
    "model": r"pMSE\]\{term=pmse\} of a model that tells released records from original ones is",
    "expectation": r"times its expectation for two independent samples",
    "means overlap": r"intervals of means and shares before and after protection \[overlap\]",
    "coefficients overlap": r"Those of the coefficients of the regression overlap",
    "least loss": r"Of the variants within the limits, .+ has the least loss",
    "equal loss": r"Of the variants within the limits, .+ have the same, least loss",
}
MEASURED = {"changed", "moved", "pairs moved", "model", "expectation", "means overlap"}


INCOME = {"regression": {"response": "income", "predictors": ["age"]}}


@pytest.mark.parametrize(
    ("shape", "measured", "expected"),
    [
        ({}, {}, MEASURED | {"least loss"}),
        ({}, INCOME, MEASURED | {"coefficients overlap", "least loss"}),
        ({}, {"changed": 0}, {"unchanged", "equal loss"}),
        ({"limit": 0.0001}, {}, MEASURED),
        ({"limit": None}, {}, MEASURED),
        ({"linked": 0.0, "lost": False}, {}, MEASURED),
        ({"linked": 0.006}, {}, MEASURED | {"least loss"}),
        ({"variables": (("income", "numeric", "income"),), "strata": None}, {},
         (MEASURED | {"least loss"}) - {"pairs moved"}),
    ],
    ids=[
        "measured", "a regression", "nothing changed", "none within", "no limit", "no link", "reserved", "one variable",
    ],
)  # fmt: skip
def test_a_conclusion_about_utility(tmp_path, shape, measured, expected):
    folder = write_results(tmp_path / "results", Shape(**{"original": True, "limit": 0.99} | shape))
    labels = [{"alpha": alpha} for alpha in ALPHA["values"]]
    study = Results(add_variants(write_utility(folder, **measured), [ALPHA], labels))
    text = f"{utility.utility_findings(study)} {utility.utility_choice(study)}"
    assert printed(text, UTILITY) == expected
