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
EXAMPLE = commands.CHECKOUT / "config" / "studies" / "example.yaml"


def results(folder: Path, study: str) -> dict[str, bytes]:
    """What a run must give, wherever it runs."""
    files = [*folder.glob(f"results/{study}/confirmed/*"), folder / "results" / study / "rates.csv"]
    reports = sorted(folder.glob(f"reports/{study}/*"))
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


def test_the_example_through_slurm_gives_the_bytes_of_a_local_run(slurm, tmp_path):
    here = commands.snakemake(studies=[EXAMPLE], folder=tmp_path / "here")
    there = commands.snakemake(*on_slurm(), studies=[EXAMPLE], folder=tmp_path / "there", cores=None)
    assert (here.code, there.code) == (0, 0), there.shown
    assert len(results(tmp_path / "here", "example")) == 15
    assert results(tmp_path / "there", "example") == results(tmp_path / "here", "example")


def test_a_job_that_exceeds_its_memory_is_retried_with_more(slurm, tmp_path):
    study, folder = small.write(tmp_path / "study"), tmp_path / "run"
    target = commands.made("small", "prepared/account.csv")
    ended = commands.snakemake(
        *on_slurm("--set-resources=prepare:mem_mb=2000 if attempt > 1 else 60"), *target,
        studies=[study], folder=folder, cores=None,
    )  # fmt: skip
    assert ended.code == 0, ended.shown
    assert "Trying to restart" in ended.shown or "ailed prepare" in ended.shown, (
        "the first attempt was not ended"
    )
    assert (folder / target[0]).is_file()
    assert commands.open_to_others(folder) == {}, "what jobs and scheduler leave is the owner's alone"


def test_a_study_through_a_submit_script_gives_the_bytes_of_a_local_run(tmp_path):
    study = small.write(tmp_path / "study", {**small.STUDY, "metrics": {"taxicab": {}}})
    here = commands.snakemake(studies=[study], folder=tmp_path / "here")
    there = commands.snakemake(
        "--executor=cluster-generic", "--jobs=4", f"--cluster-generic-submit-cmd={CLUSTER / 'submit'}",
        f"--cluster-generic-status-cmd={CLUSTER / 'status'}", "--seconds-between-status-checks=1",
        studies=[study], folder=tmp_path / "there", cores=None,
    )  # fmt: skip
    assert (here.code, there.code) == (0, 0), there.shown
    assert len(results(tmp_path / "here", "small")) == 6
    assert results(tmp_path / "there", "small") == results(tmp_path / "here", "small")
