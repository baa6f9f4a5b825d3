"""A study on a scheduler's cluster gives the bytes that it gives here (ARCHITECTURE, the rules of the rules)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from workflow import commands, small

pytestmark = pytest.mark.slow

CLUSTER = Path(__file__).parent / "cluster"
STUDY = {**small.STUDY, "metrics": {"taxicab": {}}}
SHARDS = "pairs_per_shard=20000"


def results(folder: Path) -> dict[str, bytes]:
    """What a run must give, wherever it runs."""
    files = [*folder.glob("results/small/confirmed/*"), folder / "results/small/rates.csv"]
    reports = sorted(folder.glob("reports/small/*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted([*files, *reports])}


@pytest.fixture(scope="session")
def slurm():
    """A Slurm of one node, until the tests end; skipped where it cannot be had."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("slurmctld", "slurmd", "munged"))):
        pytest.skip("needs root and Debian's slurm-wlm and munge")
    started = subprocess.run([CLUSTER / "start-slurm"], stderr=subprocess.PIPE, text=True, check=False)
    if started.returncode:
        pytest.skip(started.stderr.strip())
    yield
    subprocess.run([CLUSTER / "stop-slurm"], check=True)


def on_slurm(*arguments: str) -> list[str]:
    """The options of the profile, and those of a Slurm without an accounting data base."""
    return [
        *arguments, f"--workflow-profile={commands.CHECKOUT / 'profiles' / 'slurm'}", "--jobs=4",
        "--slurm-status-command=squeue", "--slurm-init-seconds-before-status-checks=1",
        "--seconds-between-status-checks=1", "threads_on_a_cluster=2",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """A local run of the study, beside which others put theirs."""
    folder = tmp_path_factory.mktemp("cluster")
    study = small.write(folder / "study", STUDY)
    ended = commands.snakemake(SHARDS, studies=[study], folder=folder / "here", program=commands.PRELOADED)
    assert ended.code == 0, ended.shown
    assert len(list(folder.glob("here/results/small/scores/taxicab/*.parquet"))) > 1
    assert len(results(folder / "here")) == 6
    return folder


def test_a_study_through_slurm_gives_the_bytes_of_a_local_run(slurm, here):
    there = commands.snakemake(
        *on_slurm(),
        SHARDS,
        studies=[here / "study/small.yaml"],
        folder=here / "slurm",
        cores=None,
        program=commands.SNAKEMAKE,
    )
    assert there.code == 0, there.shown
    assert results(here / "slurm") == results(here / "here")


def test_a_job_that_exceeds_its_memory_is_retried_with_more(slurm, tmp_path):
    study, folder = small.write(tmp_path / "study"), tmp_path / "run"
    target = commands.made("small", "prepared/account.csv")
    ended = commands.snakemake(
        *on_slurm("--set-resources=prepare:mem_mb=2000 if attempt > 1 else 60"), *target,
        studies=[study], folder=folder, cores=None, program=commands.SNAKEMAKE,
    )  # fmt: skip
    assert ended.code == 0, ended.shown
    assert "Reading the files: tried again." in ended.shown, "the first attempt was not ended"
    assert (folder / target[0]).is_file()
    assert commands.open_to_others(folder) == {}, "what jobs and scheduler leave is the owner's alone"


def test_a_study_through_a_submit_script_gives_the_bytes_of_a_local_run(here):
    there = commands.snakemake(
        "--executor=cluster-generic", "--jobs=4", f"--cluster-generic-submit-cmd={CLUSTER / 'submit'}",
        f"--cluster-generic-status-cmd={CLUSTER / 'status'}", "--seconds-between-status-checks=1",
        SHARDS, *commands.made("small", "rates.csv"),
        studies=[here / "study/small.yaml"], folder=here / "submitted", cores=None, program=commands.SNAKEMAKE,
    )  # fmt: skip
    assert there.code == 0, there.shown
    found, expected = results(here / "submitted"), results(here / "here")
    assert found == {path: content for path, content in expected.items() if not path.startswith("reports/")}
