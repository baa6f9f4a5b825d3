"""A labour force file through the real command gives what the brute-force oracle gives.

The survey itself may not be committed: it runs where it lies beside the checkout, and a drawn one of its kind always.
"""

import csv
from pathlib import Path

import pytest
import yaml
from making import labour
from oracles.checks import check_study
from oracles.study import run as judge
from workflow.commands import CHECKOUT, PRELOADED, made, snakemake
from workflow.library_run import read

LABOUR = CHECKOUT.parent / "shared" / "data" / "labour" / "labour.yaml"

pytestmark = pytest.mark.slow


@pytest.mark.long
def test_a_drawn_labour_force_file_is_what_the_oracle_says(tmp_path):
    check(labour.write(tmp_path / "in"), tmp_path / "run")


@pytest.mark.skipif(not LABOUR.is_file(), reason="the labour force file is not beside this checkout")
def test_the_labour_force_file_is_what_the_oracle_says(tmp_path):
    check(LABOUR, tmp_path)


def check(file: Path, folder: Path) -> None:
    ended = snakemake(*made("labour", "rates.csv"), studies=[file], folder=folder, program=PRELOADED)
    assert ended.code == 0, ended.shown
    study = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - makes text alone
    oracle = judge(study, *(rows_of(file, study, side) for side in ("puf", "eif", "iuf")))
    check_study(oracle, read(file, folder / "results" / "labour"))


def rows_of(file: Path, study: dict, side: str) -> list[dict[str, str]]:
    """The rows of a source file as text."""
    with Path(file.parent, study["files"][side]["path"]).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
