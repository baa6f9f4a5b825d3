"""What the scheduler is told at the start of a run: results that no longer hold look old."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reident.errors import InputError
from reident.ledger.chain import changed_source, entry_files, inputs, place_of, read_entry
from reident.ledger.digests import library_digest, study_digest

if TYPE_CHECKING:
    from reident.study import Study


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
            entries.append((place_of(path.parents[1]), read_entry(path)))
        except InputError:
            path.unlink()
    wrote = {line["path"]: line["sha256"] for _, entry in entries for line in entry["outputs"].values()}
    old: set[str] = set()
    for place, entry in entries:
        if place not in studies:
            continue
        read = {
            line["path"]: line["sha256"] for line in inputs(entry) if not line["path"].startswith("source:")
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
    same_study = entry["study_digest"] == study_digest(study, rule, metric)
    return same_library and same_study and changed_source(entry, sources) is None
