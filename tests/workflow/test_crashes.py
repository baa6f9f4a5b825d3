"""Killed at random moments in three ways, a disk that fills, two runs at once: the same command again gives the same
bytes, without any work by hand. REIDENT_KILLS=50 kills as often in each way, with the report; the default is short,
since tests/unit/ledger/test_kills.py kills a step before each of its operations on files."""

from __future__ import annotations

import contextlib
import copy
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from reident.ledger import chain
from workflow.commands import PRELOADED, SNAKEMAKE, Ended, ended, made, snakemake, start

from workflow import small

pytestmark = pytest.mark.slow

WAYS = ("job", "snakemake", "group")
OFTEN = int(os.environ.get("REIDENT_KILLS", "0"))
KILLS = [
    pytest.param(way, seed, id=f"{way} {seed}", marks=[pytest.mark.long] if seed and not OFTEN else [])
    for seed in range(OFTEN or 2)
    for way in WAYS
]
TARGETS = [] if OFTEN else made("small", "study.json", "rates.csv", "description/overlap.csv")
STEPS = (
    "resolve",
    "prepare",
    "stratify",
    "bin",
    "score.taxicab.0001",
    "rank.taxicab",
    "confirm.taxicab",
    "rate",
)


class Whole(NamedTuple):
    """An undisturbed run: its folder, what it made, and how many seconds it took."""

    folder: Path
    made: dict[str, bytes]
    seconds: float


def run(folder: Path, program: str = SNAKEMAKE) -> Ended:
    return snakemake(*TARGETS, studies=["../in/small.yaml"], folder=folder / "run", program=program)


def results(folder: Path) -> dict[str, bytes]:
    """All that a run made, beside what tells of the time that it took."""
    found = {}
    for top in ("results", "reports"):
        for path in sorted((folder / "run" / top).rglob("*")):
            if path.is_file() and not {"logs", "benchmarks"} & set(path.parts) and path.suffix != ".lock":
                found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def assert_no_half_file(folder: Path, whole: dict[str, bytes]) -> None:
    """What an entry of the ledger names is whole, whatever happened."""
    root = Path("results", "small")
    for file in chain.entry_files(folder / "run" / root):
        for line in chain.read_entry(file)["outputs"].values():
            path = folder / "run" / chain.located(root, "", line["path"])
            if path.is_file():  # a step that runs again has removed it
                assert path.read_bytes() == whole[path.relative_to(folder).as_posix()], path


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    study = copy.deepcopy(small.STUDY)
    study["metrics"] = {"taxicab": {}}
    small.write(folder / "in", study, small.rows(60, 90))
    first = run(folder, PRELOADED)  # compiles
    assert first.code == 0, first.shown
    for top in ("results", "reports", ".snakemake"):
        shutil.rmtree(folder / "run" / top, ignore_errors=True)
    began = time.monotonic()
    assert run(folder).code == 0
    return Whole(folder, results(folder), time.monotonic() - began)


def undone(whole: Whole, folder: Path, draw: Random) -> Path:
    """A copy of the finished study without the results of some step, which is sometimes the first."""
    shutil.copytree(whole.folder, folder)
    entry = folder / "run" / "results" / "small" / "ledger" / f"{draw.choice(STEPS)}.json"
    for line in chain.read_entry(entry)["outputs"].values():
        (folder / "run" / "results" / "small" / line["path"]).unlink()
    if draw.random() < 0.3:
        shutil.rmtree(folder / "run" / ".snakemake")
    return folder


def jobs_of(scheduler: int) -> list[int]:
    """The processes that a scheduler started, and those that they started."""
    jobs = []
    for file in Path("/proc", str(scheduler), "task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has ended
            for child in map(int, file.read_text(encoding="ascii").split()):
                jobs += [child, *jobs_of(child)]
    return jobs


def alive(process: int) -> bool:
    try:
        state = Path("/proc", str(process), "stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def disturb(running: subprocess.Popen, way: str, draw: Random) -> None:
    """Kill a job, the scheduler alone, or all that it started."""
    if way == "job":
        while running.poll() is None and not (jobs := jobs_of(running.pid)):
            time.sleep(0.01)
        if running.poll() is None:
            os.kill(draw.choice(jobs), signal.SIGKILL)
        ended(running)
        return
    jobs = jobs_of(running.pid) if running.poll() is None else []
    if running.poll() is None:
        (os.killpg if way == "group" else os.kill)(running.pid, signal.SIGKILL)
    until = time.monotonic() + 10
    while any(map(alive, jobs)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(alive, jobs)), "a job outlived its scheduler"
    ended(running)


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="no /proc in which to find the jobs of a run"
)
@pytest.mark.parametrize(("way", "seed"), KILLS)
def test_killed_at_a_random_moment_the_same_command_gives_the_same_bytes(whole, tmp_path, way, seed):
    draw = Random(f"{way} {seed}")  # noqa: S311 - moments
    folder = undone(whole, tmp_path / "again", draw)
    running = start(*TARGETS, studies=["../in/small.yaml"], folder=folder / "run")
    until = time.monotonic() + draw.random() * whole.seconds
    while running.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    disturb(running, way, draw)
    assert_no_half_file(folder, whole.made)
    after = run(folder)
    assert after.code == 0, after.shown
    assert results(folder) == whole.made


def test_two_runs_started_at_once_do_not_disturb_each_other(whole, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(whole.folder, folder)
    shutil.rmtree(folder / "run" / "results")
    both = [start(*TARGETS, studies=["../in/small.yaml"], folder=folder / "run") for _ in range(2)]
    first, second = sorted(map(ended, both), key=lambda own: own.code)
    assert first.code == 0, first.shown
    if second.code:  # it began before the other had ended
        assert second.errors <= {
            "results/small is in use by another run. Run the same command again when that has ended.",
            "results/small changed while this run was being planned. Run the same command again.",
        }
        assert len(second.errors) == 1
        assert "Traceback" not in second.shown
    assert results(folder) == whole.made
    assert run(folder).planned == {}


@pytest.fixture
def disk(tmp_path):
    """A folder on a file system of 16 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


FULL = [
    pytest.param("from the start", None, id="from the start", marks=pytest.mark.long),
    pytest.param("once the files are prepared", "prepare", id="once the files are prepared"),
    pytest.param("once there are shards", "stratify", id="once there are shards", marks=pytest.mark.long),
]


def fill(folder: Path) -> Path:
    """Take all the room that there is."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
        for size in (2**20, 2**10):
            with contextlib.suppress(OSError):
                while stream.write(bytes(size)) == size:
                    pass
    return filler


@pytest.mark.parametrize(("when", "step"), FULL)
def test_a_full_disk_is_reported_and_with_more_room_the_run_goes_on(whole, disk, when, step):
    shutil.copytree(whole.folder / "in", disk / "in")
    (disk / "run").mkdir()
    filler = fill(disk) if step is None else None
    running = start(*TARGETS, studies=["../in/small.yaml"], folder=disk / "run")
    entry = disk / "run" / "results" / "small" / "ledger" / f"{step}.json"
    while filler is None and running.poll() is None:
        if entry.is_file():
            filler = fill(disk)
        time.sleep(0.005)
    full = ended(running)
    assert full.code != 0, full.shown
    shown = " ".join(full.shown.split())
    assert "room on the disk" in shown or "No space left on device" in shown, full.shown
    assert "Traceback" not in full.shown, full.shown
    assert_no_half_file(disk, whole.made)
    filler.unlink()
    after = run(disk)
    assert after.code == 0, after.shown
    assert results(disk) == whole.made
