"""Warnings that bear on the verdict: on the first page, in the terminal, in the log and in the verdict."""

import copy
import csv
import io
from random import Random

import pandas as pd
import pytest
from pypdf import PdfReader
from workflow.commands import PRELOADED, snakemake
from workflow.test_matching_study import MATCHING, study_file
from workflow.test_matching_study import write as write_files

from workflow import small

pytestmark = pytest.mark.slow


def finished(file, folder, name):
    """Run a study; return its verdict, its warnings, what the terminal shows, its log and the first page."""
    ended = snakemake(studies=[file], folder=folder, program=PRELOADED)
    assert ended.code == 0, ended.shown
    results = folder / "results" / name
    page = PdfReader(folder / "reports" / name / "disclosure-review.pdf").pages[0].extract_text()
    return (
        pd.read_csv(results / "verdict/summary.csv").set_index("scope")["verdict"]["ALL"],
        pd.read_csv(results / "verdict/warnings.csv"),
        " ".join(ended.shown.split()),
        (results / "logs/judge.log").read_text(encoding="utf-8"),
        " ".join(page.split()),
    )


def test_a_forgotten_missing_code_puts_the_verdict_under_reservation(tmp_path):
    study = copy.deepcopy(small.STUDY) | {"decision": {"conditional_rate_at_most": 1}}
    study["metrics"] = {"unicity": {}, "taxicab": {}}
    tenure = next(variable for variable in study["linking_variables"] if variable["name"] == "tenure")
    tables = small.rows(150, 250)
    for row in tables["eif"][1:]:
        row[-1] = "" if row[-1] == "-9" else row[-1]
    tenure["missing"] = {"puf": [], "eif": [""]}  # -9 is forgotten for the PUF
    verdict, warnings, terminal, log, page = finished(
        small.write(tmp_path, study, tables), tmp_path / "run", "small"
    )
    assert verdict == "reservations"
    grave = warnings.loc[warnings["severity"] == "understates", "warning"]
    (warning,) = (text for text in grave if "like missing values" in text)
    assert "variable tenure" in warning
    assert "not declared as missing: -9" in warning
    assert f"small: warning, may understate the risk: {warning}" in terminal
    assert "small: within the limit, with reservations" in terminal
    assert f"may understate the risk: {warning}" in log
    assert "Within the limit, with reservations" in page
    assert "like missing values and are not declared as missing" in page


def test_a_shuffled_synthetic_file_has_no_verdict(tmp_path):
    write_files(tmp_path)
    file = tmp_path / "synthetic_2.csv"
    head, *rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8")))
    Random(1).shuffle(rows)  # noqa: S311 - made up, no secret
    file.write_text("\n".join(",".join(row) for row in [head, *rows]) + "\n", encoding="utf-8")
    study = {"id": "shuffled", "matching": MATCHING, "decision": {"true_match_rate_at_most": 1}}
    verdict, warnings, terminal, log, page = finished(
        study_file(tmp_path, study), tmp_path / "run", "shuffled"
    )
    assert verdict == "none"
    assert warnings["severity"][0] == "invalidates"
    assert warnings["warning"][0].startswith(
        "synthetic_2.csv: known variables are released as they are, but only"
    )
    assert f"shuffled: warning, may invalidate the results: {warnings['warning'][0]}" in terminal
    assert "shuffled: no verdict" in terminal
    assert "may invalidate the results: synthetic_2.csv" in log
    assert "no verdict" in page
    assert "within the limit" not in page.lower()
    assert "The rows do not seem to correspond" in page


@pytest.mark.long  # as the shuffled file; its sentences: tests/unit/report
def test_scores_that_cannot_reach_the_threshold_have_no_verdict(tmp_path):
    study = copy.deepcopy(small.STUDY) | {"decision": {"conditional_rate_at_most": 0.05}}
    variables = [variable["name"] for variable in study["linking_variables"]]
    low = {"bands": [{"within": 0, "score": 2}], "beyond": 0}
    scores = {
        variable["name"]: low
        if variable["type"] == "numeric"
        else {"table": [{"puf": "1", "eif": "1", "score": 1}]}
        for variable in study["linking_variables"]
    }
    study["metrics"] = {"adhoc": {"scores": scores, "threshold": 5 * len(variables) / 2}}
    file = small.write(tmp_path, study, small.rows(80, 100))
    verdict, warnings, terminal, _, page = finished(file, tmp_path / "run", "small")
    assert verdict == "none"
    assert warnings["warning"].str.startswith("Adhoc: no pair can be suspected").sum() == 1
    assert "small: no verdict" in terminal
    assert "No verdict" in page
    assert "✓" not in page
    assert "Adhoc cannot suspect any pair, so it has no verdict" in page
