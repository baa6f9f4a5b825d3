"""The entries of the ledger, and the walk along them from results back to the sources."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

from reident.errors import InputError
from reident.pipeline import release
from reident.pipeline.digests import has_adapters, library_digest, sha256
from reident.pipeline.steps import STEPS, maker_of

PartDigest: TypeAlias = Callable[[str, str, str | None], str | None]
"""The digest of the settings of a rule, by place, rule and metric; None without such a step."""

Sources: TypeAlias = Callable[[str], dict[str, Path]]
"""The source files of the study at a place, by side: ``puf``, ``eif``, ``iuf``."""

SOURCE_PREFIX = "source:"
"""What the path of a source begins with in an entry."""

AGAIN = "Run the same command again"
"""What to do where a file changed while a step read it."""

SOURCE, ABSENT, EDITED, MISSING, NO_ENTRY, UNREADABLE, SETTINGS, CODE, OUTDATED = (
    "source", "absent", "edited", "missing", "no entry", "unreadable", "settings", "code", "outdated",
)  # fmt: skip
"""The kinds of breaks; a source that is not there is a kind of its own."""


class Break(NamedTuple):
    """A link of the chain that does not hold."""

    kind: str
    path: Path  # the file that does not hold
    what: str  # what is wrong with it, in words
    cause: str = ""  # the source that is another one, or the release that made the file


class BrokenError(InputError):
    """The end of a walk at the first link that does not hold."""

    def __init__(self, link: Break) -> None:
        option = forced([link])
        super().__init__(f"{link.path} {link.what}. {AGAIN}{f' with `{option}`' if option else ''}.")
        self.link = link


def forced(breaks: Iterable[Break]) -> str:
    """Return the option that makes a run compute broken results again; empty where no rule makes them."""
    rules = {rule: None for link in breaks for rule in _rules_of(link.path)}
    return f"--forcerun {' '.join(rules)}" if rules else ""


def by_importer(message: str, rule: str, name: str) -> str:
    """Return a message whose rules have the names that an importing workflow gives them, as it does to one of them."""
    before, _, after = name.rpartition(rule)

    def renamed(rules: re.Match[str]) -> str:
        return re.sub(r"\w+", rf"{before}\g<0>{after}", rules[0])

    return re.sub(r"(?<=--forcerun )\w+(?: \w+)*", renamed, message)


def _rules_of(path: Path) -> Iterator[str]:
    """Yield the rule that makes a result or an entry of the ledger, by its path; none for a path that no step makes.

    Pages are made with the notebook behind them, and all files of the releasable edition with its published file.
    """
    if path.parent.name == "ledger":
        yield path.stem.partition(".")[0]
        return
    made_with: Path | str = path.with_suffix(".ipynb").name if path.suffix in (".html", ".pdf") else path
    with contextlib.suppress(ValueError):
        yield maker_of("edition/edition.json" if path.parent.name == "releasable" else made_with)


def stop(link: Break) -> NoReturn:
    """End a walk at a link that does not hold."""
    raise BrokenError(link)


def root_of(folder: Path) -> Path:
    """Return the results folder of a study, from that folder or the one of a variant."""
    return folder.parents[1] if folder.parent.name == "variants" else folder


def place_of(folder: Path) -> str:
    """Return where a results folder is in that of its study: empty, or ``variants/…``."""
    return "" if root_of(folder) == folder else folder.relative_to(root_of(folder)).as_posix()


def place_of_path(path: str) -> str:
    """Return the place of a result from its path in the results of its study, as the ledger records it."""
    return "/".join(path.split("/")[:2]) if path.startswith("variants/") else ""


def recorded_path(path: Path, root: Path) -> str:
    """Return a path as the ledger records it: relative to the study's results, sources by their name alone."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        reports = located(root, "", "reports/")
        if reports not in path.parents:
            return f"{SOURCE_PREFIX}{path.name}"
        return f"reports/{re.sub('^variants/[^/]+/', '', path.relative_to(reports).as_posix())}"


def located(root: Path, place: str, name: str) -> Path:
    """Return the path of a result that an entry at a place names."""
    if name.startswith("reports/"):
        return Path(*root.parts[:-2], "reports", root.name, place, name.removeprefix("reports/"))
    return root / name


