"""Compute a sealed study anew, in an empty folder and without the network (METHODS §10)."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from reident.archive import layout
from reident.archive.inputs import Input
from reident.errors import InputError
from reident.ledger.chain import SOURCE_PREFIX, read_entry
from reident.pipeline.digests import sha256
from reident.pipeline.family import Family
from reident.study.named_files import path_problem

RUN, STUDY, HOME, OUTSIDE = "run", "study", "home", "outside"
"""The folders of a new run: its working directory, the study file with the inputs below it, a home without settings,
and the inputs whose paths the study file does not give relative to itself."""

LOG = "rerun.log"
PROGRESS_INTERVAL = 10.0
"""Seconds between two lines about the progress of the run."""

KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TERM", "SYSTEMROOT", "NUMBA_CACHE_DIR")
"""The environment variables that the new run has; every other setting of the user is left behind."""

_WITHOUT_NETWORK = (
    ("unshare", "--net"),
    ("unshare", "--user", "--map-current-user", "--net"),
    ("unshare", "--user", "--map-root-user", "--net"),
)
"""How a process gets a network of its own, which leads nowhere: as root, and as other users where the system allows."""


class Placed(NamedTuple):
    """A study that is ready to be computed."""

    file: Path
    # The absolute paths that had to be replaced in the study file, by what replaced them.
    renamed: dict[str, str]


class Ended(NamedTuple):
    """The end of the new run: its status, errors, duration and access to a network."""

    status: int
    errors: list[str]  # the sentences that say why it failed
    seconds: float
    network: bool  # whether it could reach a network


def study_file(bag: Path, inputs: dict[str, Any]) -> str:
    """Return the name of the study file of a bag, from its list of inputs, or raise an InputError.

    In bags of earlier releases, the entry of the first step has it.
    """
    try:
        name = inputs.get("study")
        if name is None:
            (line,) = read_entry(bag / layout.LEDGER / "ledger" / "resolve.json")["inputs"]["study"]
            name = str(line["path"]).removeprefix(SOURCE_PREFIX)
        name = str(name).rpartition("/")[2]
        if (bag / layout.STUDY / name).is_file():
            return name
    except (InputError, KeyError, TypeError, ValueError):
        pass
    raise InputError(f"{bag.name}: the bag has no study file. Ask for another one.")


def place(bag: Path, name: str, inputs: list[Input], paths: dict[str, Path], into: Path) -> Placed:
    """Put the study file of a bag into an empty folder, where its inputs can be where it expects them.

    A study file that names ``../data/puf.csv`` is put one folder deeper, so that nothing leaves `into` and no byte of
    the study changes. An absolute path stays if the file is there; otherwise it is replaced.
    """
    for item in inputs:
        problem = path_problem(item.path)
        if problem is not None:
            raise InputError(f"{bag.name}: the path of an input {problem}")
    relative = [os.path.normpath(item.path) for item in inputs if not Path(item.path).is_absolute()]
    depth = max((Path(path).parts.count("..") for path in relative), default=0)
    folder = into.joinpath(STUDY, *["_"] * depth)
    folder.mkdir(parents=True, mode=0o700)
    file = Path(shutil.copyfile(bag / layout.STUDY / name, folder / name))
    renamed: dict[str, str] = {}
    for number, item in enumerate(inputs, start=1):
        source, path = paths[item.key], item.path
        if Path(path).is_absolute():
            if layout.is_file(Path(path)) and (item.sha256 is None or sha256(Path(path)) == item.sha256):
                continue
            target = into / OUTSIDE / str(number) / item.name
            renamed[os.path.relpath(target, folder)] = path
        else:
            target = folder / path
        for above in reversed(target.parents):  # also those that a later `..` leaves again
            above.mkdir(exist_ok=True, mode=0o700)
        if not target.exists():
            target.symlink_to(source)
    if renamed:
        _replace(file, {old: new for new, old in renamed.items()})
    return Placed(file, renamed)


def _replace(file: Path, paths: dict[str, str]) -> None:
    """Replace values of a study file, and nothing else of it."""
    before = [member.variant for member in Family(file).members]
    text = file.read_text(encoding="utf-8-sig")
    marks = {
        (token.start_mark.index, token.end_mark.index): paths[token.value]
        for token in yaml.scan(text, Loader=yaml.SafeLoader)
        if isinstance(token, yaml.ScalarToken) and token.value in paths
    }
    for (start, end), value in sorted(marks.items(), reverse=True):
        text = text[:start] + json.dumps(value, ensure_ascii=False) + text[end:]
    file.write_text(text, encoding="utf-8")
    if [member.variant for member in Family(file).members] != before:
        raise InputError(
            f"{file.name}: a variant has the name of a file that is given by its absolute path. Put the file there, as "
            "the names of the results derive from this path."
        )


def shards(bag: Path) -> int | None:
    """Return the number of scoring jobs of a metric in a bag, on which the files of scores depend.

    None if its release did not record it.
    """
    names = [file.stem for file in (bag / layout.LEDGER).rglob("ledger/score.*.json")]
    return max((int(number) for name in names for number in re.findall(r"-of-(\d+)$", name)), default=None)


def run(
    root: Path, placed: Placed, into: Path, cores: str, settings: dict[str, Any], progress: Callable[[], None]
) -> Ended:
    """Compute a study, and wait for the end.

    `root` is the folder of the Snakefile of the code that is to run, and `into` that of the new run: its results are in
    ``run/``, and what it says in ``rerun.log``. `cores` is as Snakemake takes them, `settings` are for ``--config``,
    beside the study; `progress` is called at intervals.
    """
    folder, home = into / RUN, into / HOME
    for path in (folder, home):
        path.mkdir(mode=0o700)
    isolation = without_network()
    config = {"study": os.path.relpath(placed.file, folder), **settings}
    snakefile = root.resolve() / "Snakefile"
    command = [*isolation, sys.executable, "-m", "snakemake", "--snakefile", str(snakefile)]
    command += ["--directory", str(folder.resolve()), "--cores", cores, "--config"]
    command += [f"{name}={value}" for name, value in config.items()]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"HOME": str(home.resolve()), "PYTHONNOUSERSITE": "1", "COLUMNS": "400"}
    # Before the installed package, which may be another release than the code that is to run.
    environment["PYTHONPATH"] = str(snakefile.resolve().parent / "workflow" / "lib")
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603 - the workflow's own command
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            errors = _follow(process.stdout or (), into / LOG, progress)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)  # the steps too
            raise
    return Ended(process.returncode, errors, time.monotonic() - began, not isolation)


def _follow(lines: Iterable[str], file: Path, progress: Callable[[], None]) -> list[str]:
    """Write the messages of a run to a file, ask at intervals for its progress, and return its errors."""
    errors: list[str] = []
    last = time.monotonic()
    with file.open("w", encoding="utf-8") as log:
        for line in lines:
            log.write(line)
            if line.startswith("Error: "):
                errors.append(line.removeprefix("Error: ").strip())
            if time.monotonic() - last > PROGRESS_INTERVAL:
                last = time.monotonic()
                progress()
    return list(dict.fromkeys(errors))


def without_network() -> list[str]:
    """Return a prefix by which a command reaches no network; empty where the system does not allow it."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return []
    for prefix in _WITHOUT_NETWORK:
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return list(prefix)
    return []
