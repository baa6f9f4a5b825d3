"""Risk of one file: of every record, and the tables of the step (METHODS §7)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import dis, dis_suda, suda, uniques
from reident.filerisk.parts import Assessment
from reident.filerisk.prepare import ROW, WEIGHT, codes_of

if TYPE_CHECKING:
    from reident.filerisk.dis_suda import DisSuda
    from reident.filerisk.suda import Suda

DEFINITIONS = ("elliot-manning", "user-guide")
ANONYMITY = (2, 3, 5)
DIGITS = 12


class Assessed(NamedTuple):
    """The tables of the step.

    Attributes
    ----------
    records : pyarrow.Table (n rows)
        The columns that name a record, or ``row``; ``cell_size`` (0: it misses a value of the key), ``unique``,
        ``special_unique``, ``n_msu``, ``min_msu`` (null without one), ``smallest_msu`` in words, ``suda``,
        ``dis_suda`` by the chosen definition, both definitions by name, and with a population
        ``population_reciprocal`` (null where it has no such cell).
    summary : pandas.DataFrame
        quantity, value: one line per quantity; an empty value is not defined.
    definitions : pandas.DataFrame
        definition, chosen, U, P, f, Q, dis, sum, mean (of the uniques), largest, n_one (records with 1), correlation
        with the reciprocal.
    hazards : pandas.DataFrame
        definition, hazard.
    cells : pandas.DataFrame
        cell_size, n_cells, n_records: the frequency of frequencies.
    sizes : pandas.DataFrame
        size, n_msu, n_records, weight.
    variables : pandas.DataFrame
        variable, n_levels, n_missing, n_alone (records unique on it alone), n_msu, contribution.
    levels : pandas.DataFrame
        variable, level, n_records, n_msu, contribution.
    scores : pandas.DataFrame
        above, up_to, n_records: SUDA scores by their order of magnitude.
    classes : pandas.DataFrame
        definition, above, up_to, n, mean_dis_suda; mean_reciprocal and match_probability, empty without a population.
    """

    records: pa.Table
    summary: pd.DataFrame
    definitions: pd.DataFrame
    hazards: pd.DataFrame
    cells: pd.DataFrame
    sizes: pd.DataFrame
    variables: pd.DataFrame
    levels: pd.DataFrame
    scores: pd.DataFrame
    classes: pd.DataFrame


def assess(
    options: Assessment,
    file: pa.Table,
    population: pa.Table,
    categories: pd.DataFrame,
    *,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Assessed:
    """Measure the risk of a file.

    Parameters
    ----------
    options : Assessment
    file, population : pyarrow.Table
    categories : pandas.DataFrame
        As :func:`reident.filerisk.prepare.prepare` gives them.
    threads : int
        The result does not depend on it.
    progress : callable, optional
    """
    names = list(options.key)
    codes = codes_of(file, names)
    fraction = fraction_of(options, file)
    found = suda.scores(
        codes, weighting=options.weighting, max_order=options.max_order, threads=threads, progress=progress
    )
    cells = uniques.cell_numbers(codes)
    sizes = uniques.cell_sizes(codes)
    both = {
        "elliot-manning": dis_suda.elliot_manning(found.score, sizes, fraction),
        "user-guide": dis_suda.user_guide(found.score, sizes, fraction, len(names)),
    }
    # Sorting makes the simulation independent of the order of records.
    rng = np.random.default_rng(options.special.seed)
    special = dis.special(np.sort(cells), fraction, rng, tolerance=options.special.standard_error)
    reciprocal = (
        dis_suda.population_reciprocal(codes, codes_of(population, names)) if population.num_rows else None
    )
    alone = uniques.special_uniques(codes, sizes, found.msus.order, suda.largest_searched(found))
    lines = [
        *_counts(codes, sizes, alone), *_dis(fraction, special, options, file), *_suda(found, sizes),
        *_population(sizes, reciprocal, population),
    ]  # fmt: skip
    unfound = _unfound(found, sizes)
    return Assessed(
        _records(options, file, found, sizes, alone, both, reciprocal),
        pd.DataFrame([(name, shown(value)) for name, value in lines], columns=["quantity", "value"]),
        _definitions(options.dis_suda, both, reciprocal),
        pd.DataFrame(
            [(name, hazard) for name in DEFINITIONS for hazard in [*both[name].hazards, *unfound]],
            columns=["definition", "hazard"],
            dtype=str,
        ),
        uniques.partition_structure(sizes),
        suda.by_size(found),
        _variables(codes, found, names),
        _levels(found, names, categories),
        _scores(found.score),
        _classes(both, reciprocal),
    )


def fraction_of(options: Assessment, file: pa.Table) -> float:
    """f, declared or from the weights."""
    if options.sampling_fraction is not None:
        return options.sampling_fraction
    return dis.sampling_fraction(file[WEIGHT].to_numpy())


def shown(value: float | int | str | None) -> str:
    """A quantity as the table writes it: whole numbers as such, others with 12 decimals, nothing if undefined."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(round(value, DIGITS)) if isinstance(value, float) else str(value)


