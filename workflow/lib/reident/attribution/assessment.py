"""Attribute disclosure over all sets of keys and all targets: the tables of the step (METHODS §12)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.attribution import measures
from reident.attribution.measures import Measures
from reident.attribution.prepare import FILE, PERSON, ROW
from reident.attribution.settings import AttributionSettings
from reident.intake.radius import Reach, neighbourhoods
from reident.kernels import attributes, keysets
from reident.kernels.attributes import Disclosures, Guess
from reident.linkage.categories import codes_of, key_columns, measure_each, set_name
from reident.matching.section import Radius

MEAN = "mean"
LEVEL_SHARE, MIN_LEVEL = 0.9, 50
"""DiSCO is dominated by one value if it has more than this share of at least so many records (synthpop's check)."""


class Assessed(NamedTuple):
    """The tables of the step, with the columns that `columns.csv` declares.

    The records are those of each target with its most dangerous set.
    """

    records: pa.Table
    summary: pd.DataFrame
    targets: pd.DataFrame


class _Target(NamedTuple):
    """A target in all files, as ranks."""

    name: str
    radius: Radius | None
    ranks: list[np.ndarray]
    sorted: list[np.ndarray]
    low: np.ndarray
    high: np.ndarray
    released_rows: list[np.ndarray]
    guesses: list[Guess]
    n_values: int


class _Files(NamedTuple):
    """The files: original, released …, holdout; and the released record of each original one, by file, or -1."""

    tables: list[pa.Table]
    released_rows: list[np.ndarray]
    linked: bool


def assess(
    settings: AttributionSettings,
    original: pa.Table,
    released: pa.Table,
    holdout: pa.Table,
    categories: pd.DataFrame,
    *,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Assessed:
    """Measure attribute disclosure for every target with every set of keys.

    The tables are those of :func:`reident.attribution.prepare.prepare`. The result does not depend on the threads;
    `progress` takes the share of the sets that are done.
    """
    files = _files(original, released, holdout)
    targets = [_target(settings, files, name) for name in settings.targets]
    columns = key_columns(files.tables, (name for keys in settings.sets for name in keys))

    def run(keys: tuple[str, ...]) -> list[list[Measures]]:
        cells = _cells(files, columns, keys)
        return [
            [measures.measure(disclosure, linked=files.linked) for disclosure in _disclosures(files, cells, target)]
            for target in targets
        ]

    # The set of no keys is the baseline: what an intruder who knows nothing of a person learns.
    results = measure_each(run, [(), *settings.sets], threads, progress)
    summary = pd.concat(
        [_lines(settings.sets, at, target.name, results) for at, target in enumerate(targets)], ignore_index=True
    )
    worst = summary[(summary["danger"] == 1) & (summary["file"] == MEAN)].set_index("target")["keys"]
    parts, lines = [], []
    for at, target in enumerate(targets):
        keys = next(candidates for candidates in settings.sets if set_name(candidates) == worst[target.name])
        disclosed = _disclosures(files, _cells(files, columns, keys), target, keep=True)
        parts.append(_records(settings, original, target, keys, disclosed))
        baseline = measures.mean_of(results[0][at])
        lines.append(_target_line(target, keys, disclosed, baseline, categories))
    return Assessed(pa.concat_tables(parts), summary, pd.DataFrame(lines))


def _files(original: pa.Table, released: pa.Table, holdout: pa.Table) -> _Files:
    numbers = released[FILE].to_numpy()
    bounds = np.searchsorted(numbers, np.arange(1, int(numbers.max(initial=1)) + 2))
    copies = [released.slice(start, stop - start) for start, stop in itertools.pairwise(bounds)]
    released_rows = []
    for copy in copies:
        place = codes_of(copy[PERSON])
        rows = np.full(original.num_rows, -1, np.int64)
        rows[place[place >= 0]] = np.flatnonzero(place >= 0)
        released_rows.append(rows)
    linked = any((rows >= 0).any() for rows in released_rows)
    return _Files([original, *copies, holdout], released_rows, linked)


def _cells(
    files: _Files, columns: Mapping[str, tuple[np.ndarray, int]], keys: Sequence[str]
) -> tuple[list[np.ndarray], int]:
    """Return the cells of a set of keys by file; without a key all records are in one."""
    sizes = [table.num_rows for table in files.tables]
    if keys:
        codes, levels = zip(*(columns[name] for name in keys), strict=True)
        cells, n_cells = keysets.number_cells(codes, levels)
    else:
        cells, n_cells = np.zeros(sum(sizes), np.int32), 1
    return np.split(cells, np.cumsum(sizes)[:-1]), n_cells


def _target(settings: AttributionSettings, files: _Files, name: str) -> _Target:
    """Return a target as ranks; -1 where its record is left out."""
    radius = settings.targets[name]
    columns = [table[name] for table in files.tables]
    if radius is None:
        ranks = [codes_of(column) for column in columns]
        n_values = max(int(codes.max(initial=-1)) for codes in ranks) + 1
        low, high = np.arange(n_values), np.arange(1, n_values + 1)
    else:
        values = [column.to_numpy().astype(np.float64) for column in columns]
        distinct = np.unique(np.concatenate([column[~np.isnan(column)] for column in values]))
        low, high = neighbourhoods(distinct, Reach(radius.size, radius.relative is not None, "closed"))
        last = len(distinct)
        n_values = last
        ranks = [np.searchsorted(distinct, column).astype(np.int32) for column in values]  # missing after all numbers
        if settings.category:
            low, high = np.append(low, last), np.append(high, last + 1)
        else:
            ranks = [np.where(column == last, -1, column).astype(np.int32) for column in ranks]
    orders = [np.argsort(codes, kind="stable").astype(np.int32) for codes in ranks]
    present = [order[codes[order] >= 0] for codes, order in zip(ranks, orders, strict=True)]
    own_ranks = [
        np.where(rows >= 0, ranks[at][rows], -1).astype(np.int32)
        for at, rows in enumerate(files.released_rows, start=1)
    ]
    windows = low.astype(np.int32), high.astype(np.int32)
    numeric = radius is not None
    guesses = [
        attributes.best_guess(codes[order], *windows, numeric)
        for codes, order in zip(ranks[1:-1], present[1:-1], strict=True)
    ]
    return _Target(name, radius, ranks, present, *windows, own_ranks, guesses, n_values)


def _disclosures(
    files: _Files, cells: tuple[list[np.ndarray], int], target: _Target, *, keep: bool = False
) -> list[Disclosures]:
    """Return the disclosures of a target in each released file."""
    file_cells, n_cells = cells
    grouped = [
        keysets.group(numbers, ranks, order, n_cells)
        for numbers, ranks, order in zip(file_cells, target.ranks, target.sorted, strict=True)
    ]
    numeric = target.radius is not None
    n_values = target.n_values if keep and not numeric else 0
    n_kept = files.tables[0].num_rows if keep else 0
    disclosed = []
    for at, rows in enumerate(files.released_rows):
        released_cells = np.where(rows >= 0, file_cells[at + 1][rows], -1) if files.linked else rows
        disclosed.append(
            attributes.tell(
                grouped[0],
                grouped[at + 1],
                grouped[-1],
                released_cells.astype(np.int32),
                target.released_rows[at],
                target.low,
                target.high,
                target.guesses[at],
                numeric,
                files.linked,
                n_values,
                n_kept,
            )
        )
    return disclosed


def _lines(
    sets: Sequence[tuple[str, ...]], at: int, target: str, results: Sequence[Sequence[Sequence[Measures]]]
) -> pd.DataFrame:
    """Return the summary of one target; the sets stay in their order, and ``danger`` ranks them."""
    files = [results[place][at] for place in range(1, len(results))]
    means = [measures.mean_of(file) for file in files]
    order = sorted(range(len(sets)), key=lambda place: (-_value(means[place].disco), -_value(means[place].cap), place))
    danger = {place: rank for rank, place in enumerate(order, start=1)}
    lines = []
    for place, keys in enumerate(sets):
        by_name = [
            *((str(number), measured) for number, measured in enumerate(files[place], start=1)),
            (MEAN, means[place]),
        ]
        lines += [(target, set_name(keys), len(keys), danger[place], name, *measured) for name, measured in by_name]
    front = ["target", "keys", "size", "danger", "file"]
    return pd.DataFrame(lines, columns=[*front, *Measures._fields])


def _value(rate: float) -> float:
    """Return a rate to rank by; one that is not defined comes last."""
    return rate if rate == rate else -1.0


def _records(
    settings: AttributionSettings,
    original: pa.Table,
    target: _Target,
    keys: Sequence[str],
    disclosed: Sequence[Disclosures],
) -> pa.Table:
    """Return the disclosures about each original record with the most dangerous set of keys."""
    n = original.num_rows
    caps = [file.agreeing / np.maximum(file.matches, 1) for file in disclosed]
    front = {name: original[name] for name in (settings.id or (ROW,))}
    return pa.table(
        {
            **front,
            "target": pa.array([target.name] * n, pa.string()),
            "keys": pa.array([set_name(keys)] * n, pa.string()),
            "cap": pa.array(np.sum(caps, axis=0) / len(disclosed)),
            "n_disclosed": pa.array(np.sum([file.correct for file in disclosed], axis=0).astype(np.int32)),
        }
    )


def _target_line(
    target: _Target, keys: Sequence[str], disclosed: Sequence[Disclosures], baseline: Measures, categories: pd.DataFrame
) -> dict[str, object]:
    """Return the line of a target: its baselines, its most dangerous set, and the value that dominates DiSCO there."""
    disclosed_values = np.sum([file.by_value for file in disclosed], axis=0)
    total, level, share = int(disclosed_values.sum()), "", float("nan")
    if total:
        labels = categories[categories["variable"] == target.name].set_index("code")["label"]
        level, share = str(labels[int(disclosed_values.argmax())]), int(disclosed_values.max()) / total
    return {
        "target": target.name,
        "type": "categorical" if target.radius is None else "numeric",
        "within": "" if target.radius is None else target.radius.text,
        "n_values": target.n_values,
        "n_missing": int((target.ranks[0] < 0).sum()),
        "cap": baseline.cap,
        "guess": baseline.guess,
        "keys": set_name(keys),
        "level": level,
        "level_share": share,
        "dominated": bool(total >= MIN_LEVEL * len(disclosed) and share > LEVEL_SHARE),
    }
