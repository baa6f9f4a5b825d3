"""Which code computes a sealed study anew, and how it differs from the code that made the results (METHODS §10)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from reident.archive import layout
from reident.errors import InputError
from reident.ledger.chain import entry_files, read_entry
from reident.pipeline import release
from reident.pipeline.digests import sha256

DIGITS = 16
"""Hexadecimal digits of a digest that are enough to trust code."""

IDENTITY = ("version", "commit", "modified", "tree", "versions")
"""What of a release the report names: with these equal, reports must be identical."""

REPORT = "report"
"""The step whose release the report names."""


class Code(NamedTuple):
    """The code that runs.

    Attributes
    ----------
    root : pathlib.Path
        The folder of its Snakefile.
    of_bag : bool
        Whether it is the code of the bag, or the installed release.
    then, now : dict
        What made the sealed results, and what runs, see :func:`reident.pipeline.release.describe`.
    files : tuple of str
        The sources that differ, by their paths.
    packages : tuple of (str, str, str)
        The packages, and Python, that differ: name, version then, version now; empty where one is absent.
    """

    root: Path
    of_bag: bool
    then: dict[str, Any]
    now: dict[str, Any]
    files: tuple[str, ...]
    packages: tuple[tuple[str, str, str], ...]

    @property
    def same(self) -> bool:
        """Whether code, packages and Python are those of the seal, so that reports must be identical too."""
        return all(self.then.get(name) == self.now.get(name) for name in IDENTITY)

    def lines(self) -> list[str]:
        """Return what will run and how it differs, for the terminal."""
        what = "the code of the bag, which you trust" if self.of_bag else "the installed release"
        lines = [f"This runs {what}: {release.named(self.now)}."]
        if self.same:
            return [*lines, "Code, packages and Python are those of the seal."]
        lines.append(f"The sealed results were made by {release.named(self.then)}.")
        if self.files:
            lines.append(f"{len(self.files):,} source files differ: {few(self.files)}.")
        if self.packages:
            names = [
                f"{name} {then or 'not installed'} → {now or 'not installed'}"
                for name, then, now in self.packages
            ]
            lines.append(f"{len(names):,} packages differ: {few(names)}.")
        return lines


MAX_NAMES = 5


def few(names: list[str] | tuple[str, ...]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more


def choose(bag: Path, name: str, then: dict[str, Any], trust: str | None) -> Code:
    """Return the code that is to run: the installed release, or the bag's where its digest is trusted.

    Parameters
    ----------
    bag : pathlib.Path
        The folder of the verified bag.
    name : str
        The name of the bag, which ends in its digest.
    then : dict
        The release that sealed.
    trust : str or None
        The digest of the bag or of its code, at least 16 digits, or the name of the bag; None for the installed
        release.

    Raises
    ------
    InputError
        If the digest is another one.
    """
    code, then = bag / layout.CODE, made_by(bag, then)
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


def made_by(bag: Path, sealed: dict[str, Any]) -> dict[str, Any]:
    """Return the release that made the results, by the ledger: the seal may have been made by a later commit.

    A package that steps had in several versions has all of them, separated by commas.
    """
    entries = [read_entry(file) for file in entry_files(bag / layout.LEDGER)]
    recorded = next((entry.get("release") for entry in entries if entry["rule"] == REPORT), None)
    found: dict[str, set[str]] = {}
    for entry in entries:
        for name, version in entry["versions"].items():
            found.setdefault(name, set()).add(str(version))
    versions = {name: ", ".join(sorted(found[name])) for name in sorted(found)}
    return {
        **sealed,
        **(recorded if isinstance(recorded, dict) else {}),
        "versions": versions or sealed.get("versions", {}),
    }


def _is_trusted(trust: str, name: str, tree: str) -> bool:
    digest = name.rpartition("-")[2]
    given = trust.lower()
    return given in (name, digest) or (len(given) >= DIGITS and tree.startswith(given))


def _digests(root: Path) -> dict[str, str]:
    return {path: sha256(root / path) for path in release.source_files(root)}


def _differ(then: dict[str, str], now: dict[str, str]) -> tuple[tuple[str, str, str], ...]:
    """Return what differs by name, with both values; empty for one that is absent."""
    return tuple(
        (name, str(then.get(name, "")), str(now.get(name, "")))
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    )
