"""The ledger: what every step read and wrote, by SHA-256, and whether the chain still closes.

Snakemake schedules by time stamps and its own records; it does not see an edited
intermediate or a source whose time stamp was kept. A step therefore hashes what it reads
before and after, writes under a temporary name in the same folder, syncs, renames, and
then writes its entry. :func:`check_chain` walks the entries back to the sources.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import hashlib
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reident.columns import COUNTS
from reident.errors import InputError

if TYPE_CHECKING:
    from reident.family import Member
    from reident.study import Study

LIBRARY = Path(__file__).parent
MODULES = {
    "resolve": ["study", "family"],
    "simulate": ["simulation.survey"],
    "synthesize": ["simulation.synthesis"],
    "simulate_amounts": ["simulation.skewed"],
    "microaggregate": ["microaggregation.files"],
    "prepare": ["intake"],
    "stratify": ["strata"],
    "bin": ["bins"],
    "score": ["scoring", "metrics.{metric}"],
    "rank": ["ranking"],
    "confirm": ["confirmation"],
    "agreements": ["agreements"],
    "describe": ["description"],
    "rate": ["rates"],
    "prepare_matching": ["matching.intake"],
    "match": ["matching.summary"],
    "compare": ["comparison"],
    "populate": ["simulation.authorities"],
    "prepare_filerisk": ["filerisk.intake"],
    "assess_file": ["filerisk.assessment"],
    "sample_population": ["filerisk.numerical_study"],
    "report": ["report", "figures", "tables", "rates"],
}
"""The library modules of each rule."""

COMPILED = ("score", "match", "assess_file", "sample_population")
"""The rules that run kernels."""

PACKAGES = ("reident", "numpy", "scipy", "pandas", "pyarrow", "pyreadstat", "numba", "pydantic", "snakemake")

TELL_EVERY = 10
"""Seconds between two words on the progress of a step."""


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """The versions that a number may depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


@cache
def library_digest(rule: str, metric: str | None = None) -> str:
    """SHA-256 over the sources of a rule's library modules and all that these import from the library.

    The study model is left out, and how variants are made: what a step takes of a study has a digest of its
    own. So are kernels of steps that do not score. Imports for type checking only do not count.
    """
    todo = [f"reident.{module.format(metric=metric)}" for module in (*MODULES[rule], "ledger")]
    seen: set[str] = set()
    while todo:
        module = todo.pop()
        unused = module in ("reident.study", "reident.family") and rule != "resolve"
        unused |= module.startswith("reident.kernels") and rule not in COMPILED
        if module in seen or unused:
            continue
        seen.add(module)
        todo += _imports(module)
    total = hashlib.sha256()
    for module in sorted(seen):
        for source in _files(module):
            total.update(f"{source.relative_to(LIBRARY)}\0{sha256(source)}\n".encode())
    return total.hexdigest()


def _files(module: str) -> list[Path]:
    base = LIBRARY.joinpath(*module.split(".")[1:])
    if base.is_dir():
        return (
            sorted(file for file in base.glob("*") if file.is_file())
            if base != LIBRARY
            else [base / "__init__.py"]
        )
    return [base.with_suffix(".py")]


def _imports(module: str) -> list[str]:
    found = []
    for source in _files(module):
        if source.suffix != ".py":
            continue
        tree = ast.parse(source.read_text(encoding="utf-8"))
        skipped = {
            id(node)
            for block in ast.walk(tree)
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in ast.walk(block)
        }
        for node in ast.walk(tree):
            if id(node) in skipped:
                continue
            if isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                found += _imported_from(node.module, [alias.name for alias in node.names])
    return [name for name in found if name.startswith("reident.") and _exists(name)]


def _imported_from(module: str, names: list[str]) -> list[str]:
    """What `from module import names` takes: of a package the named modules alone, where they are modules."""
    parts = [f"{module}.{name}" for name in names]
    if all(map(_exists, parts)):
        return [f"{module}.__init__", *parts]
    return [module, *parts]


