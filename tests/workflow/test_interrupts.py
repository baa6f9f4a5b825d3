"""Ctrl-C once and twice and SIGTERM at sixty moments of a small study, from when Snakemake begins to plan, many while
the first steps start: nothing of a study on the terminal or in a log, no traceback, no hang, and one line that
says what to do."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import time
from pathlib import Path
from random import Random

import pytest
from workflow.commands import CHECKOUT, ended, start

pytestmark = pytest.mark.slow

SEED = "SEED-OF-THE-ROUNDING-0123456789"
STOPPED = "Stopped. Run the same command again to go on from here."


SIGNS = {"plan": ".snakemake", "step": ".snakemake/scripts/tmp*"}


def moments() -> list:
    """The signal, what it waits for, and the seconds after that; early moments are many, since steps start then."""
    draw = Random("moments of interrupts")  # noqa: S311 - moments
    found = []
    for name in ("INT", "TERM"):
        for after, longest in (("plan", 2.0), ("step", 0.5), ("step", 3.0), ("step", 12.0)):
            n = {"plan": 6, "step": 8}[after] + 2 * (name == "INT" and longest == 0.5) - 2 * (longest == 12.0)
            found += [(name, after, round(draw.uniform(0, longest), 3)) for _ in range(n)]
    found += [("INT", "step", seconds) for seconds in (0.0, 0.02, 0.05, 0.1)]
    assert len(found) == 62
    return marked(found, [("INT", "step", 0.02)])


def moments_of_two() -> list:
    """The signal, what it waits for, and the seconds after that and until the same signal again."""
    draw = Random("moments of two signals")  # noqa: S311 - moments
    found = []
    for name in ("INT", "TERM"):
        for after, longest in (("plan", 2.0), ("step", 0.5), ("step", 12.0)):
            found += [(name, after, *(round(draw.uniform(0, most), 3) for most in (longest, 0.6))) for _ in range(20)]
    return marked(found, [found[20], found[80]])


def marked(found: list, quick: list) -> list:
    return [
        pytest.param(*one, marks=[] if one in quick else pytest.mark.long, id=" ".join(map(str, one))) for one in found
    ]


@pytest.fixture
def interruptible():
    """What a test starts takes Ctrl-C, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def study(tmp_path) -> Path:
    shutil.copytree(CHECKOUT / ".test/study", tmp_path / "study")
    file = tmp_path / "study" / "study.yaml"
    release = f"release: {{policy: base-5-random, seed: {SEED}}}\n"
    file.write_text(file.read_text(encoding="utf-8") + release, encoding="utf-8")
    return file


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("name", "after", "seconds"), moments())
def test_an_interrupted_run_shows_nothing_of_the_study(study, tmp_path, name, after, seconds):
    folder = tmp_path / "run"
    running = start(studies=[study], folder=folder)
    wait(running, folder, after, seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.Signals[f"SIG{name}"])
    stopped = check(running, folder)
    assert name == "TERM" or stopped.code == 0 or stopped.shown.splitlines()[-1] == STOPPED


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("name", "after", "seconds", "then"), moments_of_two())
def test_a_second_signal_changes_nothing(study, tmp_path, name, after, seconds, then):
    """A terminal sends Ctrl-C to all processes; who sends SIGTERM to the run alone waits for the steps that run."""
    folder = tmp_path / "run"
    running = start(studies=[study], folder=folder)
    for waiting in (seconds, then):
        wait(running, folder, after, waiting)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGINT) if name == "INT" else os.kill(running.pid, signal.SIGTERM)
    stopped = check(running, folder)
    assert stopped.code == 0 or stopped.shown.splitlines()[-1] == STOPPED
    assert stopped.shown.count(STOPPED) == (stopped.code != 0)


def wait(running, folder: Path, after: str, seconds: float) -> None:
    while running.poll() is None and not any(folder.glob(SIGNS[after])):
        time.sleep(0.002)
    time.sleep(seconds)


def check(running, folder: Path):
    """Wait for the end of a run; nothing of the study is in its words."""
    began = time.monotonic()
    stopped = ended(running)
    assert time.monotonic() - began < 60, "it hangs"
    logs = [*folder.glob("results/*/logs/*"), *folder.glob(".snakemake/log/*"), *folder.glob("results/*.log")]
    for text in (stopped.shown, *(log.read_text(encoding="utf-8") for log in logs)):
        assert SEED not in text
        assert not re.search("Traceback|pickle|KeyboardInterrupt", text)
    return stopped
