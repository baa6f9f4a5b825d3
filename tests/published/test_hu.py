"""Hu's course: matching-based risk of a synthetic ACS sample of 10,000 records (METHODS §10).

The data are not part of the project; they are looked for in ``shared/data`` beside the checkout.
"""

from pathlib import Path

import pytest
from reident.matching import prepare as intake
from reident.matching.summary import match_files
from reident.pipeline import parts
from reident.sections.matching import Matching

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = ("acs_confidential.csv", "acs_synthetic_1.csv")

pytestmark = pytest.mark.skipif(
    not all((DATA / name).is_file() for name in FILES),
    reason="Hu's ACS sample is not there: shared/data/acs_*.csv beside the checkout",
)


@pytest.fixture(scope="module")
def summary():
    options = Matching.model_validate(
        {
            "confidential": {"path": FILES[0]},
            "synthetic": [{"path": FILES[1]}],
            "known": ["SEX", "RACE", "MAR"],
            "synthesized": ["LANX", "WAOB", "DIS", "HICOV"],
        }
    )
    text = intake.read_confidential(parts.matched_files(options), DATA / FILES[0])
    copy = intake.read_synthetic(parts.matched_files(options), 0, DATA / FILES[1])
    prepared = intake.prepare(parts.matched_files(options), text, [copy])
    assert prepared.warnings.empty
    return match_files(
        parts.match_rules(options), prepared.confidential, prepared.synthetic
    ).summary.set_index("file")


@pytest.mark.parametrize("file", ["1", "mean"])
def test_all_published_digits(summary, file):
    found = summary.loc[file]
    assert f"{found['expected_match_risk']:.7g}" == "41.36863"
    assert found["true_match_rate"] == 5e-04
    assert f"{found['false_match_rate']:.6f}" == "0.974359"
    assert found["unique_matches"] == 195
    assert found["targets"] == 10_000


def test_the_confidential_file_against_itself_has_no_false_match(summary):
    found = summary.loc["confidential"]
    assert found["false_match_rate"] == 0
    assert found["true_match_rate"] == found["unique_matches"] / 10_000
