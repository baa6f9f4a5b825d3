"""A study that exercises everything, through the real command, gives what the brute-force oracle gives."""

import pytest
import yaml
from oracles.checks import check_study
from oracles.study import run as judge
from workflow.commands import made, snakemake
from workflow.library_run import read

from workflow import small

pytestmark = pytest.mark.slow


def test_a_small_study_is_what_the_oracle_says(tmp_path):
    tables = small.rows()
    file = small.write(tmp_path, tables=tables)
    ended = snakemake(*made("small", "rates.csv"), studies=[file], folder=tmp_path / "run")
    assert ended.code == 0, ended.shown
    study = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - makes text alone
    rows = ([dict(zip(head, row, strict=True)) for row in rest] for head, *rest in tables.values())
    check_study(judge(study, *rows), read(file, tmp_path / "run" / "results" / "small"))
