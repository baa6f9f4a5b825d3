"""A study of synthetic data through the real command: alone, and beside the linkage of records."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
import pytest
import yaml
from oracles import matching as oracle
from workflow.commands import PRELOADED, snakemake

from workflow import small

pytestmark = pytest.mark.slow

MATCHING = {
    "confidential": {"path": "confidential.csv"},
    "synthetic": [{"path": "synthetic_1.csv"}, {"path": "synthetic_2.csv"}],
    "known": ["sex", "region"],
    "scenarios": [{"name": "neighbour", "known": ["sex", "age", "region"]}],
    "synthesized": ["job", {"name": "income", "missing": ["-9"]}],
    "radius": {"income": {"relative": "0.1"}, "age": {"absolute": "1"}},
}


def draw(seed=3, n=60):
    """Rows of the confidential file and of two synthetic ones."""
    dice = Random(seed)  # noqa: S311 - made up, no secret
    confidential = [
        {
            "sex": dice.choice("mf"), "age": str(dice.randint(18, 60)), "region": dice.choice("NSW"),
            "job": str(dice.randint(0, 4)), "income": dice.choice(["-9", *map(str, range(10, 60))]),
        }
        for _ in range(n)
    ]  # fmt: skip
    copies = [
        [
            {**row, "job": dice.choice(confidential)["job"], "income": dice.choice(confidential)["income"]}
            for row in confidential
        ]
        for _ in range(2)
    ]
    return confidential, copies


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    confidential, copies = draw()
    for name, rows in (("confidential", confidential), ("synthetic_1", copies[0]), ("synthetic_2", copies[1])):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def study_file(folder: Path, study: dict) -> Path:
    file = folder / f"{study['id']}.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return file


def check(results: Path) -> None:
    """Every record and summary is what the oracle says."""
    confidential, copies = draw()
    expected, targets = oracle.run(MATCHING, confidential, copies)
    records = pq.read_table(results / "matching" / "records.parquet").to_pandas()
    with (results / "matching" / "scenarios.csv").open(encoding="utf-8") as stream:
        lines = {(line["scenario"], line["file"]): line for line in csv.DictReader(stream)}
    for name, by_file in expected.items():
        own = records[records["scenario"] == name]
        assert own["row"].tolist() == [target + 2 for target in targets]
        for file, (c, mine) in zip(("1", "2", "confidential"), by_file, strict=True):
            assert own[f"c_{file}"].tolist() == c
            assert own[f"T_{file}"].tolist() == mine
            risk = oracle.summaries(c, mine)[0]
            assert Fraction(lines[name, file]["expected_match_risk"]) == pytest.approx(risk)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A study with `matching` only, taken to its report."""
    folder = tmp_path_factory.mktemp("alone")
    write(folder)
    file = study_file(folder, {"id": "alone", "matching": MATCHING})
    ended = snakemake(studies=[file], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return folder


def test_a_study_with_matching_alone(alone):
    check(alone / "run" / "results" / "alone")
    page = (alone / "run" / "reports" / "alone" / "disclosure-review.html").read_text(encoding="utf-8")
    assert "Matching of synthetic data" in page
    assert "The attack" not in page
    assert (alone / "run" / "reports" / "alone" / "disclosure-review.pdf").read_bytes().startswith(b"%PDF")
    made = {path.name for path in (alone / "run" / "results" / "alone").iterdir()}
    assert not made & {"prepared", "strata", "binned", "scores", "rates.csv"}


def test_running_again_does_nothing_and_a_change_reruns_what_takes_it(alone):
    file = alone / "alone.yaml"
    again = snakemake("--dry-run", studies=[file], folder=alone / "run")
    assert again.planned == {}
    study_file(alone, {"id": "alone", "matching": {**MATCHING, "interval": "open"}})
    changed = snakemake("--dry-run", studies=[file], folder=alone / "run")
    assert set(changed.planned) == {"resolve", "match", "judge", "report"}
    study_file(alone, {"id": "alone", "matching": MATCHING})


def test_a_changed_source_reruns_the_matching(alone):
    source = alone / "synthetic_2.csv"
    before = source.read_text(encoding="utf-8")
    source.write_text(re.sub(r",0,", ",1,", before, count=1), encoding="utf-8")
    changed = snakemake("--dry-run", studies=[alone / "alone.yaml"], folder=alone / "run")
    assert {"prepare_matching", "match", "report"} <= set(changed.planned)
    source.write_text(before, encoding="utf-8")


def test_a_study_with_every_section(tmp_path):
    file = small.write(tmp_path)
    study = yaml.safe_load(file.read_text(encoding="utf-8"))
    write(tmp_path)
    both = {**study, "id": "both", "metrics": {"taxicab": {}}, "matching": MATCHING}
    both["decision"] = {"conditional_rate_at_most": 0.2, "true_match_rate_at_most": 0.01}
    ended = snakemake(studies=[study_file(tmp_path, both)], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    check(tmp_path / "run" / "results" / "both")
    page = (tmp_path / "run" / "reports" / "both" / "disclosure-review.html").read_text(encoding="utf-8")
    for heading in ("The attack", "Rates", "Matching of synthetic data", "Synthetic data: "):
        assert heading in page


def test_files_that_do_not_correspond_are_one_sentence(tmp_path):
    write(tmp_path)
    short = (tmp_path / "synthetic_2.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:-1]
    (tmp_path / "synthetic_2.csv").write_text("".join(short), encoding="utf-8")
    file = study_file(tmp_path, {"id": "short", "matching": MATCHING})
    ended = snakemake(studies=[file], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code != 0
    assert any("(59) must be that of confidential.csv (60)" in one for one in ended.errors), ended.shown
