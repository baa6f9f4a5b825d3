"""What a study leaves in its folder never shows in the results of the study that follows it there."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import yaml
from workflow.commands import snakemake

pytestmark = pytest.mark.slow

MASKED = {
    "id": "masked",
    "microaggregate": {"path": "firms.csv", "id": "firm", "variables": ["sales"], "missing": [""]},
    "linking_variables": [{"name": "sales", "type": "numeric", "missing": [""]}],
    "metrics": {"winkler": {}},
}
SALES = (4, 5, 6, 10, 11, 12, 20, 21, 22)


def write(folder: Path, study: dict) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"f{at},{sales}\n" for at, sales in enumerate(SALES))
    (folder / "firms.csv").write_text(f"firm,sales\n{rows}", encoding="utf-8")
    file = folder / "masked.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
    return file


def test_a_new_missing_code_of_a_masked_variable_is_refused_after_a_run_as_it_is_before_one(tmp_path):
    study = copy.deepcopy(MASKED)
    study["linking_variables"][0]["missing"] = ["", "5"]
    fresh = snakemake(
        "results/masked/rates.csv", studies=[write(tmp_path / "b", study)], folder=tmp_path / "b"
    )
    assert fresh.code != 0
    folder = tmp_path / "a"
    first = snakemake("results/masked/rates.csv", studies=[write(folder, MASKED)], folder=folder)
    assert first.code == 0, first.shown
    then = snakemake("results/masked/rates.csv", studies=[write(folder, study)], folder=folder)
    assert (then.code != 0, then.errors) == (True, fresh.errors)
