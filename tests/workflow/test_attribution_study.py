"""A study of attribute disclosure through the real command: its summary is what anybody counts in the files."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import pytest
import yaml
from oracles import attribution as oracle
from reident.ledger import stored
from workflow.commands import PRELOADED, snakemake

pytestmark = pytest.mark.slow


def draw(seed: int, n: int = 60) -> list[dict[str, str]]:
    dice = Random(seed)  # noqa: S311 - made up, no secret
    return [
        {"person": str(at), "sex": dice.choice("mf"), "region": dice.choice("NSW"), "job": dice.choice("abc")}
        for at in range(n)
    ]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_the_summary_is_what_the_files_say(tmp_path):
    original, other, holdout = draw(1), draw(2), draw(3, 20)
    released = [{**row, "job": own["job"]} for row, own in zip(original, other, strict=True)]
    for name, rows in (("original", original), ("released", released), ("holdout", holdout)):
        write(tmp_path / f"{name}.csv", rows)
    study = {
        "id": "learnt",
        "attribute_disclosure": {
            "original": {"path": "original.csv", "id": "person"},
            "released": [{"path": "released.csv", "id": "person"}],
            "holdout": {"path": "holdout.csv"},
            "keys": ["sex", "region"],
            "targets": ["job"],
        },
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    ended = snakemake(studies=[tmp_path / "study.yaml"], folder=tmp_path, program=PRELOADED)
    assert ended.code == 0, ended.errors
    lines = stored.read(tmp_path / "results/learnt/attribution/summary.csv").set_index(["keys", "file"])
    for keys in (["sex"], ["region"], ["sex", "region"]):
        files = [
            [(tuple(row[key] for key in keys), row["job"]) for row in rows] for rows in (original, released, holdout)
        ]
        for name, value in oracle.measures(None, *files, linked=True).items():
            if value is not None:
                assert lines.at[(" + ".join(keys), "1"), name] == pytest.approx(float(value)), (keys, name)
    page = (tmp_path / "reports/learnt/disclosure-review.html").read_text(encoding="utf-8")
    assert "What could be learnt about a person?" in page
