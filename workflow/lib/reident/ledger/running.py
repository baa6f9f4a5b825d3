"""A running step: its inputs, its outputs, and its entry in the ledger."""

from __future__ import annotations

import contextlib
import errno
import gc
import hashlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reident.errors import InputError, type_name
from reident.ledger import IS_JOB, progress
from reident.ledger.chain import (
    AGAIN,
    BrokenError,
    Chain,
    by_importer,
    place_of,
    place_of_path,
    read_entry,
    recorded_path,
    root_of,
    sealed,
)
from reident.ledger.stored import (
    FULL,
    Sink,
    Written,
    encoded,
    read,
    read_csv,
    remove_parts,
    sync_folder,
    temporary,
    write,
    write_temporary,
)
from reident.linkage.functions import mute
from reident.pipeline import release
from reident.pipeline.digests import sha256, versions
from reident.pipeline.steps import STEPS

if TYPE_CHECKING:
    from reident.kernels.compiling import Clock


class _Read(NamedTuple):
    """An input as it was before the step: its digest and size, and its state, by which a change shows.

    Users cannot set the time of the last change of a file's inode, unlike the time stamp that tools keep.
    """

    sha256: str
    size: int
    changed: int
    inode: int


class Step:
    """One running step: reads inputs and writes outputs by their names in the rule.

    The `job` is as the scheduler describes it to an adapter. ``params.settings`` are the settings of the step,
    ``params.study`` its digest, ``params.library`` the digest of the code, ``params.file`` the study file; the output
    named ``ledger`` is the step's entry, whose name begins with the rule's.
    """

    def __init__(self, job: Any) -> None:
        self.inputs = {name: _paths(value) for name, value in job.input.items()}
        self.outputs = {name: Path(value) for name, value in job.output.items()}
        self.params = dict(job.params.items())
        self.wildcards = dict(job.wildcards.items())
        self.threads = job.threads
        self.entry = self.outputs.pop("ledger")
        self.folder = self.entry.parents[1]
        self.root = root_of(self.folder)
        self.place = place_of(self.folder)
        self.name = self.entry.stem
        self.rule = self.name.partition(".")[0]
        self.name_of_rule = job.rule  # an importer may give it another name
        self.log = Path(job.log[0])
        self._written: dict[str, Written] = {}
        self._sinks: dict[str, Sink] = {}
        self._read: dict[Path, _Read] = {}
        self._began = self._reported = time.monotonic()
        self._estimate = progress.Estimate()
        self._compiling: Clock | None = None

    @property
    def settings(self) -> Any:
        """The settings of the step in the study, or in the variant that it belongs to, and nothing else of it."""
        return self.params["settings"].value

    @property
    def called(self) -> str:
        """The study's id, with the variant that the step belongs to."""
        variant = self.place.removeprefix("variants/")
        return f"{self.root.name}, variant {variant}" if variant else self.root.name

    def start(self) -> None:
        """Hash every input; refuse a study that changed, and results that differ from those that their steps wrote."""
        gc.freeze()
        gc.enable()
        pa.set_cpu_count(self.threads)
        for path in (*self.outputs.values(), self.entry):
            remove_parts(path)
        for path in (path for paths in self.inputs.values() for path in paths):
            state = _state(path)  # before its content: a later change shows
            self._read[path] = _Read(sha256(path), *state)
        chain = Chain(self.root)
        for path, content in self._read.items():
            if self.root in path.parents:
                chain.check_input(path, content.sha256)
        # Ranks take nothing of the study, and run no kernel, unless pairs are assigned.
        if STEPS[self.rule].compiled and self.settings is not None:
            from reident.kernels.compiling import Clock  # noqa: PLC0415 - other steps must not wait for numba

            self._compiling = Clock(lambda runs: self.say(progress.compiling(self.name, runs=runs)))

    @property
    def metric(self) -> str | None:
        """The metric of the step, where it has one."""
        return self.wildcards.get("metric")

    @property
    def own_code(self) -> bool:
        """Whether the step runs scoring functions of the study."""
        return bool(self.inputs.get("functions"))

    @property
    def details(self) -> Path:
        """The file for the details of an unexpected error, which may hold data."""
        return self.folder / "confidential" / f"{self.name}.txt"

    def path(self, name: str) -> Path:
        """Return the one path of a named input."""
        (path,) = self.inputs[name]
        return path

    @property
    def checkpoints(self) -> Path:
        """The folder in which a long step keeps its checkpoints: one for each study, library and inputs."""
        read = sorted((str(path), file.sha256) for path, file in self._read.items())
        text = json.dumps([self.params["study"], self.params["library"], read])
        return self.folder / "confidential" / f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def scratch(self) -> Path:
        """The folder for files without a name, which hold more than memory: on the disk of the results."""
        return self.entry.parent

    def read(self, name: str) -> pa.Table | pd.DataFrame | str:
        """Return a named input: a Parquet table, a CSV table (text, counts as integers), or text."""
        return read(self.path(name))

    def read_all(self, name: str) -> list[Any]:
        """Return all files of a named input, in the order of the rule."""
        return [read(path) for path in self.inputs[name]]

    def read_columns(self, name: str, columns: Sequence[str]) -> list[pd.DataFrame]:
        """Return some columns of all CSV tables of a named input, in the order of the rule."""
        return [read_csv(path, columns) for path in self.inputs[name]]

    def read_sides(self, prefix: str = "") -> dict[str, Any]:
        """Return the inputs of the PUF and the EIF, by side."""
        return {side: self.read(prefix + side) for side in ("puf", "eif")}

    def open_sides(self, prefix: str = "") -> dict[str, pq.ParquetFile]:
        """Open the Parquet inputs of the PUF and the EIF, by side."""
        return {side: self.open(prefix + side) for side in ("puf", "eif")}

    def open(self, name: str) -> pq.ParquetFile:
        """Open a named Parquet input, to be read batch by batch."""
        return _open(self.path(name))

    def open_all(self, name: str) -> list[pq.ParquetFile]:
        """Open all files of a named Parquet input, in the order of the rule."""
        return [_open(path) for path in self.inputs[name]]

    def sink(self, name: str) -> Callable[[pa.Table], None]:
        """Return a function that takes the rows of a named Parquet output: one batch or more, which may be empty."""
        self._sinks[name] = Sink(self.outputs[name])
        return self._sinks[name]

    def write(self, name: str, content: pa.Table | pd.DataFrame | str | bytes) -> None:
        """Write a named output under a temporary name; it gets its own name when the step has ended well."""
        if isinstance(content, pa.Table):
            self.sink(name)(content)
            return
        rows = len(content) if isinstance(content, pd.DataFrame) else None
        path = self.outputs[name]
        self._written[name] = write_temporary(path, encoded(content, path))._replace(rows=rows)

    def write_all(self, tables: Any) -> None:
        """Write outputs by their names: the items of a mapping, or the fields of a named tuple."""
        for name, table in (tables if isinstance(tables, dict) else tables._asdict()).items():
            self.write(name, table)

    def say(self, message: str) -> bool:
        """Add a line to the log file, never a key or a value of the data; return whether it could be written."""
        try:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(message + "\n")
        except OSError:
            return False
        return True

    def progress(self, share: float) -> None:
        """Tell the log, at intervals, how far a long step is and when it will be done; the terminal shows it."""
        now = time.monotonic()
        compiled = self._compiling.seconds if self._compiling else 0.0
        before, worked = self._estimate.share, now - self._began - compiled
        interval = progress.LOG_INTERVAL if share - before >= 0.01 else progress.INTERVAL
        if share <= 0 or now - self._reported < interval:
            return
        self._reported = now
        self._estimate.report(worked, share)
        busy = self._compiling is not None and self._compiling.runs
        self.say(progress.line(self.name, self._estimate.share, None if busy else self._estimate.left()))

    def finish(self) -> None:
        """Check that inputs did not change and outputs are complete; give them their names; write the entry."""
        for path, before in self._read.items():
            if _state(path) != before[1:] and sha256(path) != before.sha256:
                raise InputError(f"{path.name} changed while step `{self.name}` read it. {AGAIN}.")
        for name, sink in self._sinks.items():
            self._written[name] = sink.close()
        if missing := sorted(set(self.outputs) - set(self._written)):
            raise RuntimeError(f"step {self.name} did not write {', '.join(missing)}")
        self._keep(self._record())
        self.details.unlink(missing_ok=True)

    def _record(self) -> dict[str, Any]:
        """Return the step's entry."""
        return {
            "step": self.name,
            "rule": self.rule,
            "metric": self.metric,
            "study_digest": self.params.get("study"),
            "library_digest": self.params.get("library"),
            "inputs": {
                name: [self._line(path, self._read[path].sha256, self._read[path].size) for path in paths]
                for name, paths in self.inputs.items()
                if name != "study"  # the digest of the settings stands for it
            },
            "outputs": {
                name: self._line(self.outputs[name], written.sha256, written.size, written.rows)
                for name, written in self._written.items()
            },
            "release": release.recorded(),
            "versions": versions(),
        }

    def _keep(self, record: dict[str, Any]) -> None:
        """Give the outputs their names and write the entry: a result is never there beside another's entry."""
        text = json.dumps(sealed(record), indent=1, sort_keys=True)
        entry = write_temporary(self.entry, f"{text}\n".encode())
        self.entry.unlink(missing_ok=True)
        self._supersede()
        for name, written in self._written.items():
            written.path.replace(self.outputs[name])
        entry.path.replace(self.entry)
        for folder in sorted({path.parent for path in (*self.outputs.values(), self.entry)}):
            sync_folder(folder)

    def _supersede(self) -> None:
        """Remove the entries of steps of earlier versions whose results this step makes now."""
        mine = {recorded_path(path, self.root) for path in self.outputs.values()}
        for path in self.entry.parent.glob("*.json"):
            if path.stem.partition(".")[0] not in STEPS:
                with contextlib.suppress(BrokenError, OSError):
                    if not mine.isdisjoint(line["path"] for line in read_entry(path)["outputs"].values()):
                        path.unlink()

    def abandon(self) -> None:
        """Remove the files with temporary names."""
        for sink in self._sinks.values():
            sink.abandon()
        for path in (*self.outputs.values(), self.entry):
            with contextlib.suppress(OSError):
                temporary(path).unlink(missing_ok=True)

    def end(self) -> None:
        """End the watch over compiling kernels."""
        if self._compiling is not None:
            self._compiling.stop()

    def check_chain(self) -> None:
        """Walk back from the inputs to the sources, through comparisons to the variants that they compare."""
        family = import_module("reident.pipeline.family")
        members = family.Family(self.params["file"])
        names = [name for name in self.inputs if name.startswith("source_")]
        source_paths = {name.removeprefix("source_"): self.path(name) for name in names}

        def sources(place: str) -> dict[str, Path]:
            return source_paths if place == self.place else family.sources(members.at(place), members.path)

        ends: dict[str, list[Path]] = {}
        for path in (path for paths in self.inputs.values() for path in paths if self.root in path.parents):
            place = place_of_path(recorded_path(path, self.root)) if STEPS[self.rule].gathers else self.place
            ends.setdefault(place, []).append(path)
        Chain(self.root).walk(members.known_digest, ends, sources, through=True)

    def _line(self, path: Path, digest: str, size: int, rows: int | None = None) -> dict[str, Any]:
        line = {"path": recorded_path(path, self.root), "sha256": digest, "size": size}
        return line if rows is None else {**line, "rows": rows}


