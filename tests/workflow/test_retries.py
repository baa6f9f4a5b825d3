"""A job that waits to be tried again, while a checkpoint ends, is not lost."""

import subprocess
import sys

import pytest

SNAKEFILE = """
from snakemake.scheduling.job_scheduler import JobScheduler

{repair}

rule all:
    input: "late", "twice", "after"

checkpoint checked:
    output: "checked"
    shell: "sleep 5; touch {{output}}"

rule after:
    input: lambda wildcards: checkpoints.checked.get().output[0]
    output: "after"
    shell: "touch {{output}}"

rule first:
    output: "first"
    shell: "touch {{output}}"

# From its start to beyond the checkpoint's end it holds the core that the second try needs.
rule late:
    input: "first"
    output: "late"
    priority: 100
    threads: 2
    shell: "sleep 6; touch {{output}}"

rule twice:
    output: "twice"
    shell: "sleep 2; [ -e tried ] && touch {{output}} || {{{{ touch tried; exit {code}; }}}}"
"""
REPAIR = "from reident.pipeline import scheduler\nscheduler.keep_waiting_jobs(JobScheduler)"


def run(folder, *options, repair=REPAIR, code=1):
    """The exit code, and which of the three files are there."""
    (folder / "Snakefile").write_text(SNAKEFILE.format(repair=repair, code=code), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores=3", "--keep-going", *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    return ended.returncode, {name for name in ("late", "twice", "after") if (folder / name).exists()}


def test_it_is_tried_again_when_there_is_room(tmp_path):
    assert run(tmp_path, "--retries=1") == (0, {"late", "twice", "after"})


@pytest.mark.slow
def test_one_that_may_not_be_tried_again_stays_failed(tmp_path):
    assert run(tmp_path) == (1, {"late", "after"})


@pytest.mark.slow
def test_the_repair_is_still_needed(tmp_path):
    """When this fails, Snakemake has repaired it: `keep_waiting_jobs` can go."""
    assert run(tmp_path, "--retries=1", repair="") == (0, {"late", "after"})
