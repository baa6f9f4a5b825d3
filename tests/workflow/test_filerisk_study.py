"""A study of one file's risk through the real command: alone, with a population, and beside everything else."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from making.filerisk import POPULATION, drawn, perturbed
from oracles import unicity as oracle
from workflow.commands import PRELOADED, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

SECTION = {
    **POPULATION,
    "key_variables": POPULATION["key_variables"][1:],
    "original": {"path": "before.csv"},
    "population_models": {"log_linear": ["main", [["sex", "job"]]], "household": ["region", "tenure"]},
    "collapse": [{"variable": "region", "recode": {"1": "north", "2": "north"}}],
    "scenarios": [{"name": "Neighbour", "known": ["sex", "region", "tenure"]}],
    "key_sets": {"up_to": 2},
    "sensitive": ["job"],
}
NAMES = ["sex", "job", "region", "tenure"]


def write(folder: Path, section: dict = SECTION, name: str = "alone", **keys) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    people = drawn(900)
    people.to_csv(folder / "census.csv", index=False)
    original = people.sample(90, random_state=1)
    original.to_csv(folder / "before.csv", index=False)
    perturbed(original).assign(weight="10").to_csv(folder / "survey.csv", index=False)
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump({"id": name, "file_risk": section, **keys}, sort_keys=False), encoding="utf-8")
    return file


def lines_of(results: Path) -> dict[str, str]:
    with (results / "filerisk" / "summary.csv").open(encoding="utf-8") as stream:
        return {line["quantity"]: line["value"] for line in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A study with `file_risk` only, taken to its report."""
    folder = tmp_path_factory.mktemp("alone")
    ended = snakemake(studies=[write(folder)], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return folder


def test_a_study_with_file_risk_alone(alone):
    results = alone / "run" / "results" / "alone"
    people = pd.read_csv(alone / "survey.csv", dtype=str)
    rows = [[-1 if cell == "-9" else int(cell) for cell in row] for row in people[NAMES].to_numpy().tolist()]
    sets = oracle.minimal_uniques(np.array(rows, np.int32), None)
    records = pq.read_table(results / "filerisk" / "records.parquet").to_pandas().set_index("pid")
    assert records.index.tolist() == sorted(people["pid"])
    found = records.loc[people["pid"]]
    assert found["n_msu"].tolist() == [len(own) for own in sets]
    assert found["unique"].tolist() == [-1 not in row and rows.count(row) == 1 for row in rows]
    assert int(lines_of(results)["U"]) == found["unique"].sum()
    risks = pq.read_table(results / "filerisk" / "individual.parquet").to_pandas().set_index("pid")
    assert ((risks["matches"] == 1) == records["unique"]).all()
    assert risks["household_risk"].notna().all()
    made = {path.name for path in results.iterdir()}
    assert not made & {"prepared", "strata", "binned", "scores", "rates.csv", "matching"}


def test_the_scenarios_of_a_study_are_counted_record_by_record(alone):
    results = alone / "run" / "results" / "alone" / "filerisk"
    people = pd.read_csv(alone / "survey.csv", dtype=str)
    lines = pd.read_csv(results / "scenarios.csv")
    assert len(lines) == 1 + 4 + 6
    rows = list(map(tuple, people[["sex", "region", "tenure"]].to_numpy().tolist()))
    own = lines.iloc[0]
    assert own["scenario"] == "Neighbour"
    assert own["n_unique"] == sum(rows.count(row) == 1 for row in rows)
    assert own["smallest"] == min(map(rows.count, rows))
    assert own["true_households"] > 0
    diverse = pd.read_csv(results / "diversity.csv").iloc[0]
    known = [row for row, job in zip(rows, people["job"], strict=True) if job != "-9"]
    assert diverse["n_records"] == len(known)


def test_an_intruder_who_knows_the_original_values_and_coarser_keys(alone):
    results = alone / "run" / "results" / "alone"
    lines = lines_of(results)
    before = pd.read_csv(alone / "before.csv", dtype=str)
    complete = sum("-9" not in row for row in before[NAMES].to_numpy().tolist())
    assert int(lines["original_records_in_cells"]) == complete
    assert int(lines["original_records_unchanged"]) < complete
    coarser = pd.read_csv(results / "filerisk" / "coarser.csv")
    assert coarser["change"].tolist() == ["dropped"] * 4 + ["collapsed"]
    page = (alone / "run" / "reports" / "alone" / "disclosure-review.html").read_text(encoding="utf-8")
    assert "An intruder who knows the original values" in page


@pytest.mark.long
def test_cores_and_the_order_of_rows_change_no_byte(alone, tmp_path):
    file = write(tmp_path)
    for name in ("survey", "census", "before"):
        table = pd.read_csv(tmp_path / f"{name}.csv", dtype=str)
        table.sample(frac=1, random_state=3).to_csv(tmp_path / f"{name}.csv", index=False)
    ended = snakemake(
        studies=[file], folder=tmp_path / "run", cores=1, environment={"PYTHONHASHSEED": "7"}, program=PRELOADED
    )
    assert ended.code == 0, ended.shown
    results = (folder / "run" / "results" / "alone" / "filerisk" for folder in (alone, tmp_path))
    first, second = results
    for path in sorted(first.rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (second / path.relative_to(first)).read_bytes(), path.name


def test_programs_are_told_the_verdict_as_long_as_the_results_hold(tmp_path):
    keys = ["sex", "region"]
    section = {"file": {"path": "survey.csv", "id": "pid"}, "sampling_fraction": 0.1, "key_variables": keys}
    section |= {"population": {"file": {"path": "census.csv"}}, "sensitive": ["tenure"], "key_sets": {}}
    limits = {"share_above": {"risk": 0.04, "at_most": 0}, "k_map_at_least": 2, "l_diversity_at_least": 2}
    lists = {"file": "nist-sp-800-188", "further": ["ipc-ontario"], "answers": {"nist-goals": "Research."}}
    study = write(tmp_path, section, "limits-2026", decision=limits, checklist=lists)
    run = tmp_path / "run"
    unmade = reident("verdict", study, folder=run)
    assert (unmade.code, "there are no results yet" in unmade.shown) == (1, True)
    assert snakemake(studies=[study], folder=run, program=PRELOADED).code == 0
    people, file = (pd.read_csv(tmp_path / name, dtype=str) for name in ("census.csv", "survey.csv"))
    sizes = people.groupby(keys).size()
    risks = 1 / file[keys].apply(lambda row: sizes[tuple(row)], axis=1)
    results = run / "results" / "limits-2026"
    table = pd.read_csv(results / "filerisk" / "thresholds.csv").set_index(["basis", "risk"])
    assert table.at[("population", 0.04), "n_above"] == (risks > 0.04).sum()
    answer = reident("verdict", study, "--json", folder=run)
    facts = json.loads(answer.shown)
    assert {line["limit"]: line["metric"] for line in facts["limits"]} == {
        "share_above": "population", "k_map_at_least": "population", "l_diversity_at_least": "tenure",
    }  # fmt: skip
    broken = (risks > 0.04).any() or "breaks" in {line["outcome"] for line in facts["limits"]}
    assert (answer.code, facts["verdict"]) == ((3, "above") if broken else (0, "within"))
    questions = pd.read_csv(results / "checklist.csv")
    assert questions["checklist"].nunique() == 2
    index = reident("index", folder=run)
    assert (index.code, "1 study, 0 variants" in index.shown) == (0, True)
    people.iloc[1:].to_csv(tmp_path / "census.csv", index=False)
    changed = reident("verdict", study, folder=run)
    assert (changed.code, "census.csv" in changed.shown) == (1, True)


def test_a_study_with_every_section(tmp_path):
    file = small.write(tmp_path)
    study = yaml.safe_load(file.read_text(encoding="utf-8"))
    both = {
        **study,
        "id": "both",
        "metrics": {"taxicab": {}},
        "file_risk": {"sampling_fraction": 0.25, "missing": "category"},
    }
    file.write_text(yaml.safe_dump(both, sort_keys=False, allow_unicode=True), encoding="utf-8")
    ended = snakemake(studies=[file], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    lines = lines_of(tmp_path / "run" / "results" / "both")
    assert (lines["records"], lines["key_variables"], lines["records_missing_a_value"]) == ("300", "6", "0")
    records = pq.read_table(tmp_path / "run" / "results" / "both" / "filerisk" / "records.parquet")
    assert records.column_names[:2] == ["house", "person"]
    page = (tmp_path / "run" / "reports" / "both" / "disclosure-review.html").read_text(encoding="utf-8")
    for heading in ("The attack", "Rates", "Risk of the file on its own"):
        assert heading in page
