"""What the terminal says of a study at the end of a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reident.ledger.stored import read_csv
from reident.verdict import terminal


def lines(root: Path) -> list[str]:
    """Return the verdict on a study, and the warnings that bear on it, from its results; nothing without a verdict."""
    summary, doubts = (root / f"verdict/{name}.csv" for name in ("summary", "warnings"))
    if not (summary.is_file() and doubts.is_file()):
        return []
    return terminal.lines(root.name, read_csv(summary), read_csv(doubts), str(doubts))


def reports(pages: Iterable[str], folder: Path = Path("reports")) -> list[str]:
    """Return a line on each report, which has a page in HTML and one in PDF.

    Parameters
    ----------
    pages : iterable of str
        Paths below the folder of the reports.
    folder : pathlib.Path
    """
    kinds: dict[str, list[str]] = {}
    for page in pages:
        stem, _, kind = page.rpartition(".")
        kinds.setdefault(stem, []).append(f".{kind}")
    return [
        f"{Path(stem).relative_to(folder).parts[0]}: see {stem}{' and '.join(sorted(endings))}"
        for stem, endings in sorted(kinds.items())
    ]
