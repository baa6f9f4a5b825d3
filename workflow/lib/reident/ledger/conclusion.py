"""The end of a run: whether the chain of each study closes, and a few lines on its report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from reident.ledger.check import ABANDONED, abandoned_editions, check
from reident.ledger.stored import read_csv
from reident.pipeline.family import Family
from reident.verdict import terminal


class Concluded(NamedTuple):
    """The conclusion of a run."""

    lines: list[str]  # verdicts, warnings and paths; the last ones name each study whose chain does not close
    closes: bool  # whether the chains of all studies close


def conclude(studies: Iterable[Path], results: Path, pages: Iterable[str], notebook: Path) -> Concluded:
    """Walk the chain of each study, and collect verdicts, warnings and reports; none where it does not close.

    Of the `pages`, the files that the run is asked for, those in HTML and PDF are named. `results` and `notebook` are
    as :func:`reident.ledger.check.check` takes them.
    """
    lines, broken = list[str](), list[str]()
    for path in studies:
        family = Family(path)
        name = family.study.id
        answer = check(family, results, notebook)
        if not answer.closes:
            broken.append(f"Error: {answer.line}")
            continue
        lines += verdict(results / name)
        if edition := abandoned_editions(family, results):
            lines.append(f"{name}: {edition[0].parent} has {ABANDONED}")
        lines += reports(name, [page for page in pages if f"reports/{name}/" in page])
    return Concluded(lines + broken, not broken)


def verdict(root: Path) -> list[str]:
    """Return the verdict on a study, and the warnings that bear on it, from its results; nothing without a verdict."""
    files = summary, limits, warnings = [root / f"verdict/{name}.csv" for name in ("summary", "limits", "warnings")]
    if not all(file.is_file() for file in files):
        return []
    return terminal.lines(root.name, read_csv(summary), read_csv(limits), read_csv(warnings), str(warnings))


def reports(study: str, pages: Iterable[str]) -> list[str]:
    """Return a line on each report of a study, which has a page in HTML and one in PDF."""
    kinds: dict[str, list[str]] = {}
    for page in pages:
        stem, _, kind = page.rpartition(".")
        if kind in ("html", "pdf"):
            kinds.setdefault(stem, []).append(f".{kind}")
    return [f"{study}: see {stem}{' and '.join(sorted(endings))}" for stem, endings in sorted(kinds.items())]
