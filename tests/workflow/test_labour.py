"""A real labour force file through the real command gives what the brute-force oracle gives."""

import csv
from pathlib import Path

import pytest
import yaml
from oracles.checks import check_study
from oracles.study import run as judge
from workflow.commands import CHECKOUT, made, snakemake
from workflow.library_run import read

LABOUR = CHECKOUT.parent / "shared" / "data" / "labour" / "labour.yaml"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not LABOUR.is_file(), reason="the labour force file is not beside this checkout"),
]


def test_the_labour_force_file_is_what_the_oracle_says(tmp_path):
    ended = snakemake(*made("labour", "rates.csv"), studies=[LABOUR], folder=tmp_path)
    assert ended.code == 0, ended.shown
    study = yaml.load(LABOUR.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - makes text alone
    oracle = judge(study, *(rows_of(study, side) for side in ("puf", "eif", "iuf")))
    check_study(oracle, read(LABOUR, tmp_path / "results" / "labour"))


def rows_of(study: dict, side: str) -> list[dict[str, str]]:
    """The rows of a source file as text."""
    with Path(LABOUR.parent, study["files"][side]["path"]).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
