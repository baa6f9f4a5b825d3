"""Runs from the folders of users: with a Snakefile and a configuration of their own."""

from __future__ import annotations

import os
import subprocess
import textwrap
from pathlib import Path

from making import preloaded
from workflow.commands import PRELOADED, Ended, begun


def run(folder: Path, *arguments: str, snakefile: str = "", program: str = PRELOADED, **environment: str) -> Ended:
    """Run `snakemake` in a folder, with a Snakefile of its own where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    if snakefile:
        (folder / "Snakefile").write_text(textwrap.dedent(snakefile), encoding="utf-8")
    settings = {**os.environ, "PYTHONPATH": preloaded.LIBRARIES, "COLUMNS": "400", "PYTHONHASHSEED": "0", **environment}
    command = [*begun(program, settings), "--cores", "2", "--rerun-incomplete", "--show-failed-logs", *arguments]
    ended = subprocess.run(
        command,
        cwd=folder,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    return Ended(ended.returncode, ended.stdout)


def made(folder: Path) -> dict[str, bytes]:
    """What a run must give, wherever and under whatever names it runs."""
    files = [*folder.glob("re*/small/*.csv"), *folder.glob("results/small/*/*.csv"), *folder.glob("reports/small/*")]
    files = [file for file in files if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(files)}
