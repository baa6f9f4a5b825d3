"""``snakemake check``: the walk along the ledger of a study by itself, which changes nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reident.errors import InputError
from reident.ledger import runs
from reident.ledger.chain import AGAIN, Chain, entry_files, located, place_of, read_entry
from reident.ledger.stale import result_files
from reident.pipeline import family, steps
from reident.pipeline.digests import versions
from reident.pipeline.family import Family, Member

MAX_NAMES = 5
"""Names of files in one line."""


class Checked(NamedTuple):
    """The answer of a walk.

    Attributes
    ----------
    line : str
        One sentence, or a few.
    closes : bool
        Whether every link holds.
    """

    line: str
    closes: bool


def check(members: Family, results: Path, notebook: Path) -> Checked:
    """Walk from the results of a study and its variants back to their sources.

    Parameters
    ----------
    members : Family
        The study and its variants, as the study file is now.
    results : pathlib.Path
        The folder ``results``, from the working directory.
    notebook : pathlib.Path
        What the report is made from.

    Returns
    -------
    Checked
    """
    name = members.study.id
    root = results / name
    if not entry_files(root):
        return Checked(f"{name}: there are no results yet.", closes=True)
    try:
        if runs.is_running(root):
            return Checked(f"{name}: a run is in progress; check again when it has ended.", closes=False)
        return Checked(f"{name}: {_walk(members, root, notebook)}", closes=True)
    except InputError as error:
        command = f"Run `snakemake --config study={shlex.quote(str(members.path))}`"
        return Checked(f"{name}: the chain is broken: {str(error).replace(AGAIN, command)}", closes=False)


def _walk(members: Family, root: Path, notebook: Path) -> str:
    """Return what a closed chain consists of, what is missing, and which files no step made."""
    chain, used, others = Chain(root), set(), set()
    for member in _with_reference(members):
        files = family.sources(member.study, members.path) | {"notebook": notebook}
        for entry in chain.walk(partial(members.known_digest, member.place), _ends(member, root), files):
            used.add(_first(entry))
            others |= set(_other_versions(entry))
    entries = [(place_of(file.parents[1]), read_entry(file)) for file in entry_files(root)]
    numbers = {True: 0, False: 0}
    known: set[Path] = set()
    for place, entry in entries:
        outputs = {located(root, place, line["path"]): line["sha256"] for line in entry["outputs"].values()}
        chain.check_bytes(outputs)
        numbers[_first(entry) in used] += len(outputs)
        known |= outputs.keys()
    parts = [f"the chain closes: {numbers[True]} results of {len(used)} steps lead back to the sources"]
    if numbers[False]:
        parts.append(f"{numbers[False]} results that this study no longer uses are unchanged")
    if others:
        parts.append(f"made with other versions than those installed: {', '.join(sorted(others))}")
    if missing := list(_missing(members, entries)):
        parts.append(f"not made yet: {_few(missing)}")
    if unknown := [str(path) for path in result_files(root) if path not in known]:
        parts.append(f"not made by any step: {_few(unknown)}")
    return "; ".join(parts) + "."


def _other_versions(entry: dict[str, Any]) -> Iterator[str]:
    """Yield the packages with which a step ran in another version than the installed one."""
    installed = versions()
    for package, version in entry["versions"].items():
        if installed.get(package) != version:
            yield f"{package} {version} ({installed.get(package, 'not installed')})"


def _first(entry: dict[str, Any]) -> str:
    """Return what tells a step from others: the path of its first result."""
    return str(next(iter(entry["outputs"].values()))["path"])


def _ends(member: Member, root: Path) -> list[Path]:
    """Return the results with which the walk for a study or a variant begins."""
    rules = set(steps.last_rules(member.study))
    if not member.place:
        compared = steps.compared_tables(member.study)
        rules |= {"report", "compare_protection", *(f"compare_variants.{table}" for table in compared)}
    elif not member.labels:  # the attack on the file before protection, whose rates alone are made
        rules = {"rate", "stratify"}
    ends = []
    for file in sorted((root / member.place / "ledger").glob("*.json")):
        entry = read_entry(file)
        if entry["step"] in rules:
            ends += [located(root, member.place, line["path"]) for line in entry["outputs"].values()]
    return ends


def _with_reference(members: Family) -> list[Member]:
    """Return the study itself, which has the report, its variants, and the attack on the file before protection."""
    reference = Member(family.REFERENCE, {}, "", members.study)
    place = members.before("")
    before = [Member("", {}, place, members.at(place))] if members.has(place) else []
    return [reference, *(member for member in members.members if member.place), *before]


def _missing(members: Family, entries: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Yield in words what the study asks for and no step has made."""
    rules = {(place, entry["rule"]) for place, entry in entries}
    if ("", "report") not in rules:
        yield "the report"
    for member in members.members:
        for rule in steps.last_rules(member.study):
            if (member.place, rule) not in rules:
                variant = f" of the variant {member.variant}" if member.place else ""
                yield f"the results of `{rule}`{variant}"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
