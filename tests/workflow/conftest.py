"""One finished run of the small study, which several modules look at."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import NamedTuple

import pytest
from workflow.commands import PRELOADED, Ended, snakemake

from workflow import small


class Finished(NamedTuple):
    """A folder with the study in `in` and the working directory `run`; a copy of it elsewhere is as finished."""

    folder: Path
    ended: Ended

    @property
    def results(self) -> Path:
        return self.folder / "run" / "results" / "small"


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Finished:
    """The small study, outside the repository, taken to its report on two cores; once for all workers of pytest."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished"
    shown = folder.with_suffix(".txt")
    with folder.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shown.exists():
            ended = run(folder)
            assert ended.code == 0, ended.shown
            shown.write_text(ended.shown, encoding="utf-8")
    return Finished(folder, Ended(0, shown.read_text(encoding="utf-8")))


def run(folder: Path) -> Ended:
    """Take the study to its report; a relative path, so that what the scheduler records holds in a copy too."""
    small.write(folder / "in")
    return snakemake(
        studies=["../in/small.yaml"], folder=folder / "run", environment={"PYTHONHASHSEED": "0"}, program=PRELOADED
    )
