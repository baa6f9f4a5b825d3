"""What each limit on one file is compared with where records miss a value of the key (METHODS §7.8).

No limit may pass over a record: each is compared on the values that it has, with the records that may be equal to it
(`wildcard`), and with those that are for sure (`sure`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.filerisk import individual, neighbours, profiles, wildcards
from reident.filerisk.estimates import INDIVIDUAL, significant
from reident.filerisk.prepare import HOUSEHOLD, codes_of, weighted
from reident.filerisk.quantities import DIGITS
from reident.filerisk.settings import (
    BELOW,
    BEYOND,
    INCOMPLETE,
    PLACE,
    POPULATION,
    SAMPLE,
    UNITS,
    LimitSettings,
    ThresholdSettings,
    of_units,
)
from reident.filerisk.uniques import without_category
from reident.filerisk.wildcards import COVERING, EITHER, WITHIN, Rule
from reident.linkage import categories
from reident.linkage.categories import measure_each

NAN = float("nan")

RULES: dict[str, Rule] = {"wildcard": EITHER, "sure": WITHIN}
"""The columns of the table, with the rule by which records match."""

Values = dict[tuple[str, str, str], float]
"""What a limit is compared with, by the limit, the scenario, variable or units that it is on, and the basis."""


class Files(NamedTuple):
    """The key of the file and of its population, and what else the file has."""

    codes: np.ndarray  # int32 (n, v), -1 for missing, also where it is a category
    people: np.ndarray  # int32 (N, v)
    weights: np.ndarray  # float64 (n,)
    unit: np.ndarray | None  # int (n,)
    targets: dict[str, np.ndarray]  # int32 (n,), -1 for missing: the sensitive variables with a limit
    places: dict[str, np.ndarray]  # the same of their places, where they are compared by their order


def judged(
    settings: ThresholdSettings, file: pa.Table, population: pa.Table, category_lines: pd.DataFrame, *, threads: int = 1
) -> pd.DataFrame:
    """Return what the limits of a study are compared with by `wildcard`, and by the sure matches alone.

    Parameters
    ----------
    settings : ThresholdSettings
    file, population : pyarrow.Table
        As :func:`reident.filerisk.prepare.prepare` makes them.
    category_lines : pandas.DataFrame
        Its `categories`.

    Returns
    -------
    DataFrame
        `limit`, `metric`, `basis`, `wildcard`, `sure`; no line for a limit on variables that no record misses.
    """
    names = list(settings.key)
    codes, people = (without_category(codes_of(table, names), names, category_lines) for table in (file, population))
    files = Files(
        codes,
        people,
        weighted(file, settings.sampling_fraction)[1],
        file[HOUSEHOLD].to_numpy() if settings.limits.units else None,
        {name: categories.codes_of(file[name]) for name in settings.limits.sensitive},
        {name: categories.codes_of(file[PLACE + name]) for name in settings.limits.ordered},
    )
    lines: dict[tuple[str, str, str], dict[str, float]] = {}
    for name, rule in RULES.items():
        for key, value in _values(settings, files, rule, threads).items():
            lines.setdefault(key, {})[name] = value
    table = [(*key, *(values.get(name, NAN) for name in RULES)) for key, values in lines.items()]
    return pd.DataFrame(table, columns=["limit", "metric", "basis", *RULES])


def _values(settings: ThresholdSettings, files: Files, rule: Rule, threads: int) -> Values:
    """Return what every limit is compared with where records match by a rule."""
    values, limits, place = Values(), settings.limits, {name: at for at, name in enumerate(settings.key)}
    if (files.codes < 0).any() or (files.people < 0).any():
        values.update(_of_records(limits, files, rule))
    if (files.codes < 0).any() and files.unit is not None:
        sizes = profiles.matching_units(files.codes, files.unit, rule)
        values.update(_of_the_file(limits, sizes, UNITS, ""))
    for name, keys in limits.scenarios:
        codes = files.codes[:, [place[key] for key in keys]]
        if (codes < 0).any():
            values["unique_share_at_most", name, ""] = _share(wildcards.matches(codes, codes, rule) == 1)
            if files.unit is not None:
                sizes = profiles.matching_units(codes, files.unit, rule)
                values["unique_share_at_most", of_units(name), ""] = _share(sizes == 1)
    return values | _of_targets(limits, files, place, rule, threads)


def _share(chosen: np.ndarray) -> float:
    return int(chosen.sum()) / len(chosen)


def _of_the_file(limits: LimitSettings, sizes: np.ndarray, metric: str, basis: str) -> Values:
    """Return what the limits are compared with that the file alone decides, by the matches of records or units."""
    values = _of_risks(limits, 1 / sizes, metric, basis)
    values["population_uniques_at_most", metric, basis] = int((sizes == 1).sum())
    values["k_map_at_least", metric, basis] = int(sizes.min())
    if limits.k is not None:
        values["k_anonymity_at_least", metric, ""] = int(sizes.min())
        values[BELOW, metric, ""] = _share(sizes < limits.k)
    return values


def _of_risks(limits: LimitSettings, risks: np.ndarray, metric: str, basis: str) -> Values:
    """Return what the limits on the risks of all records or units are compared with."""
    expected = individual.total(risks)
    values = {
        "largest_risk_at_most": round(float(risks.max()), DIGITS),
        "average_risk_at_most": round(expected / len(risks), DIGITS),
        "expected_reidentifications_at_most": significant(expected),
    }
    if limits.risk is not None:
        values["share_above"] = _share(np.round(risks, DIGITS) > limits.risk)
    return {(limit, metric, basis): value for limit, value in values.items()}


def _of_records(limits: LimitSettings, files: Files, rule: Rule) -> Values:
    """Return what the limits on the risk of records are compared with, on each basis."""
    sizes, weights = wildcards.counted_and_weighed(files.codes, files.weights, rule)
    values = _of_the_file(limits, sizes, "", SAMPLE)
    uniques = "population_uniques_at_most"
    if not len(files.people):
        values |= _of_risks(limits, individual.risk(sizes, weights), "", INDIVIDUAL)
        values[uniques, "", INCOMPLETE] = int(((sizes == 1) & (files.codes < 0).any(axis=1)).sum())
        return values
    possible = wildcards.matches(files.codes, files.people)
    # Whoever has all values of a record matches it for sure.
    counts = possible if rule == EITHER else wildcards.matches(files.codes, files.people, COVERING)
    people = np.where(counts > 0, counts, sizes)
    people = np.where(possible > 0, np.minimum(people, possible), people)
    values |= _of_risks(limits, 1 / people, "", POPULATION)
    values[uniques, "", POPULATION] = int(((sizes == 1) & (people == 1)).sum())
    values["k_map_at_least", "", POPULATION] = int(people.min())
    most = sizes if rule == EITHER else wildcards.matches(files.codes, files.codes)
    values["delta_presence_at_most", "", POPULATION] = round(float(np.minimum(1.0, most / people).max()), DIGITS)
    values[BEYOND, "", POPULATION] = n_beyond(files.codes, files.people)
    return values


def n_beyond(codes: np.ndarray, people: np.ndarray) -> int:
    """Return the records that the population cannot hold: those whose values more records than people have.

    Records with all values of one are of people who match it, so that the population must have as many.
    """
    return int((wildcards.matches(codes, people) < wildcards.matches(codes, codes, COVERING)).sum())


def _of_targets(limits: LimitSettings, files: Files, place: dict[str, int], rule: Rule, threads: int) -> Values:
    """Return the worst diversity of each sensitive variable, over all sets without it that some record misses."""
    pairs = [(name, keys) for name in limits.sensitive for keys in limits.sets if name not in keys]

    def run(pair: tuple[str, tuple[str, ...]]) -> neighbours.Diversity | None:
        name, keys = pair
        codes = files.codes[:, [place[key] for key in keys]]
        if not (codes < 0).any():
            return None
        return neighbours.diversity_of_matches(codes, files.targets[name], rule, files.places.get(name))

    values = Values()
    for (name, _), diversity in zip(pairs, measure_each(run, pairs, threads, None), strict=True):
        if diversity is None:
            continue
        for limit, value, worse in (
            ("l_diversity_at_least", diversity.distinct_l, np.fmin),
            ("t_closeness_at_most", diversity.t, np.fmax),
        ):
            key = limit, name, ""
            values[key] = float(worse(values.get(key, NAN), value))
    return values