def _exists(module: str) -> bool:
    base = LIBRARY.joinpath(*module.split(".")[1:])
    return base.is_dir() or base.with_suffix(".py").is_file()


class Step:
    """One running step: reads inputs and writes outputs by their names in the rule.

    Parameters
    ----------
    job
        The job as the scheduler describes it: ``rule``, ``wildcards``, ``input``, ``output``,
        ``params``, ``log``, ``threads``. ``params.study`` and ``params.library`` are digests;
        the first output named ``ledger`` is the step's entry.
    """

    def __init__(self, job: Any) -> None:
        self.rule = job.rule
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
        self.log = Path(job.log[0])
        self._written: dict[str, tuple[Path, int | None]] = {}
        self._sinks: dict[str, _Sink] = {}
        self._before: dict[Path, str] = {}
        self._began = self._told = time.monotonic()

    @cached_property
    def study(self) -> Study:
        """The study, or the variant that the step belongs to, with every default filled in."""
        from reident import family  # noqa: PLC0415 - the pair of modules would import each other

        return family.one(self.path("study"), self.place)

    @cached_property
    def members(self) -> list[Member]:
        """The study as it stands and its variants, in the order in which they are compared."""
        from reident import family  # noqa: PLC0415 - the pair of modules would import each other

        return family.load(self.path("study"))

    @property
    def called(self) -> str:
        """The study's id, with the variant that the step belongs to."""
        variant = self.place.removeprefix("variants/")
        return f"{self.study.id}, variant {variant}" if variant else self.study.id

    def start(self) -> None:
        """Hash every input; refuse a study that is not the one that the run began with."""
        self._before = {path: sha256(path) for paths in self.inputs.values() for path in paths}
        if _study_digest(self.study, self.rule, self.metric) != self.params["study"]:
            raise InputError(
                f"{self.path('study')} changed since this run began; run the same command again."
            )

    @property
    def metric(self) -> str | None:
        """The metric of the step, where it has one."""
        return self.wildcards.get("metric")

    def path(self, name: str) -> Path:
        """The one path of a named input."""
        (path,) = self.inputs[name]
        return path

    def read(self, name: str) -> pa.Table | pd.DataFrame | str:
        """A named input: a Parquet table, a CSV table (text, counts as integers), or text."""
        return _read(self.path(name))

    def read_all(self, name: str) -> list[Any]:
        """All files of a named input, in the order of the rule."""
        return [_read(path) for path in self.inputs[name]]

    def open(self, name: str) -> pq.ParquetFile:
        """A named Parquet input that is read batch by batch."""
        return pq.ParquetFile(self.path(name))

    def open_all(self, name: str) -> list[pq.ParquetFile]:
        """All files of a named Parquet input, in the order of the rule."""
        return [pq.ParquetFile(path) for path in self.inputs[name]]

    def sink(self, name: str) -> Callable[[pa.Table], None]:
        """Takes the rows of a named Parquet output, batch by batch, at least one, which may be empty."""
        self._sinks[name] = _Sink(self.outputs[name])
        return self._sinks[name]

    def write(self, name: str, content: pa.Table | pd.DataFrame | str | bytes) -> None:
        """Write a named output under a temporary name; it takes its own name when the step has ended well."""
        if isinstance(content, pa.Table):
            self.sink(name)(content)
            return
        rows = len(content) if isinstance(content, pd.DataFrame) else None
        self._written[name] = (_write_aside(self.outputs[name], _encoded(content)), rows)

    def say(self, message: str) -> None:
        """A line for the log file: never a key or a value of the data."""
        with self.log.open("a", encoding="utf-8") as log:
            log.write(message + "\n")

    def progress(self, part: float) -> None:
        """Tell the log and the terminal how far a long step is and when it will be done, now and then."""
        now = time.monotonic()
        if part <= 0 or now - self._told < TELL_EVERY:
            return
        self._told = now
        left = (now - self._began) * (1 - part) / part
        message = f"{self.name}: {part:.0%} done, about {_duration(left)} left"
        self.say(message)
        print(message, file=sys.stderr, flush=True)  # noqa: T201 - the scheduler shows it

    def finish(self) -> None:
        """Check that inputs kept still and outputs are complete; give them their names; write the entry."""
        for path, digest in self._before.items():
            if sha256(path) != digest:
                raise InputError(
                    f"{path.name} changed while step `{self.name}` read it; run the same command again."
                )
        for name, sink in self._sinks.items():
            self._written[name] = sink.close()
        if missing := sorted(set(self.outputs) - set(self._written)):
            raise RuntimeError(f"step {self.name} did not write {', '.join(missing)}")
        record = {
            "step": self.name,
            "rule": self.rule,
            "metric": self.metric,
            "study_digest": self.params.get("study"),
            "library_digest": self.params.get("library"),
            "inputs": {
                name: [self._line(p, self._before[p]) for p in paths] for name, paths in self.inputs.items()
            },
            "outputs": {},
            "versions": versions(),
        }
        for name, (aside, rows) in self._written.items():
            record["outputs"][name] = self._line(
                self.outputs[name], sha256(aside), aside.stat().st_size, rows
            )
        for name, (aside, _) in self._written.items():
            aside.replace(self.outputs[name])
        _write_aside(self.entry, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode()).replace(
            self.entry
        )

    def abandon(self) -> None:
        """Remove what was written aside."""
        for sink in self._sinks.values():
            sink.abandon()
        for aside, _ in self._written.values():
            aside.unlink(missing_ok=True)

    def check_chain(self) -> list[dict[str, Any]]:
        """The entries of all steps that this one rests on, after :func:`check_chain` of them and of each variant."""
        from reident import family  # noqa: PLC0415 - the pair of modules would import each other

        sources = {
            name.removeprefix("source_"): self.path(name)
            for name in self.inputs
            if name.startswith("source_")
        }
        chain = Chain(self.root)
        if self.rule == "compare":
            compared = [[_shown(path, self.root) for path in self.inputs["tables"]]]
            found = []
        else:
            made = [path for paths in self.inputs.values() for path in paths if self.root in path.parents]
            found = chain.walk(self.study, made, sources)
            compared = [
                [line["path"] for line in entry["inputs"]["tables"]]
                for entry in found
                if entry["rule"] == "compare"
            ]
        for tables in compared:
            for member, table in zip(self.members, tables, strict=True):
                declared = family.sources(member.study, self.path("study"))
                found += chain.walk(member.study, [self.root / table], declared)
        return found

    def _line(
        self, path: Path, digest: str, size: int | None = None, rows: int | None = None
    ) -> dict[str, Any]:
        line = {
            "path": _shown(path, self.root),
            "sha256": digest,
            "size": path.stat().st_size if size is None else size,
        }
        return line if rows is None else {**line, "rows": rows}


