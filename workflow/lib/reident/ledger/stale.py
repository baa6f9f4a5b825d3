"""Which results of a study no longer hold, found without touching any of them.

Snakemake compares time stamps and, where the user has not switched it off, its own records. Neither is enough: records
get lost, time stamps can be kept, and with ``--rerun-triggers mtime`` a changed parameter is not seen. The ledger
therefore names the results that must be made again, and the scheduler is made to run their steps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from reident.errors import InputError
from reident.ledger.chain import (
    PartDigest,
    changed_sources,
    digest,
    entry_files,
    inputs,
    located,
    place_of,
    read_entry,
)
from reident.pipeline.digests import library_digest

SET_ASIDE = "set-aside"
"""The folder in a study's results that keeps results which their steps did not write."""

NOT_RESULTS = {"ledger", "logs", "benchmarks", "confidential", "sealed", SET_ASIDE}
"""Folders in a study's results and reports that hold no results."""

Known: TypeAlias = dict[str, tuple[PartDigest, dict[str, Path]]]
"""By the place of their results: the digests of what the steps take, and the files outside the results that they
read, by the names of the inputs."""


class Stale(NamedTuple):
    """The results of a study that no longer hold.

    Attributes
    ----------
    files : frozenset of pathlib.Path
        Results that must be made again, and the entries of steps that must run again.
    edited : dict of pathlib.Path
        The digest of each result that is not what its step wrote; these are among `files`.
    ledger : dict of pathlib.Path
        The state of each entry from which this was found.
    """

    files: frozenset[Path]
    edited: dict[Path, str]
    ledger: dict[Path, tuple[int, int]]


class _Entry(NamedTuple):
    """A complete entry of which all results are there, with the digest of each result, by path."""

    file: Path
    place: str
    content: dict[str, Any]
    wrote: dict[Path, str]


def find_stale(root: Path, known: Known) -> Stale:
    """Find the results that would not be made today as they are.

    A result no longer holds if it has no complete entry (its step was killed, or the entry is lost), if it is not
    what its step wrote, or if its step read other files, took other values from the study or ran another library
    than today.

    Parameters
    ----------
    root : Path
        ``results/{study}``.
    known : dict
        What the study and its variants are now; entries at other places are left alone.

    Returns
    -------
    Stale
    """
    ledger = ledger_state(root)
    entries, files = _complete_entries(root)
    wrote = {path: written for entry in entries for path, written in entry.wrote.items()}
    files |= {path for path in result_files(root) if path not in wrote}
    edited: dict[Path, str] = {}
    now = cache(digest)
    for entry in entries:
        if entry.place not in known:
            continue
        other = {path: now(path) for path, written in entry.wrote.items() if now(path) != written}
        edited |= other
        if other or not _holds(root, entry, wrote, known[entry.place], now):
            files |= {entry.file, *entry.wrote}
    return Stale(frozenset(files), edited, ledger)


def ledger_state(root: Path) -> dict[Path, tuple[int, int]]:
    """Return what tells one state of a study's ledger from a later one: the time stamp and inode of each entry."""
    state = {}
    for file in entry_files(root):
        with contextlib.suppress(FileNotFoundError):  # another run may be at work
            status = file.stat()
            state[file] = status.st_mtime_ns, status.st_ino
    return state


def result_files(root: Path) -> list[Path]:
    """Return all files in a study's results and reports, without those that only tell how these were made."""
    return [
        path
        for folder in (root, located(root, "", "reports/"))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and NOT_RESULTS.isdisjoint(path.relative_to(folder).parts[:-1])
    ]


def _complete_entries(root: Path) -> tuple[list[_Entry], set[Path]]:
    """Return the entries all of whose results are there, and the files of all other entries."""
    complete, others = [], set()
    for file in entry_files(root):
        place = place_of(file.parents[1])
        try:
            content = read_entry(file)
        except InputError:
            others.add(file)
            continue
        wrote = {located(root, place, line["path"]): line["sha256"] for line in content["outputs"].values()}
        if all(path.is_file() for path in wrote):
            complete.append(_Entry(file, place, content, wrote))
        else:
            others.add(file)
    return complete, others


def _holds(
    root: Path,
    entry: _Entry,
    wrote: dict[Path, str],
    known: tuple[PartDigest, dict[str, Path]],
    now: Callable[[Path], str],
) -> bool:
    """Return whether a step read what is there now, and ran with today's study, library and sources."""
    read = [line for line in inputs(entry.content) if not line["path"].startswith("source:")]
    if any(wrote.get(root / line["path"]) != line["sha256"] for line in read):
        return False
    rule, metric = entry.content["rule"], entry.content["metric"]
    part_digest, sources = known
    if entry.content["study_digest"] != part_digest(rule, metric):
        return False
    if entry.content["library_digest"] != library_digest(rule, metric):
        return False
    return not any(changed_sources(entry.content, sources, now))
