"""Warnings that bear on the verdict: in the brief, in the terminal, in the log and in the verdict."""

import copy

import pandas as pd
import pytest
from pypdf import PdfReader
from workflow.commands import PRELOADED, snakemake

from workflow import small

pytestmark = pytest.mark.slow


def finished(file, folder, name):
    """Run a study; return verdict, warnings, what the terminal shows, its log and the pages of the brief."""
    ended = snakemake(studies=[file], folder=folder, program=PRELOADED)
    assert ended.code == 0, ended.shown
    results = folder / "results" / name
    pages = PdfReader(folder / "reports" / name / "disclosure-review.pdf").pages[:2]
    return (
        pd.read_csv(results / "verdict/summary.csv").set_index("scope")["verdict"]["ALL"],
        pd.read_csv(results / "verdict/warnings.csv"),
        " ".join(ended.shown.split()),
        (results / "logs/judge.log").read_text(encoding="utf-8"),
        [" ".join(page.extract_text().split()) for page in pages],
    )


def test_a_forgotten_missing_code_puts_the_verdict_under_reservation(tmp_path):
    study = copy.deepcopy(small.STUDY) | {"decision": {"conditional_rate_at_most": 0.99}}
    study["metrics"] = {"unicity": {}, "taxicab": {}}
    tenure = next(variable for variable in study["linking_variables"] if variable["name"] == "tenure")
    tables = small.rows(150, 250)
    for row in tables["eif"][1:]:
        row[-1] = "" if row[-1] == "-9" else row[-1]
    tenure["missing"] = {"puf": [], "eif": [""]}  # -9 is forgotten for the PUF
    verdict, warnings, terminal, log, brief = finished(small.write(tmp_path, study, tables), tmp_path / "run", "small")
    assert verdict == "reservations"
    grave = warnings.loc[warnings["severity"] == "understates", "warning"]
    (warning,) = (text for text in grave if "like a missing value" in text)
    assert "variable tenure" in warning
    assert "not declared as missing: -9" in warning
    assert f"small: warning, may understate the risk: {warning}" in terminal
    assert "small: within the limit, with reservations" in terminal
    assert f"may understate the risk: {warning}" in log
    assert "Within the limit, with reservations" in brief[0]
    assert f"{len(grave)} warnings below say that the risk may be understated" in brief[0]
    assert "like a missing value and is not declared as missing" in " ".join(brief)