Lines = list[tuple[str, float | int | str | None]]


def _counts(codes: np.ndarray, sizes: np.ndarray, special: np.ndarray) -> Lines:
    n_unique, n_special = uniques.n_unique(sizes), int(special.sum())
    return [
        ("records", len(codes)),
        ("key_variables", codes.shape[1]),
        ("records_in_cells", int((sizes > 0).sum())),
        ("records_missing_a_value", int((sizes == 0).sum())),
        ("cells", int(uniques.partition_structure(sizes)["n_cells"].sum())),
        ("U", n_unique),
        ("P", uniques.n_in_pairs(sizes)),
        *((f"violations_{k}_anonymity", uniques.k_anonymity_violations(sizes, k)) for k in ANONYMITY),
        ("n_special", n_special),
        ("n_random", n_unique - n_special),
        ("share_special", n_special / n_unique if n_unique else None),
    ]


def _dis(fraction: float, special: dis.Special, options: Assessment, file: pa.Table) -> Lines:
    weight = options.sampling_fraction is None
    return [
        ("f", fraction),
        ("f_from", f"mean weight {shown(float(file[WEIGHT].to_numpy().mean()))}" if weight else "declared"),
        ("dis", special.general),
        ("dis_special", special.estimate),
        ("dis_special_se", special.standard_error),
        ("dis_special_rounds", special.rounds),
        ("dis_special_ended_by", special.ended),
        ("dis_special_unique_matches", special.unique_matches),
        ("dis_special_correct_matches", special.correct_matches),
        ("dis_special_difference_in_se", special.difference),
    ]


def _suda(found: Suda, sizes: np.ndarray) -> Lines:
    counts = found.msus.counts.sum(axis=0, dtype=np.int64)
    return [
        ("n_msu", int(counts.sum())),
        ("records_with_msu", int((found.msus.order > 0).sum())),
        ("largest_msu_searched", suda.largest_searched(found)),
        ("max_suda", float(found.score.max(initial=0.0))),
        ("sum_suda", suda.total_score(found)),
        ("uniques_without_msu", _without_msu(found, sizes)),
    ]


def _without_msu(found: Suda, sizes: np.ndarray) -> int:
    """Sample uniques of which no MSU was found: none, unless the search is limited to sizes below that of the key."""
    return int(((sizes == 1) & (found.msus.order == 0)).sum())


def _unfound(found: Suda, sizes: np.ndarray) -> list[str]:
    """Return what a limited search makes unreliable in both definitions."""
    n, largest = _without_msu(found, sizes), suda.largest_searched(found)
    if not n:
        return []
    limited = f"{n} of {uniques.n_unique(sizes)} sample uniques have no MSU of up to {largest} variables"
    return [f"{limited}, the most searched, and so the score 0."]


def _population(sizes: np.ndarray, reciprocal: np.ndarray | None, population: pa.Table) -> Lines:
    """Return the uniques' sizes in the population: DIS estimates U / (population records in their cells)."""
    if reciprocal is None:
        return []
    mine = reciprocal[(sizes == 1) & np.isfinite(reciprocal)]
    return [
        ("population_records", population.num_rows),
        ("uniques_in_population", len(mine)),
        ("population_uniques", int((mine == 1).sum())),
        ("mean_reciprocal", float(mine.mean()) if len(mine) else None),
        ("true_match_probability", dis_suda.match_probability(mine)),
    ]


