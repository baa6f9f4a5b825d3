"""One finished run of the small study, which several modules look at."""

from __future__ import annotations

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
    """The small study, outside the repository, taken to its report on two cores."""
    folder = tmp_path_factory.mktemp("finished")
    small.write(folder / "in")
    # A relative path, from the working directory: what the scheduler records holds in a copy too.
    ended = snakemake(
        studies=["../in/small.yaml"],
        folder=folder / "run",
        environment={"PYTHONHASHSEED": "0"},
        program=PRELOADED,
    )
    assert ended.code == 0, ended.shown
    return Finished(folder, ended)
