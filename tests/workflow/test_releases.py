"""``reident compare`` on a sealed release and the one after it."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from workflow.commands import PRELOADED, open_to_others, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

STUDY = {**copy.deepcopy(small.STUDY), "id": "next", "metrics": {"taxicab": {}, "unicity": {}}}


class Released(NamedTuple):
    """A working directory with the bag of the first release and the finished study of the second."""

    folder: Path
    bag: Path


@pytest.fixture(scope="module")
def released(finished, tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    shutil.copytree(finished.folder, folder, dirs_exist_ok=True)
    ended = reident("seal", "../in/small.yaml", folder=folder / "run")
    assert ended.code == 0, ended.shown
    small.write(folder / "next", STUDY, small.rows(340, 520, seed=8))
    ended = snakemake(studies=["../next/next.yaml"], folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    (bag,) = (folder / "run/reports/small/sealed").glob("*.zip")
    return Released(folder, bag)


def compare(released, before, after="../next/next.yaml", folder=None):
    """Run the command as a user gives it."""
    return reident("compare", before, after, folder=folder or released.folder / "run")


def test_a_bag_and_a_study_are_compared(released):
    ended = compare(released, released.bag)
    assert ended.code == 0, ended.shown
    folder = released.folder / "run/reports/compare" / f"{released.bag.stem}--next"
    assert f"reports/compare/{folder.name}/comparison.html: " in ended.shown
    names = {"comparison.html", "comparison.pdf", "comparison.json", "rates.csv"}
    assert {path.name for path in folder.iterdir()} == names
    assert open_to_others(released.folder / "run/reports/compare") == {}
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    found = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    assert found["metrics"] == {"both": ["unicity", "taxicab"], "before": ["euclidean", "adhoc"], "after": []}
    # Without a digest of the links in the bag, nobody can tell whether they are the same.
    assert {"file", "intruder", "settings"} <= set(found["causes"])
    assert "links" not in found["causes"]
    before, after = (pd.read_csv(released.folder / f"run/results/{name}/rates.csv") for name in ("small", "next"))
    lines = pd.read_csv(folder / "rates.csv")
    lines = lines[(lines["scope"] == "whole") & (lines["rate"] == "confirmed_rate")].set_index("metric")
    for side, rates in (("before", before), ("after", after)):
        whole = rates[rates["stratum"] == "ALL"].set_index("metric")
        for metric in ("unicity", "taxicab"):
            assert lines.at[metric, f"hits_{side}"] == whole.at[metric, "n_confirmed"]
            assert lines.at[metric, f"records_{side}"] == whole.at[metric, "n_puf"]
    contents = {name: (folder / name).read_bytes() for name in names}
    assert compare(released, released.bag).code == 0
    assert {name: (folder / name).read_bytes() for name in names} == contents


def test_two_studies_are_compared_by_stratum_and_with_themselves(released):
    ended = compare(released, "../in/small.yaml")
    assert ended.code == 0, ended.shown
    found = released.folder / "run/reports/compare/small--next/comparison.json"
    content = json.loads(found.read_text(encoding="utf-8"))
    assert content["not_by_stratum"] is None
    assert {tuple(line["group"]) for line in content["rates"] if line["group"]} >= {("E",), ("N",), ("S",), ("W",)}
    ended = compare(released, "../next/next.yaml")
    assert ended.code == 0
    assert "the releases are the same in everything that was recorded" in ended.shown


def tampered(released):
    copied = released.folder / "tampered" / released.bag.name
    copied.parent.mkdir(exist_ok=True)
    content = bytearray(released.bag.read_bytes())
    content[len(content) // 2] ^= 1
    copied.write_bytes(content)
    return copied


@pytest.mark.parametrize(
    ("before", "words"),
    [(tampered, ".zip"), (lambda _: "nothing.zip", "nothing.zip"), (lambda _: "../nothing.yaml", "nothing.yaml")],
    ids=["tampered", "no bag", "no study"],
)
def test_a_release_that_cannot_be_read_is_refused_in_one_sentence(released, before, words):
    ended = compare(released, before(released))
    assert ended.code == 1
    assert len(ended.errors) == 1
    assert words in next(iter(ended.errors))
    assert "Traceback" not in ended.shown


def test_a_study_without_finished_results_is_refused(released, tmp_path):
    shutil.copytree(released.folder, tmp_path, dirs_exist_ok=True)
    run = tmp_path / "run"
    rates = run / "results/next/rates.csv"
    text = rates.read_text(encoding="utf-8")
    rates.write_text(text.replace("0.", "0.1", 1), encoding="utf-8")
    ended = compare(released, "../in/small.yaml", folder=run)
    assert ended.code == 1
    assert "the chain is broken" in ended.shown
    shutil.rmtree(run / "results/next")
    ended = compare(released, "../in/small.yaml", folder=run)
    assert ended.code == 1
    assert "there are no results yet" in ended.shown
    other = small.write(tmp_path / "other", {**STUDY, "id": "small"})
    ended = compare(released, "../in/small.yaml", other, folder=run)
    assert "must not be two study files with the same `id`" in ended.shown
    assert not (run / "reports/compare").exists() or not list((run / "reports/compare").glob(".*"))