def _records(
    options: Assessment,
    file: pa.Table,
    found: Suda,
    sizes: np.ndarray,
    special: np.ndarray,
    both: dict[str, DisSuda],
    reciprocal: np.ndarray | None,
) -> pa.Table:
    front = list(options.id) or [ROW]
    order = found.msus.order
    words = pa.array(suda.in_words(found.msus.variables, list(options.key)), pa.string())
    data = {name: file[name] for name in front} | {
        "cell_size": pa.array(sizes),
        "unique": pa.array(sizes == 1),
        "special_unique": pa.array(special),
        "n_msu": pa.array(found.msus.counts.sum(axis=1, dtype=np.int64)),
        "min_msu": pa.array(order.astype(np.int32), mask=order == 0),
        "smallest_msu": words,
        "suda": pa.array(found.score),
        "dis_suda": pa.array(both[options.dis_suda].risk),
        "dis_suda_elliot_manning": pa.array(both["elliot-manning"].risk),
        "dis_suda_user_guide": pa.array(both["user-guide"].risk),
    }
    if reciprocal is not None:
        data["population_reciprocal"] = pa.array(reciprocal, mask=~np.isfinite(reciprocal))
    return pa.table(data)


def _definitions(chosen: str, both: dict[str, DisSuda], reciprocal: np.ndarray | None) -> pd.DataFrame:
    lines = []
    for name, own in both.items():
        total = round(math.fsum(own.risk.tolist()), 9)  # of values to 12 decimals
        line = {
            "definition": name,
            "chosen": name == chosen,
            "U": own.n_unique,
            "P": own.n_in_pairs,
            "f": shown(own.fraction),
            "Q": shown(own.q),
            "dis": shown(dis.general(own.n_unique, own.n_in_pairs, own.fraction)),
            "sum": shown(total),
            "mean": shown(round(total / own.n_unique, 9) if own.n_unique else None),
            "largest": shown(float(own.risk.max(initial=0.0))),
            "n_one": int((own.risk >= 1).sum()),
            "correlation": "",
        }
        if reciprocal is not None:
            line["correlation"] = shown(dis_suda.correlation(own.risk, reciprocal))
        lines.append(line)
    return pd.DataFrame(lines)


def _variables(codes: np.ndarray, found: Suda, names: list[str]) -> pd.DataFrame:
    table = suda.by_variable(found, names)
    alone = [int(levels[:, 1].sum()) for levels in found.msus.by_level]
    table.insert(1, "n_levels", [len(np.unique(column[column >= 0])) for column in codes.T])
    table.insert(2, "n_missing", (codes < 0).sum(axis=0))
    table.insert(3, "n_alone", alone)
    return table.assign(contribution=table["contribution"].round(DIGITS))


def _levels(found: Suda, names: list[str], categories: pd.DataFrame) -> pd.DataFrame:
    """Return the levels that the file has, in the order of codes; a variable that is missing throughout has none."""
    shown = [
        categories[categories["variable"] == name].head(len(levels))
        for name, levels in zip(names, found.msus.by_level, strict=True)
    ]
    table = suda.by_level(found, names, [list(own["label"]) for own in shown])
    table.insert(2, "n_records", pd.concat(shown)["n_file"].astype(int).to_numpy())
    table = table[table["n_records"] > 0]
    return table.assign(contribution=table["contribution"].round(DIGITS)).reset_index(drop=True)


def _scores(score: np.ndarray) -> pd.DataFrame:
    """Return records by the order of magnitude of their score; the first line is exactly 0."""
    most = float(score.max(initial=0.0))
    edges = [0.0, 1.0]
    while edges[-1] < most:
        edges.append(edges[-1] * 10)
    place = np.searchsorted(np.array(edges), score, side="left")
    n = np.bincount(place, minlength=len(edges))
    return pd.DataFrame({"above": [0.0, *edges[:-1]], "up_to": edges, "n_records": n[: len(edges)]})


def _classes(both: dict[str, DisSuda], reciprocal: np.ndarray | None) -> pd.DataFrame:
    parts = []
    for name, own in both.items():
        table = dis_suda.calibration(own.risk, np.ones(len(own.risk)))
        known = dis_suda.calibration(
            own.risk, np.full(len(own.risk), np.nan) if reciprocal is None else reciprocal
        )
        for column in ("mean_reciprocal", "match_probability"):
            table[column] = known[column]
        table.insert(0, "definition", name)
        parts.append(table)
    return pd.concat(parts, ignore_index=True).round(DIGITS)
