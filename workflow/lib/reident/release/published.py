"""The tables of the edition, from the published text of each count (METHODS §11.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from reident.linkage.settings import WHOLE
from reident.pipeline import tables
from reident.pipeline.tables import Rate
from reident.release import policies
from reident.release.cells import ATTACK, FILES, Cell, Published
from reident.release.collect import OF_ANY_METRIC, SEPARATOR
from reident.sections.release import Policy

_RATES = {column.name: column.kind for column in tables.TABLES["rate"][0].columns if isinstance(column.kind, Rate)}
"""The rates of the attack with their two counts, as the table of rates declares them."""


class Rounded(NamedTuple):
    """The published text of every count, and the rules behind it."""

    cells: Mapping[Cell, Published]
    policy: Policy
    # Those of the intervals of the study.
    method: str
    level: float

    def text(self, cell: Cell) -> str:
        """Return the printed text of a count; empty where the edition does not have it."""
        return self.cells[cell].text if cell in self.cells else ""

    def rate(self, numerator: Cell, denominator: Cell) -> str:
        """Return the rate of two published counts; empty where it is not published."""
        if numerator not in self.cells or denominator not in self.cells:
            return ""
        return policies.rate(self.policy, self.cells[numerator], self.cells[denominator])

    def bounds(self, numerator: Cell, denominator: Cell) -> tuple[str, str]:
        """Return the interval of the rate of two published counts; empty where it is not published."""
        if numerator not in self.cells or denominator not in self.cells:
            return "", ""
        return policies.bounds(self.policy, self.cells[numerator], self.cells[denominator], self.method, self.level)


def attack(rounded: Rounded, metrics: Sequence[str], strata: Sequence[str]) -> pd.DataFrame:
    """Return the counts and rates of the attack, one line per file, variant, metric, stratum and rank limit.

    Metrics and strata are in the order of the lines.
    """
    order = {name: at for at, name in enumerate(metrics)}
    of_stratum = {label: at for at, label in enumerate([WHOLE, *strata])}
    lines = sorted(
        {cell._replace(quantity="") for cell in rounded.cells if cell.quantity == "n_suspected"},
        key=lambda line: (
            line.file != "released", line.variant, order[line.metric], of_stratum[line.stratum], line.rank_limit,
        ),
    )  # fmt: skip
    rows = [_line(rounded, line) for line in lines]
    return pd.DataFrame(rows, columns=columns("attack"))


def _line(rounded: Rounded, line: Cell) -> dict[str, str | int]:
    cells = {
        name: line._replace(quantity=name, metric="", rank_limit=0)
        if name in OF_ANY_METRIC
        else line._replace(quantity=name)
        for name in (*FILES, *ATTACK)
    }
    texts = {name: rounded.text(cell) for name, cell in cells.items()}
    rates = {name: rounded.rate(cells[kind.numerator], cells[kind.denominator]) for name, kind in _RATES.items()}
    low, high = rounded.bounds(cells["n_confirmed"], cells["n_suspected"])
    return {
        "file": line.file,
        "variant": line.variant,
        "metric": line.metric,
        "stratum": line.stratum,
        "rank_limit": line.rank_limit,
        **texts,
        **rates,
        "conditional_low": low,
        "conditional_high": high,
    }


def clusters(rounded: Rounded, metrics: Sequence[str], strata: Sequence[str]) -> pd.DataFrame:
    """Return the counts and rates of clusters, one line per metric and stratum; parameters as :func:`attack`."""
    rows = []
    cells = {(cell.metric, cell.stratum): cell for cell in rounded.cells if cell.quantity == "clusters_suspected"}
    for metric in metrics:
        for stratum in [WHOLE, *strata]:
            if (suspected := cells.get((metric, stratum))) is None:
                continue
            confirmed = suspected._replace(quantity="clusters_confirmed")
            whole = suspected._replace(quantity="n_clusters", metric="", rank_limit=0)
            counts = [rounded.text(cell) for cell in (whole, suspected, confirmed)]
            rates = [rounded.rate(*pair) for pair in ((suspected, whole), (confirmed, whole), (confirmed, suspected))]
            rows.append([metric, stratum, *counts, *rates])
    return pd.DataFrame(rows, columns=columns("clusters"))


def file(rounded: Rounded) -> pd.DataFrame:
    """Return the numbers of records with few matches, one line per convention for missing values."""
    conventions = {cell.other for cell in rounded.cells if cell.quantity == "file_records"}
    rows = []
    for convention in sorted(conventions, key=["excluded", "category", "wildcard"].index):
        whole = Cell("file_records", other=convention)
        below = [Cell(f"below_{k}", other=convention) for k in (2, 3, 5)]
        counts = [rounded.text(cell) for cell in (whole, *below)]
        rows.append([convention, *counts, *(rounded.rate(cell, whole) for cell in below)])
    return pd.DataFrame(rows, columns=columns("file"))


def matching(rounded: Rounded) -> pd.DataFrame:
    """Return the numbers of targets, one line per scenario, file and class of the number of matches."""
    rows = []
    for cell in rounded.cells:
        if cell.quantity == "match_targets":
            hits = cell._replace(quantity="match_own")
            counts = [rounded.text(cell), rounded.text(hits)]
            rows.append([*cell.other.rsplit(SEPARATOR, 3), *counts, rounded.rate(hits, cell)])
    return pd.DataFrame(rows, columns=columns("matching"))


def cut_points(lines: pd.DataFrame, rounded: Rounded, strata: Mapping[str, str]) -> pd.DataFrame:
    """Return the rounded cut points, without strata with an unpublished number of records.

    `lines` are the cut points of the study, `strata` the label of each stratum.
    """
    labels = {WHOLE: WHOLE, **strata}
    rows = []
    for line in lines.to_dict("records"):
        scope = labels[line["scope"]]
        sizes = [rounded.cells.get(Cell(name, stratum=scope)) for name in ("n_puf", "n_eif")]
        if all(size is not None and size.value is not None for size in sizes) and not pd.isna(line["bin"]):
            ends = [_cut(rounded.policy, line[name]) for name in ("above", "up_to")]
            rows.append([scope, line["variable"], line["file"], line["bin"], *ends])
    return pd.DataFrame(rows, columns=columns("cut_points"))


def _cut(policy: Policy, value: float) -> str:
    return "" if pd.isna(value) else policies.cut_point(policy, value)


def columns(output: str) -> list[str]:
    """Return the names of the declared columns of a table of the edition."""
    table = next(table for table in tables.RELEASE if table.output == output)
    return table.names
