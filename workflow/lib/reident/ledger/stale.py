"""What the scheduler is told at the start of a run: results that no longer hold look old, or are gone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from reident.errors import InputError
from reident.ledger.chain import (
    PartDigest,
    broken,
    changed_source,
    digest,
    entry_files,
    inputs,
    located,
    place_of,
    read_entry,
)
from reident.pipeline.digests import library_digest


class _Entry(NamedTuple):
    """An entry, the place of its results, and the digest of each, by path."""

    file: Path
    place: str
    content: dict[str, Any]
    wrote: dict[Path, str]


def mark_stale(
    root: Path,
    studies: dict[str, tuple[PartDigest, dict[str, Path]]],
    is_result: Callable[[Path], bool] = lambda _: False,
) -> list[str]:
    """Make results look old that would not be made so today, and remove those of no whole entry.

    The scheduler then makes them again. It sees a change of the study, the library or a source by its own
    records; where these are lost it has only time stamps, and would take every result for current. A result
    without its entry is one whose step was killed before it had ended.

    Parameters
    ----------
    root : Path
        ``results/{study}``.
    studies : dict
        The digests of what the steps take from the study and its variants, each with the files outside the results
        that its steps read, by the names
        of the inputs, by the place of their results: empty for the study itself. Results at other places are
        left alone.
    is_result : callable
        Whether a step writes to a path; other files without an entry are left alone.

    Returns
    -------
    list of str
        The results, by their path from `root`.

    Raises
    ------
    InputError
        For a result that is not what its step wrote, and would not be made again.
    """
    entries = _whole_entries(root)
    wrote = {path: written for entry in entries for path, written in entry.wrote.items()}
    gone = {
        path
        for entry in entries
        for line in inputs(entry.content)
        if not line["path"].startswith("source:") and (path := root / line["path"]) not in wrote
    }
    gone |= {path for path in result_files(root) if path not in wrote and is_result(path)}
    old: set[Path] = set()
    for entry in entries:
        if entry.place in studies and not _holds(root, entry, wrote, *studies[entry.place]):
            old |= entry.wrote.keys()
    for path, written in sorted(wrote.items()):
        if path not in old and digest(path) != written:
            raise broken(path, "is not what its step wrote")
    for place in studies:
        gone |= _unseen(root, place, old, set(wrote))
    found = sorted(path for path in gone | old if path.is_file())
    for path in found:
        if path in gone:
            path.unlink()
        else:
            os.utime(path, (1, 1))
    return [os.path.relpath(path, root) for path in found]


def result_files(root: Path) -> list[Path]:
    """All files in a study's results and reports."""
    reports = located(root, "", "reports/")
    return [path for folder in (root, reports) for path in sorted(folder.rglob("*")) if path.is_file()]


def _whole_entries(root: Path) -> list[_Entry]:
    """The entries of steps all of whose results are there; others are removed."""
    found = []
    for file in entry_files(root):
        place = place_of(file.parents[1])
        try:
            content = read_entry(file)
        except InputError:
            file.unlink()
            continue
        wrote = {located(root, place, line["path"]): line["sha256"] for line in content["outputs"].values()}
        if all(path.is_file() for path in wrote):
            found.append(_Entry(file, place, content, wrote))
        else:
            file.unlink()
    return found


def _holds(
    root: Path, entry: _Entry, wrote: dict[Path, str], part_digest: PartDigest, sources: dict[str, Path]
) -> bool:
    """Whether a step read what is there now, and ran with the study, the library and the sources of now."""
    read = [line for line in inputs(entry.content) if not line["path"].startswith("source:")]
    if any(wrote.get(root / line["path"]) != line["sha256"] for line in read):
        return False  # the scheduler does not make what is missing where all that rests on it is there
    rule, metric = entry.content["rule"], entry.content["metric"]
    try:
        same_library = entry.content["library_digest"] == library_digest(rule, metric)
    except (KeyError, FileNotFoundError):  # a step or a metric that is no more
        return False
    same_study = entry.content["study_digest"] == part_digest(rule, metric)
    return same_library and same_study and changed_source(entry.content, sources) is None


def _unseen(root: Path, place: str, old: set[Path], every: set[Path]) -> set[Path]:
    """The old results of a place that are made of nothing but the study file: only their lack is seen."""
    folder = root / place
    own = {path for path in every if place_of_result(path, root) == place}
    if any(folder / "simulated" in path.parents for path in own & old):
        return own
    return own & old & {folder / "study.json"}


def place_of_result(path: Path, root: Path) -> str:
    """Where a result lies in that of its study: empty, or ``variants/…``."""
    for base in (root, located(root, "", "reports/")):
        if base in path.parents:
            first, *rest = path.relative_to(base).parts
            return f"{first}/{rest[0]}" if first == "variants" and len(rest) > 1 else ""
    return ""
