"""A study whose intruder weighs evidence: the same bytes however it runs, and what runs again (METHODS §4.6)."""

from __future__ import annotations

import copy

import pandas as pd
import pytest
from workflow.commands import PRELOADED, made, snakemake
from workflow.test_invariance import shuffled

from workflow import small

pytestmark = pytest.mark.slow

PARTIAL = ["age", "income"]
FILES = (
    "rates.csv",
    "confirmed/taxicab.parquet",
    "confirmed/fellegi_sunter.parquet",
    *(f"weights/{name}.csv" for name in ("levels", "model", "calibration")),
)
FROM_SCORES = {"score": 1, "rank": 1, "confirm": 1, "rate": 1, "calibrate": 1}


def study(**options):
    changed = copy.deepcopy(small.STUDY)
    changed["metrics"] = {
        "taxicab": changed["metrics"]["taxicab"],
        "fellegi_sunter": {"partial": PARTIAL, "threshold": {"probability": 0.1}} | options,
    }
    return changed


def run(folder, *arguments, cores=2, program=PRELOADED):
    paths = made("small", *FILES)
    studies = [folder / "in" / "small.yaml"]
    return snakemake(*paths, *arguments, studies=studies, folder=folder / "run", cores=cores, program=program)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    small.write(folder / "in", study(one_to_one=True))
    ended = run(folder)
    assert ended.code == 0, ended.shown
    return folder


def test_shards_cores_and_the_order_of_rows_make_no_difference(finished, tmp_path):
    small.write(tmp_path / "in", study(one_to_one=True), shuffled(small.rows()))
    ended = run(tmp_path, "shards=7", cores=1)
    assert ended.code == 0, ended.shown
    ours, theirs = (folder / "run" / "results" / "small" for folder in (finished, tmp_path))
    assert len(list((theirs / "scores" / "fellegi_sunter").iterdir())) == 7
    for name in FILES:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    model = pd.read_csv(ours / "weights" / "model.csv").iloc[0]
    assert model["rounds"] > 1
    pairs = pd.read_parquet(ours / "confirmed" / "fellegi_sunter.parquet")
    keys = [["house", "person"], ["broker", "serial"]]
    assert len(pairs) > 0
    assert not any(pairs.duplicated(key).any() for key in keys), "a record is in two assigned pairs"


@pytest.mark.parametrize(
    ("options", "planned"),
    [
        ({"one_to_one": True}, {}),
        ({"one_to_one": False}, FROM_SCORES),
        ({"one_to_one": True, "m": "informed"}, {"weigh": 1} | FROM_SCORES),
        ({"one_to_one": True, "threshold": {"weight": 3}}, {"weigh": 1} | FROM_SCORES),
    ],
)
def test_only_what_an_option_touches_runs_again(finished, options, planned):
    small.write(finished / "in", study(**options), {})
    ended = run(finished, "--dry-run", program="snakemake")
    assert ended.code == 0, ended.shown
    # The study file is resolved whenever it changes.
    assert {rule: n for rule, n in ended.planned.items() if rule != "resolve"} == planned
