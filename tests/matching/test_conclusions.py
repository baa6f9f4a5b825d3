"""The conclusions about synthetic data, and when each is printed."""

import pytest
from making.conclusions import FATAL, GRAVE, printed
from making.matching import MATCHING, write_matching
from reident.matching import report as matching
from reident.report.results import Results

MATCHED = {
    "within": r"\*\*Synthetic data: within the limit\*\*",
    "reserved": r"\*\*Synthetic data: within the limit, with reservations\*\*",
    "beyond": r"\*\*Synthetic data: beyond the limit\*\*",
    "no verdict": r"\*\*Synthetic data: no verdict\*\*",
    "invalid": r"A warning below may invalidate the results",
    "never": r"No result can break these limits, so they count for no verdict",
    "one file": r"matching records of the synthetic file",
    "several files": r"matching records of a synthetic file",
}
ONE_FILE = {**MATCHING, "synthetic": MATCHING["synthetic"][:1]}


LIMIT = {"decision": {"true_match_rate_at_most": 0.99}}


@pytest.mark.parametrize(
    ("section", "decision", "warnings", "expected"),
    [
        (MATCHING, {}, (), {"several files"}),
        (MATCHING, LIMIT, (), {"within", "several files"}),
        (ONE_FILE, LIMIT, (), {"within", "one file"}),
        (MATCHING, {"decision": {"expected_match_risk_at_most": 0}}, (), {"beyond", "several files"}),
        (MATCHING, LIMIT, (GRAVE,), {"reserved", "several files"}),
        (MATCHING, LIMIT, (FATAL,), {"no verdict", "invalid", "several files"}),
        (MATCHING, {"decision": {"true_match_rate_at_most": 1}}, (), {"no verdict", "never", "several files"}),
    ],
    ids=["no limit", "within", "m = 1", "beyond", "understated", "rows do not correspond", "unbreakable"],
)
def test_a_conclusion_about_synthetic_data(tmp_path, section, decision, warnings, expected):
    study = Results(write_matching(tmp_path / "results", section, warnings=warnings, **decision))
    text = str(matching.matching_overall(study)) + str(matching.matching_findings(study))
    assert printed(text, MATCHED) == expected