class Chain:
    """The ledger of a study and of its variants, in ``results/{study}``.

    The function `tell` takes each link that does not hold. By default it ends the walk; if it returns, that goes on.
    """

    def __init__(self, root: Path, tell: Callable[[Break], object] = stop) -> None:
        self.root = root
        self.digest = cache(digest)
        self.entries = cache(self._read_entries)
        self._makers = cache(self._find_makers)
        self._tell = tell

    def _read_entries(self, place: str) -> list[dict[str, Any]]:
        """Return the entries at a place that can be read.

        An entry that is gone once its name was read is being renewed by a step that runs beside this one. No result
        of such a step is behind those of this one, or Snakemake would have made it first.
        """
        entries = []
        for file in sorted((self.root / place / "ledger").glob("*.json")):
            try:
                entries.append(read_entry(file))
            except BrokenError as error:
                if error.link.kind != MISSING:
                    self._tell(error.link)
        return entries

    def _find_makers(self, place: str) -> dict[str, tuple[dict[str, Any], str]]:
        """Return the entry and the digest of every result at a place, by path."""
        lines = ((entry, line) for entry in self.entries(place) for line in entry["outputs"].values())
        return {line["path"]: (entry, line["sha256"]) for entry, line in lines}

    def maker(self, path: str) -> tuple[dict[str, Any] | None, str | None]:
        """Return the entry of the step that made a result, and the result's digest."""
        return self._makers(place_of_path(path)).get(path, (None, None))

    def behind(self, ends: Iterable[str], absent: Callable[[str], object] = lambda _: None) -> list[dict[str, Any]]:
        """Return the entries behind some results, by the path of their first result.

        The function `absent` takes each path that has no entry.
        """
        entries: dict[str, dict[str, Any]] = {}
        todo = [*ends]
        while todo:
            entry, _ = self.maker(path := todo.pop())
            if entry is None:
                absent(path)
            elif first_output(entry) not in entries:
                entries[first_output(entry)] = entry
                todo += read_results(entry)
        return [entries[name] for name in sorted(entries)]

    def walk(
        self, part_digest: PartDigest, ends: Mapping[str, Iterable[Path]], sources: Sources, *, through: bool = False
    ) -> list[dict[str, Any]]:
        """Walk the ledger back from some results to the sources; return the entries behind the results, by step.

        Every file must be what its step wrote, every step must have read what the steps before it
        wrote, and must have run with the study and the library as they are now.

        Parameters
        ----------
        part_digest, sources : callable
            Of the study as it is now.
        ends : mapping
            The results to begin with, by the place of the study that they belong to: empty, or ``variants/…``.
        through : bool
            Whether to go on behind a comparison, with the variants that it compares.

        Raises
        ------
        BrokenError
            Naming the first file that does not fit, unless the chain tells it otherwise.
        """
        todo = [(place, recorded_path(path, self.root)) for place, paths in ends.items() for path in paths]
        used: dict[tuple[str, str], dict[str, Any]] = {}
        checked: set[tuple[str, str]] = set()
        while todo:
            place, path = todo.pop()
            if (place, path) in checked:
                continue
            checked.add((place, path))
            entry, wrote = self.maker(path)
            if entry is None:
                self._tell(Break(NO_ENTRY, located(self.root, "", path), "has no entry in the ledger"))
                continue
            self.check_bytes({located(self.root, "", path): wrote or ""})
            step = (place, first_output(entry))
            if step in used:
                continue
            used[step] = entry
            for link in self._breaks(partial(part_digest, place), entry, sources(place)):
                self._tell(link)
            if not gathers(entry):
                todo += [(place, path) for path in read_results(entry)]
            elif through:
                todo += [(place_of_path(path), path) for path in read_results(entry)]
        return sorted(used.values(), key=lambda entry: entry["step"])

    def check_input(self, path: Path, read: str) -> None:
        """Check that a result, which has the digest `read`, is as its step wrote it."""
        _, wrote = self.maker(recorded_path(path, self.root))
        if wrote is None:
            self._tell(Break(NO_ENTRY, path, "has no entry in the ledger"))
        elif wrote != read:
            self._tell(Break(EDITED, path, "is not what its step wrote"))

    def check_bytes(self, wrote: dict[Path, str]) -> None:
        """See that files have the digests that their steps recorded."""
        for path, written in wrote.items():
            if not path.is_file():
                self._tell(Break(MISSING, path, "is missing"))
            elif self.digest(path) != written:
                self._tell(Break(EDITED, path, "is not what its step wrote"))

    def _breaks(
        self, part_digest: Callable[[str, str | None], str | None], entry: dict[str, Any], sources: dict[str, Path]
    ) -> Iterator[Break]:
        """Yield the breaks of a step's inputs, settings and code."""
        rule, metric = entry["rule"], entry["metric"]

        def every_result(kind: str, what: str, cause: str = "") -> list[Break]:
            paths = [located(self.root, "", line["path"]) for line in entry["outputs"].values()]
            return [Break(kind, path, f"was made {what}", cause) for path in paths]

        if entry["study_digest"] != part_digest(rule, metric):
            yield from every_result(SETTINGS, "with different study settings")
        if has_adapters() and entry["library_digest"] != library_digest(rule, metric):
            made_by = release.named(entry.get("release"))
            yield from every_result(CODE, "by a different version of the library", made_by)
        for source in changed_sources(entry, sources, self.digest):
            kind = SOURCE if self.digest(source) else ABSENT
            yield from every_result(kind, f"from a different version of {source.name}", str(source))
        for line in inputs(entry):
            name = line["path"]
            wrote = None if name.startswith(SOURCE_PREFIX) else self.maker(name)[1]
            if name.startswith(SOURCE_PREFIX) or wrote == line["sha256"]:
                continue
            if wrote is None:
                yield Break(NO_ENTRY, self.root / name, "has no entry in the ledger")
                continue
            self.check_bytes({self.root / name: wrote})
            yield from every_result(OUTDATED, f"from a different version of {name}")


