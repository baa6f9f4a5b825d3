"""``reident check``: every link of a study's ledger that does not hold, found without changing anything."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from reident.errors import InputError
from reident.ledger import chain
from reident.ledger.chain import (
    Break,
    Chain,
    entry_files,
    first_output,
    forced,
    located,
    place_of,
    result_files,
)  # fmt: skip
from reident.pipeline import family, release, steps
from reident.pipeline.digests import versions
from reident.pipeline.family import Family, Member

MAX_NAMES = 5
"""Names in one line."""

REPORT = Path(steps.STEPS["report"].tables[0].path).stem
"""The name of the report, as of the notebook behind it."""

KINDS = {
    chain.SOURCE: "sources that changed after a step read them",
    chain.EDITED: "results that are not what their steps wrote",
    chain.MISSING: "results that are missing",
    chain.UNREADABLE: "entries of the ledger that are incomplete or edited",
    chain.NO_ENTRY: "results that have no entry in the ledger",
    chain.SETTINGS: "results made with different study settings",
    chain.CODE: "results made by different code",
    chain.OUTDATED: "results made from a different version of another result",
}
"""What the lines of a broken chain name, in their order."""


class Checked(NamedTuple):
    """The answer of a walk."""

    line: str  # a sentence, and below it an indented line for each kind of break and for what was not verified
    closes: bool  # whether there are results and every link that could be verified holds
    absent: tuple[str, ...] = ()  # the sources that are not there, which could not be verified


class _Audit:
    """The findings of a walk; steps that the study uses are identified by their first results."""

    def __init__(self, root: Path, notebook: Path) -> None:
        self.breaks: dict[Break, None] = {}  # each once, in the order of the walk
        self.steps: set[str] = set()
        self.changed_results: list[Path] = []  # results of steps that the study does not use
        self.unknown_files: list[str] = []  # files that no step makes
        self.releases: set[str] = set()
        self.packages: set[str] = set()
        self.chain = Chain(root, self._add)
        self._notebook = str(notebook)
        places = dict.fromkeys(place_of(file.parents[1]) for file in entry_files(root))
        self.entries = [(place, entry) for place in places for entry in self.chain.entries(place)]

    def _add(self, link: Break) -> None:
        is_code = link.cause == self._notebook
        self.breaks[link._replace(kind=chain.CODE, cause="") if is_code else link] = None

    def use(self, entry: dict[str, Any]) -> None:
        """Add an entry on which the study rests."""
        self.steps.add(first_output(entry))
        self.releases.add(release.named(entry.get("release")))
        installed = versions()
        for package, version in entry["versions"].items():
            if (now := installed.get(package, "not installed")) != version:
                self.packages.add(f"{package} {version} ({now})")

    def named(self, kind: str) -> list[str]:
        """Return the subjects of the breaks of a kind, each once: sources, or results."""
        breaks = (link for link in self.breaks if link.kind == kind)
        about_sources = kind in (chain.SOURCE, chain.ABSENT)
        return sorted({link.cause if about_sources else str(link.path) for link in breaks})


def check(members: Family, results: Path, notebook: Path) -> Checked:
    """Walk from the results of a study and its variants, as the study file is now, back to their sources.

    The sources need not be there. `results` is the folder of that name, from the working directory, and `notebook` what
    the report is made from.
    """
    name = members.study.id
    root = results / name
    command = f"snakemake --config study={shlex.quote(str(members.path))}"
    try:
        for folder in (root, located(root, "", "reports/")):
            _refuse_unreadable(folder)
        if not entry_files(root):
            return Checked(f"{name}: there are no results yet. Run `{command}`.", closes=False)
        audit = _walk(members, root, notebook)
        missing = list(_missing(members, root))
    except InputError as error:
        return Checked(f"{name}: {error}", closes=False)
    if not audit.steps and not audit.breaks:
        what = "there are no results of this study as it is now"
        return Checked(f"{name}: {what}. Run `{command}`.", closes=False)
    absent = audit.named(chain.ABSENT)
    broken = [kind for kind in KINDS if audit.named(kind)]
    lines = [_broken(audit, root, command) if broken else _closed(audit, root)]
    lines += [f"{KINDS[kind]}: {few(audit.named(kind))}{_made_by(audit, kind)}" for kind in broken]
    if absent:
        lines.append(f"not verified, because they are not there or cannot be read: {few(absent)}")
    if not release.in_checkout():
        lines.append("not verified, as it needs a checkout of the project: by which code the results were made")
    if audit.packages:
        lines.append(f"made with other versions than those installed: {few(sorted(audit.packages))}")
    if missing:
        lines.append(f"not made yet: {few(missing)}")
    if audit.changed_results:
        lines.append(f"no longer used by this study, and changed or missing: {few(map(str, audit.changed_results))}")
    if audit.unknown_files:
        lines.append(f"not made by any step: {few(audit.unknown_files)}")
    if pages := abandoned_editions(members, results):
        lines.append(f"{ABANDONED}: {few(map(str, pages))}")
    return Checked("\n  ".join(lines), closes=not broken, absent=tuple(absent))


ABANDONED = "pages of an edition that the study no longer has; delete them, or put `release` back into the study"


def abandoned_editions(members: Family, results: Path) -> list[Path]:
    """Return the releasable edition of a study that no longer has one: nothing says that it is of older results."""
    if members.study.release is not None:
        return []
    return sorted(located(results / members.study.id, "", "reports/releasable").glob("*"))


def _refuse_unreadable(folder: Path) -> None:
    """Refuse a folder of another user, before one of its files is taken for missing."""

    def refuse(path: str | Path) -> NoReturn:
        raise InputError(f"{path} cannot be read (permission denied). Run the command as its owner.")

    def onerror(error: OSError) -> None:
        if isinstance(error, PermissionError):
            refuse(error.filename)

    for parent, _, names in os.walk(folder, onerror=onerror):
        for name in names:
            if not os.access(path := Path(parent, name), os.R_OK) and not path.is_symlink():
                refuse(path)


def _closed(audit: _Audit, root: Path) -> str:
    """Return the number of results that lead back to the sources, and the releases that made them."""
    numbers = Counter[bool]()
    for _, entry in audit.entries:
        numbers[first_output(entry) in audit.steps] += len(entry["outputs"])
    parts = [f"the chain closes: {numbers[True]} results of {len(audit.steps)} steps lead back to the sources"]
    if unchanged := numbers[False] - len(audit.changed_results):
        parts.append(f"{unchanged} results that this study no longer uses are unchanged")
    parts.append(f"made by {few(sorted(audit.releases), '; ')}")
    return f"{root.name}: {'; '.join(parts)}."


def _broken(audit: _Audit, root: Path, command: str) -> str:
    """Say that the chain is broken, and give a remedy that loses no result."""
    option = forced(link for link in audit.breaks if link.kind != chain.ABSENT)
    advice = f"Run `{command} {option}`" if option else f"Run `{command}`"
    if any(audit.named(kind) for kind in (chain.SOURCE, chain.SETTINGS, chain.CODE)):
        advice += ". If a source, the study file or the code changed by mistake, restore it instead"
    return f"{root.name}: the chain is broken. {advice}."


def _made_by(audit: _Audit, kind: str) -> str:
    """Return the releases that made the results that were made by different code."""
    releases = sorted({link.cause for link in audit.breaks if link.kind == kind == chain.CODE and link.cause})
    if not releases:
        return ""
    return f"; they were made by {few(releases, '; ')}, and this is {release.named(release.recorded())}"


def _walk(members: Family, root: Path, notebook: Path) -> _Audit:
    """Return the closed and the broken results of the study and of its variants."""
    audit = _Audit(root, notebook)

    def sources(place: str) -> dict[str, Path]:
        notebooks = family.notebooks(notebook) if release.in_checkout() else {}
        return family.sources(members.at(place), members.path) | notebooks

    for entry in audit.chain.walk(members.known_digest, _ends(audit, members, root), sources):
        audit.use(entry)
    recorded = set[Path]()
    for place, entry in audit.entries:
        lines = entry["outputs"].values()
        wrote = {located(root, place, line["path"]): line["sha256"] for line in lines}
        if first_output(entry) in audit.steps:
            audit.chain.check_bytes(wrote)
        else:
            audit.changed_results += [path for path, content in wrote.items() if audit.chain.digest(path) != content]
        recorded |= wrote.keys()
    for path in result_files(root):
        if path not in recorded and _is_declared(path, root):
            audit.breaks[Break(chain.NO_ENTRY, path, "has no entry in the ledger")] = None
        elif path not in recorded:
            audit.unknown_files.append(str(path))
    return audit


def _is_declared(path: Path, root: Path) -> bool:
    """Return whether a step makes a file of this name, at this place."""
    name = chain.recorded_path(path, root)
    if name.startswith("reports/"):
        return path.stem == REPORT and path.suffix in {".html", ".pdf"}
    inside = name.removeprefix(f"{chain.place_of_path(name)}/")
    try:
        return steps.table_of(inside).path.count("/") == inside.count("/")
    except ValueError:
        return False


def _ends(audit: _Audit, members: Family, root: Path) -> dict[str, list[Path]]:
    """Return the results at which the walk at each place begins: the ones that no other step of the study reads.

    A comparison has read results of variants, each of which has a walk of its own. Of a step in shards, those that the
    steps after it did not read are left from another number of shards.
    """
    steps_of_study, compared = _steps(members), steps.compared_tables(members.study)
    entries = [
        (place, entry)
        for place, entry in audit.entries
        if (place, entry["rule"], entry["metric"]) in steps_of_study
        and (entry["rule"] != COMPARISON or entry["step"].partition(".")[2] in compared)
    ]
    read = {line["path"] for _, entry in entries if not chain.gathers(entry) for line in chain.inputs(entry)}
    read_steps = {_step(place, entry) for place, entry in entries if read & _outputs(entry)}
    ends: dict[str, list[Path]] = {}
    for place, entry in entries:
        if _step(place, entry) not in read_steps:
            ends.setdefault(place, []).extend(located(root, place, path) for path in sorted(_outputs(entry)))
    return ends


COMPARISON = "compare_variants"
"""The rule whose tables depend on what a study compares."""


def _outputs(entry: dict[str, Any]) -> set[str]:
    return {line["path"] for line in entry["outputs"].values()}


def _step(place: str, entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the identity of a step, all its shards together."""
    sharded = any("{scatteritem}" in table.path for table in steps.STEPS[entry["rule"]].tables)
    return place, entry["rule"] if sharded else entry["step"], entry["metric"] or ""


