"""The commands of this room, as the adapters call them: one sentence for each error, and the exit status."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from reident import starter
from reident.errors import InputError


def answer(job: Any, command: str, **more: Any) -> None:
    """Run a command and end the process with its exit status.

    Parameters
    ----------
    job : snakemake.script.Snakemake
    command : str
        A module of this room, whose ``run(**params)`` returns the lines to print and the exit status.
    more
        Further arguments of the command, such as what renders its page on the floor above.
    """
    os.umask(0o077)
    module = importlib.import_module(f"reident.archive.{command}")
    try:
        lines, status = module.run(**dict(job.params), **more, cores=job.threads)
    except InputError as error:
        lines, status = [f"Error: {error}"], 1
    Path(job.log[0]).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
    if status > 1:  # of a job, Snakemake tells success and failure apart, and nothing else
        _status_file(Path(job.log[0]).parent).write_text(str(status), encoding="utf-8")
    sys.exit(status == 1)


def end(results: Path) -> None:
    """End the scheduler's process with the status of the command that it ran, where that is neither 0 nor 1.

    Parameters
    ----------
    results : pathlib.Path
        The folder of the results.
    """
    file = _status_file(results)
    if file.is_file():
        status = int(file.read_text(encoding="utf-8"))
        file.unlink()
        sys.exit(status)


def _status_file(results: Path) -> Path:
    """Return where a command leaves its exit status for the process that started it."""
    return results / f".status-{os.environ.get(starter.STARTER, '').partition(' ')[0]}"