NOT_RESULTS = {"ledger", "logs", "benchmarks", "confidential", "sealed"}
"""Folders in a study's results and reports that hold no results."""


def result_files(root: Path) -> list[Path]:
    """Return all files in a study's results and reports, without those that only tell how these were made."""
    return [
        path
        for folder in (root, located(root, "", "reports/"))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and NOT_RESULTS.isdisjoint(path.relative_to(folder).parts[:-1])
    ]


def entry_files(root: Path) -> list[Path]:
    """Return the files of the ledger of a study and of its variants."""
    return sorted([*root.glob("ledger/*.json"), *root.glob("variants/*/ledger/*.json")])


def sealed(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the digest of all its other fields."""
    fields = {name: value for name, value in entry.items() if name != "sha256"}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return {**fields, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def read_entry(path: Path) -> dict[str, Any]:
    """Return a ledger entry as its step wrote it, or raise a BrokenError if it was cut or edited."""
    incomplete = "is not a complete ledger entry"
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
        if sealed(entry)["sha256"] != entry["sha256"]:
            stop(Break(UNREADABLE, path, "is not what its step wrote"))
        [(line["path"], line["sha256"]) for line in (*entry["outputs"].values(), *inputs(entry))]
        [entry[name] for name in ("step", "rule", "metric", "study_digest", "library_digest")]
        first_output(entry), entry["versions"].items()
    except FileNotFoundError:
        raise BrokenError(Break(MISSING, path, incomplete)) from None
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration, IsADirectoryError):
        raise BrokenError(Break(UNREADABLE, path, incomplete)) from None
    return entry


def first_output(entry: dict[str, Any]) -> str:
    """Return the path of the first result of a step, which tells it from others."""
    return str(next(iter(entry["outputs"].values()))["path"])


def gathers(entry: dict[str, Any]) -> bool:
    """Return whether an entry is that of a comparison, see :class:`reident.pipeline.steps.Step`."""
    step = STEPS.get(entry["rule"])
    return step is not None and step.gathers


def inputs(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the inputs of a step, file by file."""
    return [line for lines in entry["inputs"].values() for line in lines]


def read_results(entry: dict[str, Any]) -> list[str]:
    """Return the results of other steps that a step read, by their paths."""
    return [line["path"] for line in inputs(entry) if not line["path"].startswith(SOURCE_PREFIX)]


def changed_sources(entry: dict[str, Any], sources: dict[str, Path], digest: Callable[[Path], str]) -> Iterator[Path]:
    """Yield the source files that are not those that a step read; sources are told apart by side."""
    for side, path in sources.items():
        read = [line for line in entry["inputs"].get(side, []) if line["path"].startswith(SOURCE_PREFIX)]
        if any(digest(path) != line["sha256"] for line in read):
            yield path


def digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty if the file does not exist, or may not be read."""
    try:
        return sha256(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError):
        # Perhaps only now: another run may be at work.
        return ""
