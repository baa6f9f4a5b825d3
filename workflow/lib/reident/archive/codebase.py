"""The code that computes a sealed study anew, and its differences from the code of the results (METHODS §10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reident.archive import layout
from reident.errors import InputError
from reident.ledger.chain import entry_files, read_entry
from reident.ledger.check import few
from reident.pipeline import release
from reident.pipeline.digests import sha256

MIN_DIGITS = 16
"""Hexadecimal digits of a digest that are enough to trust code."""

IDENTITY = ("version", "commit", "modified", "tree", "versions")
"""What of a release the report names: with these equal, reports must be identical."""

REPORT = "report"
"""The step whose release the report names."""


class Code(NamedTuple):
    """The code that runs, see :func:`reident.pipeline.release.describe`, and how it differs from the sealed one."""

    root: Path  # the folder of its Snakefile
    of_bag: bool  # or else it is the installed release
    then: dict[str, Any]  # what made the sealed results
    now: dict[str, Any]  # what runs
    files: tuple[str, ...]  # the sources that differ
    # Those that differ: name, version then and now, empty if absent.
    packages: tuple[tuple[str, str, str], ...]

    @property
    def same(self) -> bool:
        """Whether code, packages and Python are those of the seal, so that reports must be identical too."""
        return all(self.then.get(name) == self.now.get(name) for name in IDENTITY)

    def lines(self) -> list[str]:
        """Describe the code that will run, and its differences, for the terminal."""
        what = "the code of the bag, which you trust" if self.of_bag else "the installed release"
        lines = [f"This runs {what}: {release.named(self.now)}."]
        if self.same:
            return [*lines, "Code, packages and Python are those of the seal."]
        lines.append(f"The sealed results were made by {release.named(self.then)}.")
        if self.files:
            lines.append(f"{len(self.files):,} source files differ: {few(self.files)}.")
        if self.packages:
            absent = "not installed"
            names = [f"{name} {then or absent} → {now or absent}" for name, then, now in self.packages]
            lines.append(f"{len(names):,} packages differ: {few(names)}.")
        return lines


def choose(bag: Path, name: str, then: dict[str, Any], trust: str | None) -> Code:
    """Return the code that is to run: the installed release, or that of a verified bag where its digest is trusted.

    `then` is the release that sealed. `trust` is the digest of the bag or of its code, at least 16 digits, or the name
    of the bag; None for the installed release; another one is an InputError.
    """
    code, then = bag / layout.CODE, _made_by(bag, then)
    if trust is None:
        root = release.ROOT
    elif code.is_dir() and _is_trusted(trust, name, release.tree_digest(code)):
        root = code
    else:
        raise InputError(
            f"`--trust` is neither the digest of this bag nor that of its code. Write `--trust {name}` if you have "
            "read the code of this bag, or leave `--trust` out."
        )
    now = release.describe(root)
    packages = _differ(then.get("versions", {}), now["versions"])
    files = tuple(path for path, *_ in _differ(_digests(code), _digests(root))) if code.is_dir() else ()
    return Code(root, trust is not None, then, now, files, packages)


def _made_by(bag: Path, sealed: dict[str, Any]) -> dict[str, Any]:
    """Return the release that made the results, by the ledger: the seal may have been made by a later commit."""
    entries = [read_entry(file) for file in entry_files(bag / layout.LEDGER)]
    recorded = next((entry.get("release") for entry in entries if entry["rule"] == REPORT), None)
    versions = joined(entry["versions"] for entry in entries) or sealed.get("versions", {})
    return {**sealed, **(recorded if isinstance(recorded, dict) else {}), "versions": versions}


def joined(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the different values of each name in several records, such as versions of packages, in one text."""
    values: dict[str, set[str]] = {}
    for record in records:
        for name, value in record.items():
            if value is not None:
                values.setdefault(name, set()).add(str(value))
    return {name: ", ".join(sorted(texts)) for name, texts in values.items()}


def _is_trusted(trust: str, name: str, tree: str) -> bool:
    digits = trust.lower()
    return digits in (name, name.rpartition("-")[2]) or (len(digits) >= MIN_DIGITS and tree.startswith(digits))


def _digests(root: Path) -> dict[str, str]:
    return {path: sha256(root / path) for path in release.source_files(root)}


def _differ(then: dict[str, str], now: dict[str, str]) -> tuple[tuple[str, str, str], ...]:
    """Return the differences by name, with both values; empty for an absent one."""
    return tuple(
        (name, str(then.get(name, "")), str(now.get(name, "")))
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    )
