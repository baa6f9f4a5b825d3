"""The workflow as a user runs it: the real command, in a working directory of its own."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from making import preloaded
from reident.pipeline.steps import STEPS

CHECKOUT = Path(__file__).resolve().parents[2]

SNAKEMAKE = "snakemake"
"""The command of users."""

PRELOADED = preloaded.__name__
"""Snakemake that starts without its imports, as its steps do, for tests in which it does not matter how they start."""

THREE_FILES = """\
id: {id}
files:
  puf: {{path: puf.csv, id: pufid}}
  eif: {{path: eif.csv, id: eifid}}
  iuf: {{path: iuf.csv, puf_id: pufid, eif_id: eifid}}
"""
"""The beginning of a study file, a text for `format`."""

LINKAGE = (
    "resolve", "prepare", "stratify", "bin", "check_description", "score", "rank", "confirm",
    "rate", "challenge", "judge", "report",
)  # fmt: skip
"""The steps of every study with metrics."""


class Ended(NamedTuple):
    """How a command ended: its exit code, and everything that it showed."""

    code: int
    shown: str

    @property
    def errors(self) -> set[str]:
        """The sentences that say what is wrong; each may be shown more than once."""
        lines = [line.strip() for line in self.shown.splitlines()]
        return {line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")}

    @property
    def advice(self) -> str:
        """The option that the sentences say to run the same command with; empty if they say none."""
        rules = {rule for text in re.findall(r"--forcerun ([a-z_ ]+)`", self.shown) for rule in text.split()}
        return f"--forcerun {' '.join(sorted(rules))}" if rules else ""

    @property
    def planned(self) -> dict[str, int]:
        """The steps that a dry run would run, or that a run sets out to run, by their rules."""
        rules = {step.label: rule for rule, step in STEPS.items()}
        label = "|".join(sorted(map(re.escape, rules), key=len, reverse=True))
        detail = r"\D.*" if "Dry run: " in self.shown else r"\d+(?: s| min|\.\d h)"
        number = r"(?:\d+ of \d+ +)?"
        pattern = rf"^{number}[^ :]+(?:, variant [^ :]+)?: ({label})\b.* \({detail}\)$"
        lines = re.findall(pattern, self.shown, re.MULTILINE)
        # The last job, which tells the verdicts, is no step.
        assert lines or re.search("Nothing to be done|^(Dry run|Done): [01] jobs? ", self.shown, re.MULTILINE), (
            self.shown
        )
        return dict(Counter(rules[text] for text in lines))


def snakemake(*arguments: str, program: str | None = None, **options: Any) -> Ended:
    """Run ``snakemake`` on studies, see :func:`start`."""
    return ended(start(*arguments, program=program, **options))


def reident(*arguments: str | Path, **options: Any) -> Ended:
    """Run ``reident`` with `folder` as the working directory; options are those of :func:`start_reident`."""
    return ended(start_reident(*arguments, **options))


def start_reident(
    *arguments: str | Path,
    folder: Path,
    checkout: Path = CHECKOUT,
    environment: dict[str, str] | None = None,
    umask: int = -1,
) -> subprocess.Popen:
    """Start ``reident`` with `folder` as the working directory."""
    folder.mkdir(parents=True, exist_ok=True)
    library = str(checkout / "workflow" / "lib")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "reident.command", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "COLUMNS": "400", **(environment or {}), "PYTHONPATH": library},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        umask=umask,
    )


def ended(started: subprocess.Popen) -> Ended:
    """Wait for a command's end."""
    try:
        shown, _ = started.communicate(timeout=600)
    except subprocess.TimeoutExpired:
        started.kill()
        raise
    return Ended(started.returncode, shown)


def start(
    *arguments: str,
    studies: Iterable[Path],
    folder: Path,
    cores: int | None = 2,
    checkout: Path = CHECKOUT,
    environment: dict[str, str] | None = None,
    umask: int = -1,
    program: str | None = SNAKEMAKE,
) -> subprocess.Popen:
    """Start ``snakemake`` on study files with `folder` as the working directory, which takes the results.

    The process is the first of a group of its own.

    Parameters
    ----------
    arguments : str
        Further arguments: targets, ``--dry-run``, ``--forcerun rate report`` …
        ``name=value`` goes to ``--config``.
    cores : int or None
        None where an executor counts jobs in place of cores.
    umask : int
        That of the command; -1 leaves the one of this process.
    program : str
        The module that runs: :data:`PRELOADED`, or `SNAKEMAKE` where it matters how the command or its steps start.
        None is what takes less time, which is the latter for one step with a library of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = [argument for argument in arguments if re.fullmatch(r"\w+=.*", argument)]
    plain = [argument for argument in arguments if argument not in config]
    options = [word for argument in plain if argument.startswith("--") for word in argument.split(" ")]
    targets = [argument for argument in plain if not argument.startswith("--")]
    named = ",".join(map(str, studies))
    library = os.pathsep.join([str(checkout / "workflow" / "lib"), str(CHECKOUT / "tests")])
    environment = {**os.environ, "PYTHONPATH": library, "COLUMNS": "400", **(environment or {})}
    command = [*begun(program, environment), "--snakefile", str(checkout / "Snakefile")]
    command += ["--directory", str(folder), *([] if cores is None else ["--cores", str(cores)]), *options]
    command += ["--config", f"study={named}", *config, "--", *targets]
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        umask=umask,
        start_new_session=True,
    )


def begun(program: str | None, environment: Mapping[str, str]) -> list[str]:
    """The beginning of a command, up to its first argument; see :func:`start`."""
    if program != SNAKEMAKE and preloaded.serves(environment):
        return [preloaded.python(), "-m", SNAKEMAKE]
    return [sys.executable, "-m", program or SNAKEMAKE]


def copied(folder: Path) -> Path:
    """A copy of the checkout, which a test may edit; kernels would be compiled there anew."""
    for part in ("config", "profiles", "workflow"):
        shutil.copytree(CHECKOUT / part, folder / part)
    for part in ("Snakefile", "environment.yml"):
        shutil.copy2(CHECKOUT / part, folder / part)
    return folder


def made(study: str, *names: str) -> list[str]:
    """Files of a study's results as targets."""
    return [f"results/{study}/{name}" for name in names]


def open_to_others(folder: Path) -> dict[str, str]:
    """What others than the owner may read or enter in a folder, by path, with its mode; not what goes meanwhile.

    Snakemake opens its records to the group, in a folder that is closed.
    """
    found = {}
    walked = ((Path(parent), names) for parent, *kinds in os.walk(folder) for names in kinds)
    for path in (parent / name for parent, names in walked for name in names):
        if ".snakemake/metadata/" in path.as_posix() and not folder.joinpath(".snakemake").stat().st_mode & 0o077:
            continue
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if mode & 0o077 and not stat.S_ISLNK(mode):
            found[str(path.relative_to(folder))] = stat.filemode(mode)
    return found
