"""The lines of ``filerisk/summary.csv`` (METHODS §7)."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from reident.filerisk import dis, dis_suda, matches, suda, uniques, wildcards
from reident.filerisk.prepare import WEIGHT
from reident.filerisk.settings import AssessmentSettings
from reident.filerisk.suda import Suda

ANONYMITY = (2, 3, 5)
DIGITS = 12

Quantities = list[tuple[str, float | int | str | None]]
"""Quantities by name."""


def format_value(value: float | int | str | None) -> str:
    """Return a quantity as in the table: whole numbers as such, others with 12 decimals, empty if undefined."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(round(value, DIGITS)) if isinstance(value, float) else str(value)


def cell_lines(codes: np.ndarray, sizes: np.ndarray, special: np.ndarray, settings: AssessmentSettings) -> Quantities:
    """Return counts of records, uniques, pairs and violations of k-anonymity."""
    n_unique, n_special = uniques.n_unique(sizes), int(special.sum())
    n_cells = None if settings.wildcard else int(uniques.partition_structure(sizes)["n_cells"].sum())
    return [
        ("records", len(codes)),
        ("key_variables", codes.shape[1]),
        ("records_in_cells", int((sizes > 0).sum())),
        ("records_missing_a_value", int((codes < 0).any(axis=1).sum())),
        ("cells", n_cells),
        ("U", n_unique),
        ("P", uniques.n_in_pairs(sizes)),
        *((f"violations_{k}_anonymity", uniques.k_anonymity_violations(sizes, k)) for k in ANONYMITY),
        ("n_special", n_special),
        ("n_random", n_unique - n_special),
        ("share_special", n_special / n_unique if n_unique else None),
    ]


def dis_lines(
    fraction: float, cell_fraction: float, codes: np.ndarray, settings: AssessmentSettings, file: pa.Table
) -> Quantities:
    """Return f and DIS by both forms, with the sampling fraction of the cells."""
    weight = settings.sampling_fraction is None
    special = _special(settings, cell_fraction, codes)
    return [
        ("f", fraction),
        ("f_from", f"mean weight {format_value(float(file[WEIGHT].to_numpy().mean()))}" if weight else "declared"),
        ("dis", special.general),
        *_special_lines("dis_special", special),
    ]


def _special(
    settings: AssessmentSettings, cell_fraction: float, codes: np.ndarray, original: np.ndarray | None = None
) -> dis.Special:
    """Return the special form; where records are matched by other values, it has a stream of its own."""
    fragment = matches.by_wildcard(codes, original) if settings.wildcard else matches.by_cell(codes, original)
    seed = settings.special.seed
    rng = np.random.default_rng(seed if original is None else [seed, 1])
    return dis.special(fragment, cell_fraction, rng, tolerance=settings.special.standard_error)


def _special_lines(name: str, special: dis.Special) -> Quantities:
    return [
        (name, special.estimate),
        (f"{name}_se", special.standard_error),
        (f"{name}_rounds", special.rounds),
        (f"{name}_ended_by", special.ended),
        (f"{name}_unique_matches", special.unique_matches),
        (f"{name}_correct_matches", special.correct_matches),
        (f"{name}_difference_in_se", special.difference),
    ]


def error_lines(cell_fraction: float, codes: np.ndarray, sizes: np.ndarray, settings: AssessmentSettings) -> Quantities:
    """Return the counts behind DIS, its standard error, which needs cells, and its interval."""
    complete = np.where((codes >= 0).all(axis=1), sizes, 0)
    n_unique, n_in_pairs, n_in_triples = (int((complete == size).sum()) for size in (1, 2, 3))
    n_pairs = wildcards.independent_pairs(codes, complete == 2) if settings.wildcard else None
    error = float("nan") if settings.wildcard else dis.sampling_error(n_unique, n_in_pairs, n_in_triples, cell_fraction)
    low, high = dis.interval(n_unique, n_in_pairs, cell_fraction, n_pairs)
    return [
        ("f_cells", cell_fraction),
        ("U_complete", n_unique),
        ("P_complete", n_in_pairs),
        ("T_complete", n_in_triples),
        ("dis_se", error),
        ("dis_low", low),
        ("dis_high", high),
    ]


def original_lines(
    fraction: float, codes: np.ndarray, original: np.ndarray, settings: AssessmentSettings
) -> Quantities:
    """Return DIS for an intruder who knows the values before perturbation."""
    if not len(original):
        return []
    complete = (original >= 0).all(axis=1)
    cell_fraction = fraction if settings.wildcard else dis.of_cells(fraction, float(complete.mean()))
    special = _special(settings, cell_fraction, codes, original)
    return [
        ("original_records_in_cells", int(complete.sum())),
        ("original_records_unchanged", int((complete & (codes == original).all(axis=1)).sum())),
        ("original_f_cells", cell_fraction),
        ("dis_original", special.general),
        *_special_lines("dis_original_special", special),
    ]


def people_lines(people: np.ndarray, settings: AssessmentSettings) -> Quantities:
    """Return the people of the population who are in its cells."""
    if not len(people):
        return []
    inside = len(people) if settings.wildcard else int((people >= 0).all(axis=1).sum())
    return [("population_records_in_cells", inside)]


def suda_lines(scores: Suda, sizes: np.ndarray) -> Quantities:
    """Return the results of the search for minimal sample uniques."""
    counts = scores.msus.counts.sum(axis=0, dtype=np.int64)
    return [
        ("n_msu", int(counts.sum())),
        ("records_with_msu", int((scores.msus.order > 0).sum())),
        ("largest_msu_searched", suda.largest_searched(scores)),
        ("max_suda", float(scores.score.max(initial=0.0))),
        ("sum_suda", suda.total_score(scores)),
        ("uniques_without_msu", without_msu(scores, sizes)),
    ]


def without_msu(scores: Suda, sizes: np.ndarray) -> int:
    """Sample uniques of which no MSU was found: none, unless the search is limited to sizes below that of the key."""
    return int(((sizes == 1) & (scores.msus.order == 0)).sum())


def population_lines(sizes: np.ndarray, reciprocal: np.ndarray | None, population: pa.Table) -> Quantities:
    """Return the uniques' sizes in the population: DIS estimates U / (population records in their cells)."""
    if reciprocal is None:
        return []
    unique_reciprocals = reciprocal[(sizes == 1) & np.isfinite(reciprocal)]
    return [
        ("population_records", population.num_rows),
        ("uniques_in_population", len(unique_reciprocals)),
        ("population_uniques", int((unique_reciprocals == 1).sum())),
        ("mean_reciprocal", float(unique_reciprocals.mean()) if len(unique_reciprocals) else None),
        ("true_match_probability", dis_suda.match_probability(unique_reciprocals)),
    ]