@contextlib.contextmanager
def step(job: Any) -> Iterator[Step]:
    """Run the body of an adapter as a step of the ledger.

    Bad input ends the process with its one sentence; an unexpected error with its type, the
    function and the step, while its details go to a file that only the owner may read. What the step
    makes is its owner's alone, whatever umask a scheduler gave it.
    """
    running = Step(job)
    before = os.umask(0o077)
    if running.own_code:
        mute()  # also what it may write later, from a thread or when the process ends
    status = 0
    try:
        running.log.write_text("", encoding="utf-8")
        running.start()
        yield running
        running.finish()
        running.say(f"{running.name}: done")
    except BaseException as error:  # noqa: BLE001 - the last net: nothing of the data may reach a log
        status = 1
        _tell(running, error)
    finally:
        running.end()
        os.umask(before)
    if running.own_code:
        os._exit(status)  # a thread that it has left may never end
    if IS_JOB:
        # What Python does before it ends takes longer than many a step; its files are closed, and their names final.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    if status:
        sys.exit(status)


def _tell(running: Step, error: BaseException) -> None:
    """Write why a step failed into the log, which the terminal shows; on the terminal if there is no log."""
    if isinstance(error, InputError):
        message = by_importer(f"Error: {error}", running.rule, running.name_of_rule)
    else:
        message = _about_disk(running, error) or _about_resources(running, error) or _about_unexpected(running, error)
    # A full disk may be why the step failed. An error here would bring the first one to the terminal, with data.
    with contextlib.suppress(OSError):
        running.abandon()
    if not running.say(message):
        sys.stderr.write(f"{message}\n")


