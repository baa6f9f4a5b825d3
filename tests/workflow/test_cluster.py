"""A study on a scheduler's cluster gives the bytes that it gives here (ARCHITECTURE, the rules of the rules)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from making import slurm

from workflow import commands, small

pytestmark = pytest.mark.slow

CLUSTER = Path(__file__).parent / "cluster"
N_SHARDS = 5
SHARDS = f"--set-scatter=shards={N_SHARDS}"

TROUBLE = "REIDENT_TEST_TROUBLE"
FUNCTION = f'''\
"""The score of a number of rooms; on a cluster, what a test asks for happens to the first job that comes here."""

import os
import time
from pathlib import Path

import numpy as np


def rooms(puf, eif):
    kind, folder = os.environ.get("{TROUBLE}", ":").split(":")
    if kind == "memory":
        hold = np.ones(int(folder) * 2**17)
        time.sleep(4)
        del hold
    elif kind == "hang":
        try:
            with (Path(folder) / "first").open("x") as stream:
                stream.write(os.environ["SLURMD_NODENAME"])
        except FileExistsError:
            pass
        else:
            time.sleep(600)
    return np.maximum(5 - np.abs(puf - eif), 0)
'''
STUDY = {
    **{name: value for name, value in small.STUDY.items() if name != "strata"},
    "metrics": {
        "adhoc": {
            "scores": {"rooms": {"function": "scores:rooms", "sha256": hashlib.sha256(FUNCTION.encode()).hexdigest()}}
        }
    },
}
"""One stratum, and a scoring function in which a test can hold a job."""

RATES = commands.made("small", "rates.csv")


def results(folder: Path) -> dict[str, bytes]:
    """What a run must give, wherever it runs."""
    files = [*folder.glob("results/small/confirmed/*"), folder / "results/small/rates.csv"]
    reports = sorted(folder.glob("reports/small/*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted([*files, *reports])}


def rates(folder: Path) -> dict[str, bytes]:
    """Those of :func:`results` that are not for readers."""
    return {path: content for path, content in results(folder).items() if not path.startswith("reports/")}


@pytest.fixture
def cluster(tmp_path_factory):
    """A Slurm of four nodes; skipped where its programs are not installed."""
    if missing := slurm.missing():
        pytest.skip(f"needs {', '.join(missing)} (Debian: slurm-wlm, munge)")
    with slurm.Cluster(tmp_path_factory.mktemp("slurm")) as started:
        yield started


def on_slurm(*arguments: str) -> list[str]:
    """The options of the profile, and those of a Slurm without an accounting data base."""
    return [
        *arguments, f"--workflow-profile={commands.CHECKOUT / 'profiles' / 'slurm'}", "--jobs=4",
        "--slurm-status-command=squeue", "--slurm-init-seconds-before-status-checks=1",
        "--seconds-between-status-checks=1", "threads_on_a_cluster=2", SHARDS,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """A local run of the study, beside which others put theirs."""
    folder = tmp_path_factory.mktemp("cluster")
    study = small.write(folder / "study", STUDY)
    (study.parent / "scores.py").write_text(FUNCTION, encoding="utf-8")
    ended = commands.snakemake(SHARDS, studies=[study], folder=folder / "here", program=commands.PRELOADED)
    assert ended.code == 0, ended.shown
    assert len(list(folder.glob("here/results/small/scores/adhoc/*.parquet"))) == N_SHARDS
    assert len(results(folder / "here")) == 6
    return folder


def run(cluster: slurm.Cluster, here: Path, folder: Path, *arguments: str, trouble: str = ":"):
    """Start the study on a cluster."""
    return commands.start(
        *on_slurm(*arguments),
        studies=[here / "study/small.yaml"],
        folder=folder,
        cores=None,
        environment={**cluster.environment, TROUBLE: trouble},
    )


def nodes(cluster: slurm.Cluster, rule: str) -> list[str]:
    """The nodes on which the jobs of a rule ended."""
    return [job["BatchHost"] for job in cluster.jobs() if job["Comment"].startswith(f"rule_{rule}_")]


def test_a_stratum_that_is_split_over_nodes_gives_the_bytes_of_a_local_run(cluster, here, tmp_path):
    ended = commands.ended(run(cluster, here, tmp_path))
    assert ended.code == 0, ended.shown
    assert results(tmp_path) == results(here / "here")
    assert len(set(nodes(cluster, "score"))) > 2, "the shards of the stratum were on several nodes"
    assert [job for job in cluster.jobs() if job["JobState"] != "COMPLETED"] == [], ended.shown
    assert commands.open_to_others(tmp_path) == {}, "what jobs and scheduler leave is the owner's alone"


@pytest.mark.long
def test_a_node_that_is_lost_in_the_middle_changes_nothing(cluster, here, tmp_path):
    started = run(cluster, here, tmp_path / "run", *RATES, trouble=f"hang:{tmp_path}")
    first = tmp_path / "first"
    slurm.wait(lambda: first.is_file() and first.read_text() != "", "a job in the scoring function", 300)
    node = first.read_text(encoding="utf-8")
    cluster.kill(node)
    ended = commands.ended(started)
    assert ended.code == 0, ended.shown
    assert cluster.states()[node].startswith("down")
    assert node not in nodes(cluster, "score"), "its jobs ran again on other nodes"
    assert rates(tmp_path / "run") == rates(here / "here")


@pytest.mark.long
def test_a_job_that_exceeds_its_memory_is_retried_with_more(cluster, here, tmp_path):
    """Every job of adhoc takes more than it asks for at its first attempt, and less than at its second."""
    ended = commands.ended(run(cluster, here, tmp_path, *RATES, trouble="memory:1200"))
    assert ended.code == 0, ended.shown
    assert len(nodes(cluster, "score")) > N_SHARDS, "some were tried again"
    assert rates(tmp_path) == rates(here / "here")


@pytest.mark.long
def test_a_job_that_exceeds_its_time_is_retried_with_more(cluster, here, tmp_path):
    """And each job is in the partition that its time fits into."""
    partitions = tmp_path / "partitions.yaml"
    partitions.write_text("partitions: {main: {max_runtime: 20}, long: {max_runtime: 2880}}\n", encoding="utf-8")
    options = ["--set-resources=score:runtime=attempt", f"--slurm-partition-config={partitions}"]
    ended = commands.ended(run(cluster, here, tmp_path / "run", *RATES, *options, trouble=f"hang:{tmp_path}"))
    assert ended.code == 0, ended.shown
    assert len(nodes(cluster, "score")) > N_SHARDS, "some were tried again"
    assert "TIMEOUT" in {job["JobState"] for job in cluster.jobs()}
    found = {(job["Comment"].startswith("rule_score_"), job["Partition"]) for job in cluster.jobs()}
    assert found == {(True, "main"), (False, "long")}
    assert rates(tmp_path / "run") == rates(here / "here")


def test_a_study_through_a_submit_script_gives_the_bytes_of_a_local_run(here):
    ended = commands.snakemake(
        "--executor=cluster-generic", "--jobs=4", f"--cluster-generic-submit-cmd={CLUSTER / 'submit'}",
        f"--cluster-generic-status-cmd={CLUSTER / 'status'}", "--seconds-between-status-checks=1",
        SHARDS, *RATES,
        studies=[here / "study/small.yaml"], folder=here / "submitted", cores=None, program=commands.SNAKEMAKE,
    )  # fmt: skip
    assert ended.code == 0, ended.shown
    assert results(here / "submitted") == rates(here / "here")
