"""Weights by variable and level, and match probabilities against the links, as the report shows them."""

import pytest
from making.report import Shape, cells, write_results
from reident.report.blocks import fellegi_sunter
from reident.report.results import Results

METRICS = ("taxicab", "fellegi_sunter")


@pytest.fixture
def results(tmp_path):
    return lambda **shape: Results(write_results(tmp_path / "results", Shape(**{"metrics": METRICS} | shape)))


def test_classes_of_probabilities_are_shown_with_the_share_that_is_right(results):
    study = results()
    table, drawn = str(fellegi_sunter.calibration_table(study)), fellegi_sunter.calibration_figure(study)
    for text in ("80", "39", "55.0", "48.8"):
        assert text in table
    assert "55.0 %: 48.8 %" in drawn.alt.replace("\u202f", " ").replace("\u00a0", " ")


def test_without_suspected_pairs_there_is_no_calibration(results):
    study = results(calibration=())
    assert fellegi_sunter.calibration_table(study) is None
    assert fellegi_sunter.calibration_figure(study) is None
    assert cells(study, "weights")["weights"]


def test_a_threshold_that_no_pair_reaches_gives_no_verdict(results):
    study = results(tolerances={"fellegi_sunter": -1}, nothing_suspected=("fellegi_sunter",))
    (warning,) = [text for text in study.table("verdict/warnings.csv")["warning"] if "no pair can be" in text]
    assert warning.startswith("Fellegi–Sunter: no pair can be suspected.")
    assert "Lower its `threshold`." in warning


def test_the_links_that_candidates_may_leave_out_are_bounded_in_a_sentence(results):
    assert "At most 13 of the expected links" in fellegi_sunter.weights_premise(results(left_out=12.4))
    assert "best candidates" not in fellegi_sunter.weights_premise(results())