def _open(path: Path) -> pq.ParquetFile:
    """Open a Parquet file; read ahead, it would keep all that has been read until it is closed."""
    return pq.ParquetFile(path, pre_buffer=False)


def _state(path: Path) -> tuple[int, int, int]:
    """Return the state of a file, which every change changes."""
    status = path.stat()
    return status.st_size, status.st_ctime_ns, status.st_ino


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Return an error and the errors behind it: pyarrow and others wrap the error that they met."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _about_disk(running: Step, error: BaseException) -> str | None:
    """Return the message about a disk that is the cause."""
    step, results = f"step `{running.name}`", f"its results in {running.folder}"
    for cause in _causes(error):
        number = getattr(cause, "errno", None)
        if number in FULL or any(os.strerror(code) in str(cause) for code in FULL):
            what = f"{step} found no room on the disk for {results}"
            return f"Error: {what}. Make room and run the same command again."
        if number == errno.EIO:
            what = f"the disk failed while {step} wrote {results}"
            return f"Error: {what}. Check the disk and run the same command again."
    return None


def _about_resources(running: Step, error: BaseException) -> str | None:
    """Return the message about exhausted memory, in the step or in the process that runs its notebook."""
    more = "Give the run more memory, or fewer cores, and run the same command again"
    for cause in _causes(error):
        in_cell = str(getattr(cause, "ename", ""))  # the type of an error in a cell of the notebook
        if isinstance(cause, MemoryError) or "MemoryError" in in_cell:
            return f"Error: step `{running.name}` ran out of memory. {more}."
        if "Kernel died" in str(cause) or type(cause).__name__ == "DeadKernelError":
            what = f"the process that runs the notebook of step `{running.name}` was killed"
            return f"Error: {what}; memory may have run out. {more}."
    return None


def _about_unexpected(running: Step, error: BaseException) -> str:
    # Code that a study brought along may be called by a name that it made of data.
    frames = traceback.extract_tb(error.__traceback__)
    frame = [frame for frame in frames if not frame.filename.startswith("<")][-1]
    details = "".join(traceback.format_exception(error)).encode(errors="backslashreplace")
    try:
        write(running.details, details)
        where = f"are in {running.details}"
    except OSError as failed:
        where = f"could not be written ({failed.strerror})"
    return (
        f"Error: step `{running.name}` failed unexpectedly ({type_name(error)} in {frame.name}, "
        f"{Path(frame.filename).name} line {frame.lineno}); the details, which may hold data, {where}."
    )


def _paths(value: Any) -> list[Path]:
    return [Path(value)] if isinstance(value, str) else [Path(item) for item in value]
