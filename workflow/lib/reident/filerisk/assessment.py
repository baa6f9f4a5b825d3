"""Risk of one file: of every record, and the tables of the step (METHODS §7)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import coarser, dis, dis_suda, quantities, suda, uniques
from reident.filerisk.dis_suda import DEFINITIONS, Definition, DisSuda, Hazard
from reident.filerisk.prepare import ROW, codes_of, weighted
from reident.filerisk.quantities import ANONYMITY, DIGITS, format_value
from reident.filerisk.settings import AssessmentSettings
from reident.filerisk.suda import Suda
from reident.language.messages import message
from reident.sections.codes import Coding
from reident.sections.recodes import Recoding


class Assessed(NamedTuple):
    """The tables of the step, with the columns that `reident.pipeline.tables` declares."""

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
    coarser: pd.DataFrame
    conventions: pd.DataFrame


def assess(
    settings: AssessmentSettings,
    file: pa.Table,
    population: pa.Table,
    original: pa.Table,
    categories: pd.DataFrame,
    *,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Assessed:
    """Measure the risk of a file."""
    names = list(settings.key)
    codes = codes_of(file, names)
    # Where the file misses no value, its records are compared as in cells.
    own = replace(settings, wildcard=settings.wildcard and bool((codes < 0).any()))
    fraction, _ = weighted(file, settings.sampling_fraction)
    scores = suda.scores(
        codes, weighting=settings.weighting, max_order=settings.max_order, threads=threads, progress=progress
    )
    sizes = uniques.cell_sizes(codes, wildcard=own.wildcard)
    cell_fraction = dis.of_cells(fraction, float((sizes > 0).mean()))
    general = dis.of_file(codes, sizes, cell_fraction)
    definitions = dis_suda.by_definition(scores.score, sizes, cell_fraction, len(names), general)
    reciprocal, people = None, codes_of(population, names)
    if len(people):
        reciprocal = dis_suda.population_reciprocal(codes, people, wildcard=settings.wildcard)
    collapsed = _collapsed(settings, categories)
    compared = coarser.compare(codes, sizes, names, collapsed, wildcard=own.wildcard, reciprocal=reciprocal)
    lines = [
        *quantities.cell_lines(codes, sizes, compared.special, own),
        *quantities.dis_lines(fraction, cell_fraction, codes, own, file),
        *quantities.suda_lines(scores, sizes),
        *quantities.population_lines(sizes, reciprocal, population),
        *quantities.error_lines(cell_fraction, codes, sizes, own),
        *quantities.original_lines(fraction, codes, codes_of(original, names), settings),
        *quantities.people_lines(people, settings),
    ]  # fmt: skip
    unfound = _unfound(scores, sizes)
    return Assessed(
        _records(settings, file, scores, sizes, compared, definitions, reciprocal),
        pd.DataFrame([(name, format_value(value)) for name, value in lines], columns=["quantity", "value"]),
        _definitions(settings.dis_suda, definitions, reciprocal),
        pd.DataFrame(
            [
                (name, *message("hazards", *hazard))
                for name in DEFINITIONS
                for hazard in [*definitions[name].hazards, *unfound]
            ],
            columns=["definition", "hazard", "code", "fields"],
            dtype=str,
        ),
        _cells(sizes, own),
        suda.by_size(scores),
        _variables(codes, scores, names),
        _levels(scores, names, categories),
        _scores(scores.score),
        _classes(definitions, reciprocal),
        compared.table.round(DIGITS),
        uniques.conventions(uniques.without_category(codes, names, categories), ANONYMITY),
    )


def _collapsed(settings: AssessmentSettings, categories: pd.DataFrame) -> list[tuple[int, np.ndarray]]:
    """Return the position of each variable that has coarser codes, and the coarser code of each code."""
    tables = []
    for collapsing in settings.collapse:
        lines = categories[categories["variable"] == collapsing.variable]
        recode = Recoding(Coding("categorical", recode=collapsing.recode))
        coarse = [
            label if missing and not recode.names(label) else recode(label)
            for label, missing in zip(lines["label"], lines["missing"], strict=True)
        ]
        tables.append((settings.key.index(collapsing.variable), np.unique(coarse, return_inverse=True)[1]))
    return tables


def _cells(sizes: np.ndarray, settings: AssessmentSettings) -> pd.DataFrame:
    """Return the frequency of frequencies; where missing values match every value there are no cells."""
    table = uniques.partition_structure(sizes)
    return table.assign(n_cells=pd.array([pd.NA] * len(table), "Int64")) if settings.wildcard else table


def _unfound(scores: Suda, sizes: np.ndarray) -> list[Hazard]:
    """Return the remarks on a limited search, which makes both definitions unreliable."""
    n, largest = quantities.without_msu(scores, sizes), suda.largest_searched(scores)
    if not n:
        return []
    return [Hazard("unfound", {"n": n, "unique": uniques.n_unique(sizes), "largest": largest})]


def _records(
    settings: AssessmentSettings,
    file: pa.Table,
    scores: Suda,
    sizes: np.ndarray,
    compared: coarser.Coarser,
    definitions: dict[Definition, DisSuda],
    reciprocal: np.ndarray | None,
) -> pa.Table:
    front = list(settings.id) or [ROW]
    order = scores.msus.order
    words = pa.array(suda.in_words(scores.msus.variables, list(settings.key)), pa.string())
    data = {name: file[name] for name in front} | {
        "cell_size": pa.array(sizes),
        "unique": pa.array(sizes == 1),
        "special_unique": pa.array(compared.special),
        "n_msu": pa.array(scores.msus.counts.sum(axis=1, dtype=np.int64)),
        "min_msu": pa.array(order.astype(np.int32), mask=order == 0),
        "smallest_msu": words,
        "suda": pa.array(scores.score),
        "dis_suda": pa.array(definitions[settings.dis_suda].risk),
        "dis_suda_elliot_manning": pa.array(definitions["elliot-manning"].risk),
        "dis_suda_user_guide": pa.array(definitions["user-guide"].risk),
    }
    if reciprocal is not None:
        data["population_reciprocal"] = pa.array(reciprocal, mask=~np.isfinite(reciprocal))
    return pa.table({**data, "n_coarser": pa.array(compared.n_surviving)})


def _definitions(chosen: str, definitions: dict[Definition, DisSuda], reciprocal: np.ndarray | None) -> pd.DataFrame:
    lines = []
    for name, result in definitions.items():
        total = round(math.fsum(result.risk.tolist()), 9)  # of values to 12 decimals
        line = {
            "definition": name,
            "chosen": name == chosen,
            "U": result.n_unique,
            "P": result.n_in_pairs,
            "f": format_value(result.fraction),
            "Q": format_value(result.q),
            "dis": format_value(result.dis),
            "sum": format_value(total),
            "mean": format_value(round(total / result.n_unique, 9) if result.n_unique else None),
            "largest": format_value(float(result.risk.max(initial=0.0))),
            "n_one": int((result.risk >= 1).sum()),
            "correlation": "",
        }
        if reciprocal is not None:
            line["correlation"] = format_value(dis_suda.correlation(result.risk, reciprocal))
        lines.append(line)
    return pd.DataFrame(lines)


def _variables(codes: np.ndarray, scores: Suda, names: list[str]) -> pd.DataFrame:
    table = suda.by_variable(scores, names)
    return table.assign(
        n_levels=[len(np.unique(column[column >= 0])) for column in codes.T],
        n_missing=(codes < 0).sum(axis=0),
        n_alone=[int(levels[:, 1].sum()) for levels in scores.msus.by_level],
        contribution=table["contribution"].round(DIGITS),
    )


def _levels(scores: Suda, names: list[str], categories: pd.DataFrame) -> pd.DataFrame:
    """Return the levels that the file has, in the order of codes; a variable that is missing throughout has none."""
    tables = [
        categories[categories["variable"] == name].head(len(levels))
        for name, levels in zip(names, scores.msus.by_level, strict=True)
    ]
    table = suda.by_level(scores, names, [list(levels["label"]) for levels in tables])
    n_records = pd.concat(tables)["n_file"].astype(int).to_numpy()
    table = table.assign(n_records=n_records, contribution=table["contribution"].round(DIGITS))
    return table[n_records > 0].reset_index(drop=True)


def _scores(score: np.ndarray) -> pd.DataFrame:
    """Return records by the order of magnitude of their score; the first line is exactly 0."""
    most = float(score.max(initial=0.0))
    edges = [0.0, 1.0]
    while edges[-1] < most:
        edges.append(edges[-1] * 10)
    place = np.searchsorted(np.array(edges), score, side="left")
    n = np.bincount(place, minlength=len(edges))
    return pd.DataFrame({"above": [0.0, *edges[:-1]], "up_to": edges, "n_records": n[: len(edges)]})


def _classes(definitions: dict[Definition, DisSuda], reciprocal: np.ndarray | None) -> pd.DataFrame:
    parts = []
    for name, result in definitions.items():
        table = dis_suda.calibration(result.risk, np.ones(len(result.risk)))
        pooled = dis_suda.calibration(
            result.risk, np.full(len(result.risk), np.nan) if reciprocal is None else reciprocal
        )
        rates = pooled[["mean_reciprocal", "match_probability"]]
        parts.append(table.assign(definition=name, **rates))
    return pd.concat(parts, ignore_index=True).round(DIGITS)
