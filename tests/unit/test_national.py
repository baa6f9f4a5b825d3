"""The study at national scale that docs/explanation/costs.md measures: its files fit together, at any size."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from reident.study import model as studies

DRAWING = Path(__file__).parents[1] / "benchmarks" / "national.py"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("national") / "new"
    subprocess.run([sys.executable, str(DRAWING), str(folder), "--records", "3001"], check=True)
    return folder


def test_the_study_file_names_what_the_files_have(drawn):
    model = studies.load(drawn / "study.yaml")
    assert list(model.chosen) == ["unicity", "taxicab", "euclidean", "adhoc"]
    assert len(model.linking_variables) == 13
    for side in ("puf", "eif"):
        columns = pd.read_csv(drawn / f"{side}.csv", nrows=0).columns
        assert {"id", "state", *(variable.name for variable in model.linking_variables)} == set(columns)


def test_every_link_is_of_one_person_who_is_in_both_files(drawn):
    puf, eif, iuf = (pd.read_csv(drawn / f"{side}.csv", dtype=str) for side in ("puf", "eif", "iuf"))
    assert len(puf) == len(eif) == 3001
    assert puf["id"].is_unique
    assert eif["id"].is_unique
    assert iuf["puf"].is_unique
    assert iuf["eif"].is_unique
    assert len(iuf) == 1500
    linked = iuf.merge(puf, left_on="puf", right_on="id").merge(eif, left_on="eif", right_on="id")
    assert len(linked) == 1500
    assert (linked["state_x"] == linked["state_y"]).all()
    # A category is another one by error, or missing, in few records of a file.
    assert (linked["c5_x"] == linked["c5_y"]).mean() > 0.8
    assert puf["state"].nunique() == 51
