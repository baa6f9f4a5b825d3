"""``reident index``: every study and variant that was run, with verdict and highest rates (METHODS §6.2)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reident.archive.compare import write
from reident.errors import InputError
from reident.language import named
from reident.ledger.chain import BrokenError, Chain, located
from reident.ledger.stored import encoded, read_csv
from reident.linkage.settings import WHOLE
from reident.outcomes import BREAKS, EXCEEDS, NONE, NOTHING, PASSES, UNBREAKABLE, UNSURE

RATES = ("confirmed_rate", "conditional_rate", "reach")
COLUMNS = (
    "study", "variant", "title", "date", "language", "state", "verdict", "broken", "limit", "of", "value", "bound",
    *(name for rate in RATES for name in (rate, f"{rate}_by")), "dis", "true_match_rate",
    "invalidates", "understates", "notable", "before", "before_verdict", "before_confirmed_rate",
    "report", "edition", "comparison",
)  # fmt: skip
"""The columns of `index.csv`."""

_GRAVITY = (BREAKS, EXCEEDS, NONE, UNSURE, PASSES, NOTHING, UNBREAKABLE)
"""The outcomes of limits, the one that decides a verdict first."""

MADE, UNFINISHED, CHANGED = "made", "unfinished", "changed"
"""States of results: as their steps wrote them, without a verdict yet, or otherwise."""

YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")

Row = dict[str, Any]


def run(results: Path, reports: Path, render: Callable[[list[Row]], str]) -> list[str]:
    """Write the page and the table of all studies, and return the lines to print.

    `results` and `reports` are the folders of these names; ``render(rows)`` gives the page.

    Raises
    ------
    InputError
        If no study was run, or the page cannot be written.
    """
    rows = collect(results, reports)
    if not rows:
        raise InputError(f"{results}: there are no results of a study. Run a study, then the same command again.")
    table = pd.DataFrame(rows, columns=list(COLUMNS)).drop(columns="language")
    write({reports / "index.html": encoded(render(rows)), reports / "index.csv": encoded(table)})
    changed = [row["study"] for row in rows if row["state"] == CHANGED and not row["variant"]]
    notes = [f"{study}: the results are not what their steps wrote. Run `reident check`." for study in changed]
    n = sum(not row["variant"] for row in rows)
    studies = f"{n} {'study' if n == 1 else 'studies'}, {len(rows) - n} variants"
    return [*notes, f"{reports / 'index.html'} and .csv: {studies}"]


def collect(results: Path, reports: Path) -> list[Row]:
    """Return a row for each study, followed by one for each of its variants, by the ids of the studies."""
    folders = sorted(path.parent for path in results.glob("*/study.json")) if results.is_dir() else []
    rows = [row for folder in folders for row in _rows(folder, reports)]
    _compare({row["study"]: row for row in rows if not row["variant"]}, reports)
    return rows


def _rows(root: Path, reports: Path) -> Iterator[Row]:
    """Yield the rows of a study; where a file is not what its step wrote, that of the study says so and no more."""
    try:
        yield from [*_read(root, reports)]
    except (BrokenError, ValueError, KeyError, OSError):
        yield _row(study=root.name, state=CHANGED)


def _row(**values: Any) -> Row:
    return {**dict.fromkeys(COLUMNS, ""), **values}


def _read(root: Path, reports: Path) -> Iterator[Row]:
    tables = _Tables(root)
    study = json.loads(tables.path("study.json").read_text(encoding="utf-8"))
    facts = {"study": study["id"], "title": study["title"], "date": study["date"] or "", "language": named(study)}
    verdicts, rates = tables.whole("verdict/summary.csv", "scope"), tables.whole("rates.csv", "stratum")
    state = {"state": UNFINISHED} if verdicts is None else {"state": MADE, **_verdict(verdicts.iloc[0])}
    others = _judged(tables.read("verdict/limits.csv")) | _rates(rates) | _others(tables)
    front = _row(**facts, **state, **others, before=study.get("predecessor") or "")
    yield front | _pages(root, "", reports)
    verdicts, rates = tables.read("comparison/verdict.csv"), tables.read("comparison/rates.csv")
    for line in () if verdicts is None or not study["variants"] else verdicts.to_dict("records"):
        if line["reference"] != "yes":
            name = line["variant"]
            own = None if rates is None else rates[rates["variant"] == name]
            place = f"variants/{name}"
            judged = _judged(tables.read(f"{place}/verdict/limits.csv")) | _rates(own)
            yield _row(**facts, variant=name, state=MADE, **_verdict(line), **judged) | _pages(root, place, reports)


class _Tables:
    """The results of a study that are as their steps wrote them."""

    def __init__(self, root: Path) -> None:
        self._chain = Chain(root)

    def path(self, name: str) -> Path:
        """Return where a result is; one that is not what its step wrote is a BrokenError."""
        self._chain.check_input(path := self._chain.root / name, self._chain.digest(path))
        return path

    def read(self, name: str) -> pd.DataFrame | None:
        """Return a table; None if the study does not have it."""
        return read_csv(self.path(name)) if (self._chain.root / name).is_file() else None

    def whole(self, name: str, column: str) -> pd.DataFrame | None:
        """Return the lines of a table about the whole study."""
        table = self.read(name)
        return None if table is None else table[table[column] == WHOLE]


def _verdict(line: Mapping[str, Any] | pd.Series) -> Row:
    names = ("verdict", "broken", "invalidates", "understates", "notable")
    return {name: "" if pd.isna(line[name]) else line[name] for name in names}


def _judged(limits: pd.DataFrame | None) -> Row:
    """Return the limit that decides the verdict, and what it judged; of several, that nearest to its bound."""
    if limits is None or limits.empty:
        return {}
    ratio = (limits["value"] / limits["bound"]).where(limits["bound"] > 0, np.inf * limits["value"])
    near = ratio.where(~limits["limit"].str.endswith("_at_least"), 1 / ratio).fillna(-1)
    grave = limits["outcome"].map(_GRAVITY.index)
    line = limits.assign(grave=grave, near=-near).sort_values(["grave", "near"], kind="stable").iloc[0]
    values = {name: "" if pd.isna(line[name]) else float(line[name]) for name in ("value", "bound")}
    return {"limit": str(line["limit"]), "of": "" if pd.isna(line["metric"]) else str(line["metric"]), **values}


def _rates(lines: pd.DataFrame | None) -> Row:
    """Return the highest of each rate with its metric; nothing where it is not defined."""
    row: Row = {}
    if lines is None:
        return row
    for rate in RATES:
        if len(values := lines.set_index("metric")[rate].dropna()):
            row |= {rate: float(values.max()), f"{rate}_by": str(values.idxmax())}
    return row


def _others(tables: _Tables) -> Row:
    """Return DIS of the file alone, and the true match rate of synthetic files."""
    row: Row = {}
    if (summary := tables.read("filerisk/summary.csv")) is not None:
        row["dis"] = summary.set_index("quantity")["value"]["dis"]
    if (matched := tables.whole("matching/summary.csv", "file")) is not None:
        row["true_match_rate"] = matched["true_match_rate"].max()
    return {name: float(value) for name, value in row.items() if value not in ("", None) and not pd.isna(value)}


def _pages(root: Path, place: str, reports: Path) -> Row:
    """Return the pages of a study or a variant that are there, relative to the folder of reports."""
    names = {"report": "disclosure-review.html", "edition": "releasable/edition.html"}
    folder = located(root, place, "reports/")
    files = {page: folder / name for page, name in names.items()}
    return {page: Path(os.path.relpath(file, reports)).as_posix() for page, file in files.items() if file.is_file()}


def _compare(studies: Mapping[str, Row], reports: Path) -> None:
    """Give each study the verdict and the rate of the one before it: that which it names, or the last year's."""
    for name, row in studies.items():
        earlier = studies.get(row["before"] or _before(name, studies) or "")
        if earlier is None or earlier is row:
            continue
        page = f"compare/{earlier['study']}--{name}/comparison.html"
        row |= {
            "before": earlier["study"],
            "before_verdict": earlier["verdict"],
            "before_confirmed_rate": earlier["confirmed_rate"],
            "comparison": page if (reports / page).is_file() else "",
        }


def _before(name: str, studies: Iterable[str]) -> str | None:
    """Return the study whose id differs in its year alone, the last of the years before; None without one."""
    years = YEAR.findall(name)
    if len(years) != 1:
        return None
    same = (other for other in studies if YEAR.sub("*", other) == YEAR.sub("*", name) and other < name)
    return max(same, default=None)
