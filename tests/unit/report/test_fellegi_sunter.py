"""Weights by variable and level, and match probabilities against the links, as the report shows them."""

import pytest
from making.report import Shape, cells, write_results
from reident.report.parts import fellegi_sunter
from reident.report.parts.fellegi_sunter import bits
from reident.report.results import Results

METRICS = ("taxicab", "fellegi_sunter")


@pytest.fixture
def results(tmp_path):
    return lambda **shape: Results(write_results(tmp_path / "results", Shape(**{"metrics": METRICS} | shape)))


def test_every_level_of_every_variable_has_a_line_and_a_dot(results):
    study = results()
    table, drawn = str(fellegi_sunter.weights_table(study)), fellegi_sunter.weights_figure(study)
    lines = study.table("weights/levels.csv")
    shown = [
        row for row in table.splitlines() if any(level in row for level in ("agree", "differ", "missing"))
    ]
    assert len(shown) == len(lines)
    for line in lines[lines["level"] != "missing"].itertuples():
        assert bits(line.weight) in table
        assert bits(line.weight) in drawn.alt
    assert "agree partly" in table
    assert "missing" not in drawn.alt


@pytest.mark.parametrize(
    ("weight", "shown"), [(2.345, "+2.35"), (-0.5, "−0.50"), (0.0, "0.00"), (-0.001, "0.00"), (0.004, "0.00")]
)
def test_a_weight_has_a_sign_unless_it_is_0(weight, shown):
    assert bits(weight) == shown


def test_the_premise_says_what_the_intruder_knows(results):
    blind = fellegi_sunter.weights_premise(results())
    assert "**blind**" in blind
    assert "EM algorithm" in blind
    assert "+11.29 bits" in blind
    informed = fellegi_sunter.weights_premise(results(options={"fellegi_sunter": {"m": "informed"}}))
    assert "**informed**" in informed
    assert "EM" not in informed


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
    study = results(tolerances={"fellegi_sunter": -1})
    (warning,) = [text for text in study.table("verdict/warnings.csv")["warning"] if "no pair can be" in text]
    assert warning.startswith("Fellegi–Sunter: no pair can be suspected.")
    assert "Lower its `threshold`." in warning
