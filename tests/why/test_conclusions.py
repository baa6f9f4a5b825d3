"""The conclusions about what carries confirmed claims, and when each is printed."""

import pytest
from making.conclusions import printed
from making.report import Shape, write_results
from reident.report.results import Results
from reident.why import report as why
from why.cases import write_why

NET = {
    "carries": r"leaving out .+ would have prevented the most: .+ It would have confirmed \d+ others; the net",
    "coarser": r"the coarser values, .+ They would have confirmed \d+ others; the net change is",
    "none": r"No record is confirmed",
    "nothing": r"None of the changes of a single variable would have prevented",
    "no carrier": r"Leaving out a single variable would have prevented none",
}
"""The conclusions about what carries the confirmed claims."""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"carries", "coarser"}),
        ({"prevented": (30, 0, 0)}, {"carries"}),
        ({"prevented": (0, 12, 0)}, {"no carrier", "coarser"}),
        ({"prevented": (0, 0, 0)}, {"nothing"}),
        ({"prevented": (0, 0, 0), "n_confirmed": 0}, {"none"}),
    ],
)
def test_a_conclusion_about_what_carries_claims(tmp_path, options, expected):
    study = Results(write_why(write_results(tmp_path / "results", Shape()), **options))
    assert printed(str(why.why_findings(study)), NET) == expected
