"""Whatever the umask, all that a run makes is its owner's alone: results, reports, logs, Snakemake's own records,
and what lies there only while the run goes on."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from workflow.commands import SNAKEMAKE, Ended, made, open_to_others, snakemake

from workflow import small

pytestmark = pytest.mark.slow

UMASKS = [
    pytest.param(0o000, id="000"),
    pytest.param(0o022, id="022", marks=pytest.mark.long),  # closes less than 077, and more than 000
    pytest.param(0o077, id="077"),
]
STUDY = {**small.STUDY, "metrics": {"unicity": {}, "taxicab": {}}}


@contextmanager
def watched(*folders: Path) -> Iterator[dict[str, str]]:
    """What is open to others at some moment, as far as looking again and again shows it."""
    seen: dict[str, str] = {}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            for folder in folders:
                seen.update(open_to_others(folder))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


class Run(NamedTuple):
    """The working folder, that of temporary files, what was open on the way, and the end."""

    folder: Path
    temporary: Path
    seen: dict[str, str]
    ended: Ended


@pytest.fixture(scope="module", params=UMASKS)
def run(request, tmp_path_factory) -> Iterator[Run]:
    """A study, to its report where the umask closes nothing, beside one whose source is spoilt."""
    folder = tmp_path_factory.mktemp(f"umask{request.param:03o}")
    tables = small.rows(60, 90)
    good = small.write(folder / "in", STUDY, tables)
    spoilt = {**tables, "puf": [row[:-1] for row in tables["puf"]]}
    bad = small.write(folder / "bad", {**STUDY, "id": "bad"}, spoilt)
    results = folder / "run" / "results"
    target = made("small", "rates.csv") if request.param else ["reports/small/disclosure-review.pdf"]
    # A short path: sockets of the notebook's kernel lie in it.
    with tempfile.TemporaryDirectory(prefix="r-") as short:
        with watched(results, folder / "run" / "reports", Path(short)) as seen:
            ended = snakemake(
                *target,
                *made("bad", "rates.csv"),
                studies=[good, bad],
                folder=folder / "run",
                umask=request.param,
                environment={"TMPDIR": short},
                program=SNAKEMAKE,
            )
        yield Run(folder / "run", Path(short), seen, ended)


def test_the_good_study_ends_well_and_the_spoilt_one_does_not(run):
    assert len(run.ended.errors) == 1
    assert (run.folder / "results" / "small" / "rates.csv").is_file()
    assert (run.folder / "results" / "bad" / "logs" / "prepare.log").is_file()


def test_what_a_run_leaves_is_its_owner_s_alone(run):
    kinds = {path.relative_to(run.folder).parts[0] for path in run.folder.rglob("*")}
    assert {"results", ".snakemake"} <= kinds
    assert open_to_others(run.folder) == {}
    assert open_to_others(run.temporary) == {}


def test_nothing_was_open_to_others_on_the_way(run):
    # IPython copies the README of a fresh profile with its mode, into a folder that is closed.
    assert {name for name in run.seen if not name.endswith("startup/README")} == set()


def test_the_gathered_report_is_the_owner_s_alone(run):
    if not (run.folder / "reports").exists():
        pytest.skip("this run ends at the rates")
    small_alone = [run.folder.parent / "in" / "small.yaml"]
    ended = snakemake("--report=all.zip", studies=small_alone, folder=run.folder, umask=0)
    assert ended.code == 0, ended.shown
    assert (run.folder / "all.zip").is_file()
    assert open_to_others(run.folder) == {}


def test_open_results_are_refused_or_loudly_allowed(tmp_path):
    study, run = small.write(tmp_path / "in", STUDY, small.rows(6, 9)), tmp_path / "run"
    (run / "results").mkdir(parents=True)
    (run / "results").chmod(0o750)
    refused = snakemake("--dry-run", studies=[study], folder=run)
    assert refused.code != 0
    (message,) = refused.errors
    assert message.startswith(f"{run}/results holds confidential data and is open to others (drwxr-x---)")
    assert f"`chmod -R go= {run}/results`" in message
    allowed = snakemake(
        "shared_results=true", *made("small", "study.json"), studies=[study], folder=run, program=SNAKEMAKE
    )
    assert allowed.code == 0, allowed.shown
    assert f"Warning: {run}/results holds confidential data and is open to others" in allowed.shown
    assert open_to_others(run / "results") == {}, "files in an open folder still belong to their owner alone"