@contextlib.contextmanager
def step(job: Any) -> Iterator[Step]:
    """Run the body of an adapter as a step of the ledger.

    Bad input ends the process with its one sentence; an unexpected error with its type, the
    function and the step, while its details go to a file that only the owner may read.
    """
    running = Step(job)
    running.log.write_text("", encoding="utf-8")
    try:
        running.start()
        yield running
        running.finish()
    except InputError as error:
        running.abandon()
        running.say(f"Error: {error}")
        sys.exit(f"Error: {error}")
    except Exception as error:  # noqa: BLE001 - the last net: nothing of the data may reach a log
        running.abandon()
        message = _unexpected(running, error)
        running.say(message)
        sys.exit(message)
    running.say(f"{running.name}: done")


def _unexpected(running: Step, error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    folder = running.folder / "confidential"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    details = folder / f"{running.name}.txt"
    _write_aside(details, traceback.format_exc().encode()).replace(details)
    return (
        f"Error: step `{running.name}` failed unexpectedly ({type(error).__name__} in {place.name}, "
        f"{Path(place.filename).name} line {place.lineno}); the details, which may hold data, are in {details}."
    )


def _duration(seconds: float) -> str:
    """A rounded duration in words: 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _paths(value: Any) -> list[Path]:
    return [Path(value)] if isinstance(value, str) else [Path(item) for item in value]


def _shown(path: Path, root: Path) -> str:
    """A path as the ledger records it: relative to the study's results, sources by their name alone."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return f"reports/{path.name}" if "reports" in path.parts[:1] else f"source:{path.name}"


def _read(path: Path) -> pa.Table | pd.DataFrame | str:
    if path.suffix == ".parquet":
        return pq.read_table(path, partitioning=None)
    if path.suffix == ".csv":
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        for name in COUNTS.intersection(table.columns):
            table[name] = pd.to_numeric(table[name].replace("", None)).astype(
                "Int64" if (table[name] == "").any() else "int64"
            )
        return table
    return path.read_text(encoding="utf-8")


ROW_GROUP = 2**20
"""Rows of a row group: the bytes of a file do not depend on the batches in which it was written."""


class _Sink:
    """A Parquet file that is written batch by batch under a temporary name."""

    def __init__(self, path: Path) -> None:
        self.aside = _aside(path)
        self._stream = _opened(self.aside)
        self._writer: Any = None  # once the columns are known
        self._waiting: list[pa.Table] = []
        self._rows = self._written = 0

    def __call__(self, table: pa.Table) -> None:
        """Append rows."""
        table = table.replace_schema_metadata(None)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._stream, table.schema, compression="zstd")
        self._waiting.append(table)
        self._rows += table.num_rows
        if self._rows - self._written >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        """Write what fills row groups."""
        rows = pa.concat_tables(self._waiting)
        while rows.num_rows >= ROW_GROUP:
            self._write(rows.slice(0, ROW_GROUP))
            rows = rows.slice(ROW_GROUP)
        self._waiting = [rows]

    def _write(self, rows: pa.Table) -> None:
        # In one chunk: where chunks end shows in the pages.
        self._writer.write_table(rows.combine_chunks(), row_group_size=ROW_GROUP)
        self._written += rows.num_rows

    def close(self) -> tuple[Path, int]:
        """Write the rest and sync; the file under its temporary name, and its number of rows."""
        if self._writer is None:
            raise RuntimeError("no rows came, not even none of them")
        self._flush()
        if self._waiting[0].num_rows or not self._written:
            self._write(self._waiting[0])
        self._writer.close()
        _sync(self._stream)
        return self.aside, self._rows

    def abandon(self) -> None:
        """Remove what was written."""
        if self._writer is not None:
            with contextlib.suppress(Exception):  # it may have failed on the disk that is full
                self._writer.close()
        self._stream.close()
        self.aside.unlink(missing_ok=True)