def _steps(members: Family) -> set[tuple[str, str, str | None]]:
    """Return the steps of a run of a study and its variants: where their results are, rule, and metric."""
    return {
        (members.home(member.place, rule, metric), rule, metric)
        for member in _with_reference(members)
        for rule, metric in steps.expected(member.study)
    }


def _with_reference(members: Family) -> list[Member]:
    """Return the study itself, which has the report, its variants, and the attack on the file before protection."""
    reference = Member(family.REFERENCE, {}, "", members.study)
    places = [members.before("")]
    if any(section.reads_before for section in members.study.analyses.values()):
        places += [members.home(members.before(member.place), "prepare") for member in members.members]
    before = [Member("", {}, place, members.at(place)) for place in dict.fromkeys(places) if members.has(place)]
    return [reference, *(member for member in members.members if member.place), *before]


def _missing(members: Family, root: Path) -> Iterator[str]:
    """Yield in words the results of the study without an entry, not even an unreadable one."""
    rules = {(place_of(file.parents[1]), file.stem.partition(".")[0]) for file in entry_files(root)}
    if ("", "report") not in rules:
        yield "the report"
    for member in members.members:
        for rule in steps.last_rules(member.study):
            if (member.place, rule) not in rules:
                variant = f" of the variant {member.variant}" if member.place else ""
                yield f"the results of `{rule}`{variant}"


def few(names: Iterable[str], separator: str = ", ") -> str:
    """Return the first names of a list, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return separator.join(names[:MAX_NAMES]) + more
