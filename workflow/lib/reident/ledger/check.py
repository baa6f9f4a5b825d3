"""``snakemake check``: the walk along the ledger of a study by itself, which changes nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reident.errors import InputError
from reident.ledger import runs
from reident.ledger.chain import Chain, entry_files, located, place_of, read_entry
from reident.ledger.stale import result_files
from reident.pipeline import family, steps
from reident.pipeline.digests import versions
from reident.pipeline.family import Family, Member

SHOWN = 5
"""Names of files that one line tells."""

_NOT_RESULTS = ("ledger", "logs", "benchmarks", "confidential")


class Checked(NamedTuple):
    """What a walk found.

    Attributes
    ----------
    line : str
        One sentence, or a few.
    closes : bool
        Whether no link is broken.
    """

    line: str
    closes: bool


def check(own: Family, results: Path, notebook: Path) -> Checked:
    """Walk from what a study and its variants found back to their sources.

    Parameters
    ----------
    own : Family
        As the study file is now.
    results : pathlib.Path
        The folder ``results``, from the working directory.
    notebook : pathlib.Path
        What the report is made from.
    """
    root = results / own.study.id
    if not entry_files(root):
        return Checked(f"{own.study.id}: nothing is made yet.", closes=True)
    if runs.at_work(root):
        return Checked(f"{own.study.id}: a run works on it; check again when it has ended.", closes=False)
    try:
        return Checked(f"{own.study.id}: {_walk(own, root, notebook)}", closes=True)
    except InputError as error:
        again = f"run `snakemake --config study={shlex.quote(str(own.path))}`."
        broken = str(error).replace("run the same command again.", again)
        return Checked(f"{own.study.id}: the chain is broken: {broken}", closes=False)


def _walk(own: Family, root: Path, notebook: Path) -> str:
    """What a chain that closes consists of, what is not made yet, and which files are strangers."""
    chain, used, others = Chain(root), set(), set()
    for member in _members(own):
        files = family.sources(member.study, own.path) | {"notebook": notebook}
        for entry in chain.walk(partial(own.digest, member.place), _ends(member, root), files):
            used.add(_first(entry))
            others |= set(_other_versions(entry))
    entries = [(place_of(file.parents[1]), read_entry(file)) for file in entry_files(root)]
    numbers = {True: 0, False: 0}
    known: set[Path] = set()
    for place, entry in entries:
        made = {located(root, place, line["path"]): line["sha256"] for line in entry["outputs"].values()}
        chain.check_bytes(made)
        numbers[_first(entry) in used] += len(made)
        known |= made.keys()
    said = [f"the chain closes: {numbers[True]} results of {len(used)} steps rest on the sources"]
    if numbers[False]:
        said.append(
            f"{numbers[False]} results on which nothing asked for rests are as their steps wrote them"
        )
    if others:
        said.append(f"made with other versions than those here: {', '.join(sorted(others))}")
    if lacking := list(_lacking(own, entries)):
        said.append(f"not made yet: {_few(lacking)}")
    if strangers := _strangers(root, known):
        said.append(f"no step made {_few(strangers)}")
    return "; ".join(said) + "."


def _other_versions(entry: dict[str, Any]) -> Iterator[str]:
    """The packages with which a step ran in another version than the one that is here."""
    here = versions()
    for package, version in entry["versions"].items():
        if here.get(package) != version:
            yield f"{package} {version} ({here.get(package, 'none')})"


def _first(entry: dict[str, Any]) -> str:
    """What tells a step from others: the path of a result."""
    return str(next(iter(entry["outputs"].values()))["path"])


def _ends(member: Member, root: Path) -> list[Path]:
    """The results with which the walk for a study or a variant begins."""
    rules = set(steps.last_rules(member.study))
    if not member.place:
        compared = steps.compared_tables(member.study)
        rules |= {"report", *(f"compare.{table}" for table in compared)}
    ends = []
    for file in sorted((root / member.place / "ledger").glob("*.json")):
        entry = read_entry(file)
        if entry["step"] in rules:
            ends += [located(root, member.place, line["path"]) for line in entry["outputs"].values()]
    return ends


def _members(own: Family) -> list[Member]:
    """The study itself, which has the report, and its variants."""
    itself = Member(family.REFERENCE, {}, "", own.study)
    return [itself, *(member for member in own.members if member.place)]


def _lacking(own: Family, entries: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """What the study asks for and no step has made, in words."""
    made = {(place, entry["rule"]) for place, entry in entries}
    if ("", "report") not in made:
        yield "the report"
    for member in own.members:
        for rule in steps.last_rules(member.study):
            if (member.place, rule) not in made:
                variant = f" of the variant {member.variant}" if member.place else ""
                yield f"the results of `{rule}`{variant}"


def _strangers(root: Path, known: set[Path]) -> list[str]:
    """The files among results and reports that no entry of the ledger names."""
    return [
        str(path)
        for path in result_files(root)
        if path not in known and not any(folder.name in _NOT_RESULTS for folder in path.parents)
    ]


def _few(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