def _encoded(content: pd.DataFrame | str | bytes) -> bytes:
    if isinstance(content, pd.DataFrame):
        text = content.to_csv(index=False, lineterminator="\n")
        if "\r" in text:  # a category's label may hold one, and would end the line unless it is quoted
            text = content.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        return text.encode()
    return content.encode() if isinstance(content, str) else content


def _write_aside(path: Path, content: bytes) -> Path:
    """Write and sync a file, readable by its owner alone, under a temporary name beside `path`."""
    aside = _aside(path)
    stream = _opened(aside)
    stream.write(content)
    _sync(stream)
    return aside


def _aside(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _opened(aside: Path) -> BinaryIO:
    return os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _sync(stream: BinaryIO) -> None:
    with stream:
        stream.flush()
        os.fsync(stream.fileno())


def root_of(folder: Path) -> Path:
    """The folder of a study, of its own results folder or that of one of its variants."""
    return folder.parents[1] if folder.parent.name == "variants" else folder


def place_of(folder: Path) -> str:
    """Where a results folder lies in that of its study: empty, or ``variants/…``."""
    return "" if root_of(folder) == folder else folder.relative_to(root_of(folder)).as_posix()


def check_chain(root: Path, study: Study, ends: list[Path], sources: dict[str, Path]) -> list[dict[str, Any]]:
    """Walk the ledger back from some results to the sources, see :meth:`Chain.walk`."""
    return Chain(root).walk(study, ends, sources)


class Chain:
    """The ledger of a study and of its variants.

    Parameters
    ----------
    root : Path
        ``results/{study}``.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.digest = cache(_digest)
        self._entries = cache(self._read_entries)

    def _read_entries(self, place: str) -> dict[str, tuple[dict[str, Any], str]]:
        """The maker of every result at a place, and its digest, by path."""
        found: dict[str, tuple[dict[str, Any], str]] = {}
        for file in sorted((self.root / place / "ledger").glob("*.json")):
            entry = _entry(file)
            found |= {line["path"]: (entry, line["sha256"]) for line in entry["outputs"].values()}
        return found

    def maker(self, path: str) -> tuple[dict[str, Any] | None, str | None]:
        """The entry of the step that made a result, and the result's digest."""
        place = "/".join(path.split("/")[:2]) if path.startswith("variants/") else ""
        return self._entries(place).get(path, (None, None))

    def walk(self, study: Study, ends: list[Path], sources: dict[str, Path]) -> list[dict[str, Any]]:
        """Walk the ledger back from some results to the sources.

        Every file must be what its step wrote, every step must have read what the steps before it
        wrote, and must have run with the study and the library as they are now. What was compared of
        variants rests on studies of their own: the walk ends there.

        Parameters
        ----------
        study : Study
            As it is now.
        ends : list of Path
            The results to begin with.
        sources : dict of Path
            The source files by side: ``puf``, ``eif``, ``iuf``.

        Returns
        -------
        list of dict
            The entries that the results rest on, by step.

        Raises
        ------
        InputError
            Naming the first file that does not fit and what mends it.
        """
        todo: list[str] = [_shown(path, self.root) for path in ends]
        used: dict[str, dict[str, Any]] = {}
        checked: set[str] = set()
        while todo:
            path = todo.pop()
            if path in checked:
                continue
            checked.add(path)
            entry, wrote = self.maker(path)
            if entry is None:
                raise _broken(self.root / path, "has no entry in the ledger")
            if self.digest(self.root / path) != wrote:
                raise _broken(self.root / path, "is not what its step wrote")
            name = next(iter(entry["outputs"].values()))["path"]
            if name not in used:
                used[name] = entry
                self._check_entry(study, entry, sources)
                if entry["rule"] != "compare":
                    todo += [
                        line["path"] for line in _inputs(entry) if not line["path"].startswith("source:")
                    ]
        return sorted(used.values(), key=lambda entry: entry["step"])

    def _check_entry(self, study: Study, entry: dict[str, Any], sources: dict[str, Path]) -> None:
        rule, metric, outputs = entry["rule"], entry["metric"], entry["outputs"].values()
        result = self.root / next(iter(outputs))["path"]
        if entry["study_digest"] != _study_digest(study, rule, metric):
            raise _broken(result, "was made with another study")
        if entry["library_digest"] != library_digest(rule, metric):
            raise _broken(result, "was made by another version of the library")
        if changed := _changed_source(entry, sources):
            raise _broken(result, f"was made from another version of {changed}")
        for line in _inputs(entry):
            name = line["path"]
            wrote = None if name.startswith("source:") else self.maker(name)[1]
            if name.startswith("source:") or wrote == line["sha256"]:
                continue
            if wrote is None:
                raise _broken(self.root / name, "has no entry in the ledger")
            if self.digest(self.root / name) != wrote:
                raise _broken(self.root / name, "is not what its step wrote")
            raise _broken(result, f"was made from another version of {name}")


def entry_files(root: Path) -> list[Path]:
    """The ledger of a study and of its variants, file by file."""
    return sorted([*root.glob("ledger/*.json"), *root.glob("variants/*/ledger/*.json")])


def _entry(path: Path) -> dict[str, Any]:
    """A ledger entry, whole."""
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        [line["sha256"] for line in (*entry["outputs"].values(), *_inputs(entry))]
        [entry[name] for name in ("step", "rule", "metric", "study_digest", "library_digest")]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _broken(path, "is not a whole ledger entry") from None
    return entry


def _inputs(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [line for lines in entry["inputs"].values() for line in lines]


def _changed_source(entry: dict[str, Any], sources: dict[str, Path]) -> str | None:
    """The name of a source file that is not the one that a step read; sources are told apart by side."""
    for side, path in sources.items():
        for line in entry["inputs"].get(side, []):
            if line["path"].startswith("source:") and _digest(path) != line["sha256"]:
                return path.name
    return None


def mark_stale(root: Path, studies: dict[str, tuple[Study, dict[str, Path]]]) -> list[str]:
    """Make results look old that would not be made so today, rest on what was edited, or have no entry.

    The scheduler then makes them again. It sees a change of the study, the library or a source by its own
    records; where these are lost it has only time stamps, and would take every result for current.

    Parameters
    ----------
    root : Path
        ``results/{study}``.
    studies : dict
        The study and its variants, each with its source files by side, by the place of their results: empty
        for the study itself. Results at other places are left alone.

    Returns
    -------
    list of str
        The results, by their path from `root`.
    """
    entries: list[tuple[str, dict[str, Any]]] = []
    for path in entry_files(root):
        try:
            entries.append((place_of(path.parents[1]), _entry(path)))
        except InputError:
            path.unlink()
    wrote = {line["path"]: line["sha256"] for _, entry in entries for line in entry["outputs"].values()}
    old: set[str] = set()
    for place, entry in entries:
        if place not in studies:
            continue
        read = {
            line["path"]: line["sha256"] for line in _inputs(entry) if not line["path"].startswith("source:")
        }
        old |= read.keys() - wrote.keys()
        edited = any(wrote.get(name, digest) != digest for name, digest in read.items())
        if edited or not _is_current(*studies[place], entry):
            old |= {line["path"] for line in entry["outputs"].values()}
    for place in studies:
        _make_old(root, place, old, wrote.keys() | old)
    return sorted(old)


def _make_old(root: Path, place: str, old: set[str], every: set[str]) -> None:
    """Make the old results of one place look old; what has no input but the study file can only be missing."""
    before = f"{place}/" if place else ""
    own = {name for name in every if name.startswith(before) and (place or not name.startswith("variants/"))}
    anew = any(name.startswith(f"{before}simulated/") for name in own & old)
    for name in own if anew else own & old:
        result = root / name
        if anew or name == f"{before}study.json":
            result.unlink(missing_ok=True)
        elif result.is_file():
            os.utime(result, (1, 1))


def _is_current(study: Study, sources: dict[str, Path], entry: dict[str, Any]) -> bool:
    """Whether a step ran with the study, the library and the sources as they are now."""
    rule, metric = entry["rule"], entry["metric"]
    try:
        same_library = entry["library_digest"] == library_digest(rule, metric)
    except (KeyError, FileNotFoundError):  # a step or a metric that is no more
        return False
    same_study = entry["study_digest"] == _study_digest(study, rule, metric)
    return same_library and same_study and _changed_source(entry, sources) is None


def _study_digest(study: Study, rule: str, metric: str | None) -> str:
    from reident.study import digest, part  # noqa: PLC0415 - the pair of modules would import each other

    return digest(part(study, rule, metric))


def _digest(path: Path) -> str:
    return sha256(path) if path.is_file() else ""


def _broken(path: Path, what: str) -> InputError:
    return InputError(f"{path} {what}; delete it and run the same command again.")
