"""Killed at random moments, a disk that fills, two runs at once: the same command again gives the same bytes, after
`--unlock` where Snakemake asks for it. tests/ledger/test_kills.py kills a step before each of its operations on
files."""

from __future__ import annotations

import contextlib
import copy
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from reident.ledger import chain
from workflow.commands import PRELOADED, SNAKEMAKE, Ended, ended, made, snakemake, start

from workflow import small

pytestmark = pytest.mark.slow

RATES = made("small", "study.json", "rates.csv", "description/overlap.csv")
REPORT = ["reports/small/disclosure-review.pdf"]
SEEDS = 3
USUAL = ("scheduler KILL", "job KILL", "all INT", "kernel TERM")
"""What happens on clusters and at terminals; the others are `long`."""


def kills() -> Iterator:
    """Whom a signal goes to, which one, and the seed of the moment; `all` is what Ctrl-C in a terminal reaches."""
    for seed in range(SEEDS):
        for who in ("scheduler", "job", "all", "kernel"):
            for name in ("KILL", "INT", "TERM"):
                case = f"{who} {name} {seed}"
                marks = [] if f"{who} {name}" in USUAL and not seed else [pytest.mark.long]
                yield pytest.param(who, signal.Signals[f"SIG{name}"], seed, id=case, marks=marks)


STEPS = ("resolve", "prepare", "stratify", "bin", "score.taxicab.1-of-1", "rank.taxicab", "confirm.taxicab", "rate")


class Whole(NamedTuple):
    """An undisturbed run: its folder, what it made, and how many seconds it took to the rates."""

    folder: Path
    made: dict[str, bytes]
    seconds: float


def run(folder: Path, *arguments: str, program: str = SNAKEMAKE) -> Ended:
    return snakemake(*arguments, studies=["../in/small.yaml"], folder=folder / "run", program=program)


def run_again(folder: Path, *targets: str) -> Ended:
    """The same command, and before it what Snakemake asks for."""
    again = run(folder, *targets)
    if again.code == 0 or "--unlock" not in again.shown:
        return again
    unlocked = run(folder, "--unlock")
    assert unlocked.code == 0, unlocked.shown
    return run(folder, *targets)


def results(folder: Path) -> dict[str, bytes]:
    """All that a run made, beside what tells of the time that it took."""
    found = {}
    for top in ("results", "reports"):
        for path in sorted((folder / "run" / top).rglob("*")):
            if path.is_file() and not {"logs", "benchmarks"} & set(path.parts):
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
    first = run(folder, *RATES, program=PRELOADED)  # compiles
    assert first.code == 0, first.shown
    for top in ("results", ".snakemake"):
        shutil.rmtree(folder / "run" / top)
    began = time.monotonic()
    assert run(folder, *RATES).code == 0
    seconds = time.monotonic() - began
    report = run(folder, *REPORT, program=PRELOADED)
    assert report.code == 0, report.shown
    return Whole(folder, results(folder), seconds)


def undone(whole: Whole, folder: Path, steps: Iterable[str]) -> Path:
    """A copy of the finished study without the results of some steps."""
    shutil.copytree(whole.folder, folder)
    for step in steps:
        entry = folder / "run" / "results" / "small" / "ledger" / f"{step}.json"
        for line in chain.read_entry(entry)["outputs"].values():
            (folder / "run" / chain.located(Path("results", "small"), "", line["path"])).unlink()
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


def command_of(process: int) -> bytes:
    with contextlib.suppress(OSError):  # it has ended
        return Path("/proc", str(process), "cmdline").read_bytes()
    return b""


def kernel_of(scheduler: int) -> int | None:
    """The kernel of the notebook behind the report, once it runs."""
    return next((job for job in jobs_of(scheduler) if b"ipykernel" in command_of(job)), None)


def disturb(running: subprocess.Popen, who: str, number: signal.Signals, draw: Random) -> None:
    """Send a signal to one process of a run, or to all of them, and wait until all have ended."""
    reached: int | None = None
    while running.poll() is None and reached is None:
        jobs = [job for job in jobs_of(running.pid) if b"/.snakemake/scripts/" in command_of(job)]
        candidates = {
            "scheduler": running.pid,
            "all": running.pid,
            "job": draw.choice(jobs) if jobs else None,  # not git, which is asked for the commit
            "kernel": kernel_of(running.pid),
        }
        reached = candidates[who]
        time.sleep(0.01)
    jobs = jobs_of(running.pid)
    if reached is not None:
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if who == "all" else os.kill)(reached, number)
    ended(running)
    until = time.monotonic() + 60
    while any(map(alive, jobs)) and time.monotonic() < until:  # jobs outlive a scheduler that was killed
        time.sleep(0.05)
    assert not any(map(alive, jobs))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc in which to find the jobs of a run")
@pytest.mark.parametrize(("who", "number", "seed"), list(kills()))
def test_killed_at_a_random_moment_the_same_command_gives_the_same_bytes(whole, tmp_path, who, number, seed):
    draw = Random(f"{who} {number} {seed}")  # noqa: S311 - moments
    targets, steps = RATES, STEPS[draw.randrange(len(STEPS)) :]
    if who == "kernel":
        targets, steps = REPORT, ("report",)
    folder = undone(whole, tmp_path / "again", steps)
    if draw.random() < 0.3:
        shutil.rmtree(folder / "run" / ".snakemake")
    running = start(*targets, studies=["../in/small.yaml"], folder=folder / "run")
    while who == "kernel" and running.poll() is None and kernel_of(running.pid) is None:
        time.sleep(0.01)
    until = time.monotonic() + draw.random() * (1 if who == "kernel" else whole.seconds)
    while running.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    disturb(running, who, number, draw)
    assert_no_half_file(folder, whole.made)
    after = run_again(folder, *targets)
    assert after.code == 0, after.shown
    found = results(folder)
    assert {path for path in found if path.endswith(".part")} == set()
    assert {path: found.get(path) for path in whole.made} == whole.made


def test_two_runs_at_once_do_not_disturb_each_other(whole, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(whole.folder, folder)
    shutil.rmtree(folder / "run" / "results")
    both = [start(*RATES, studies=["../in/small.yaml"], folder=folder / "run") for _ in range(2)]
    first, second = sorted(map(ended, both), key=lambda own: own.code)
    assert first.code == 0, first.shown
    if second.code:  # it began before the other had ended
        assert "Directory cannot be locked" in second.shown
    rates = "run/results/small/rates.csv"
    assert (folder / rates).read_bytes() == whole.made[rates]
    assert run(folder, *RATES).planned == {}


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
    running = start(*RATES, studies=["../in/small.yaml"], folder=disk / "run")
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
    after = run_again(disk, *RATES)
    assert after.code == 0, after.shown
    rates = "run/results/small/rates.csv"
    assert results(disk)[rates] == whole.made[rates]
