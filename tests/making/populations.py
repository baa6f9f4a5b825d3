"""Populations that are fully known: an intruder's file, a larger one, and the truth about both."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from reident.larger import thinning
from reident.larger.settings import ExtrapolationSettings, ThinningSettings
from reident.linkage import attack, strata
from reident.linkage.attack import AttackFiles
from reident.linkage.attack_settings import SearchSettings
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import ScoringContext
from reident.linkage.settings import OrderedVariable, StratificationSettings
from reident.sections.linkage import Binning
from scipy.special import ndtr

TIMES = 10
CATEGORIES = ((30, 1.0), (6, 0.5), (12, 1.2), (2, 0.0), (25, 0.8), (8, 1.5))
"""The number of categories of each categorical variable, and the exponent of Zipf's law that they follow."""


class Kind(NamedTuple):
    """What a population is like, and how it is attacked."""

    metric: str
    categorical: int
    numeric: int
    strata: int = 1
    missing: float = 0.0
    changed: float = 0.03
    noise: float = 0.03
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    people: int = 80_000
    n_puf: int = 8_000
    n_eif: int = 4_000


class Population(NamedTuple):
    """The tables of a study, those of one with a larger intruder's file, and what the metric takes."""

    study: AttackFiles
    larger: AttackFiles
    settings: ThinningSettings
    kind: Kind


def draw(kind: Kind, seed: int, times: int = TIMES) -> Population:
    """Draw a population, two samples for intruders, one so many times as large, and what they know, with errors."""
    rng = np.random.default_rng(seed)
    values = _values(kind, rng)
    values["region"] = rng.choice([f"{at}" for at in range(kind.strata)], kind.people).astype(object)
    released, known = ({**_with_errors(values, kind, rng, by)} for by in (0.0, kind.changed))
    order = rng.permutation(kind.people)
    puf = np.sort(rng.choice(kind.people, kind.n_puf, replace=False))
    study, larger = (_tables(released, known, puf, np.sort(order[: kind.n_eif * size])) for size in (1, times))
    names = [name for name in values if name != "region"]
    types = ["categorical" if values[name].dtype == object else "numeric" for name in names]
    variables = tuple(OrderedVariable(*pair) for pair in zip(names, types, strict=True))
    metrics = {kind.metric: REGISTRY[kind.metric].options.model_validate(kind.options)}
    return Population(study, larger, ThinningSettings(SearchSettings(variables, Binning(), metrics, 5, 20), 1), kind)


def _values(kind: Kind, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw values that depend on each other through one quality of a person."""
    common = rng.normal(size=kind.people)
    values: dict[str, np.ndarray] = {}
    for at, (n, exponent) in enumerate(CATEGORIES[: kind.categorical]):
        share = 1 / np.arange(1, n + 1) ** exponent
        place = ndtr(0.5 * common + np.sqrt(0.75) * rng.normal(size=kind.people))
        code = np.minimum(np.searchsorted(np.cumsum(share) / share.sum(), place), n - 1)
        values[f"c{at}"] = code.astype(str).astype(object)
    for at in range(kind.numeric):
        own = 0.5 * common + np.sqrt(0.75) * rng.normal(size=kind.people)
        values[f"x{at}"] = np.exp(3 + 0.6 * own)
    return values


def _with_errors(
    values: dict[str, np.ndarray], kind: Kind, rng: np.random.Generator, changed: float
) -> dict[str, pa.Array]:
    """Return the values as one of the files has them: some changed, with noise, some missing."""
    columns = {}
    for name, column in values.items():
        missing = rng.random(kind.people) < (0 if name == "region" else kind.missing)
        if column.dtype == object:
            other = rng.random(kind.people) < (0 if name == "region" else changed)
            columns[name] = pa.array(np.where(other, rng.permutation(column), column), pa.string(), mask=missing)
        else:
            noisy = np.round(column * np.exp(kind.noise * rng.normal(size=kind.people)), 1)
            columns[name] = pa.array(noisy, pa.float64(), mask=missing)
    return columns


def _tables(released: dict[str, pa.Array], known: dict[str, pa.Array], puf: np.ndarray, eif: np.ndarray) -> AttackFiles:
    files = {
        side: pa.table({name: column.take(pa.array(rows)) for name, column in source.items()})
        for side, source, rows in (("puf", released, puf), ("eif", known, eif))
    }
    _, *places = np.intersect1d(puf, eif, return_indices=True)
    iuf = pa.table({side: at.astype(np.int32) for side, at in zip(("puf", "eif"), places, strict=True)})
    made = strata.stratify(StratificationSettings(("region",), ("puf", "eif")), files["puf"], files["eif"], iuf)
    return AttackFiles(files, iuf, {"puf": made.puf, "eif": made.eif}, made.manifest)


def ranked_pairs(population: Population) -> pa.Table:
    """Return the ranked pairs of the study."""
    settings, files = population.settings.attack, population.study
    compared = attack.compare(settings, files)
    return pa.concat_tables(attack.suspect(settings, population.kind.metric, files, compared, ScoringContext()))


def counted(population: Population) -> pd.DataFrame:
    """Return the counts of the study and of parts of its intruder's file."""
    metric = population.kind.metric
    return thinning.thin(population.settings, metric, population.study, ranked_pairs(population), ScoringContext())


def truth(population: Population) -> dict[str, float]:
    """Return the rates of the intruder with the larger file, by quantity."""
    metric = population.kind.metric
    states = thinning.attacked(population.settings, metric, population.larger, ScoringContext())
    best = np.where(states.better == 0, states.own / np.maximum(states.rivals + states.own, 1), 0.0)
    return {"confirmed_rate": float((states.links > 0).mean()), "best_guess_rate": float(best.mean())}


def extrapolating(kind: Kind, *, declared: bool = True, times: int = TIMES) -> ExtrapolationSettings:
    """Return what the extrapolation takes."""
    limits = {kind.metric: 5 if REGISTRY[kind.metric].ranked else None}
    people = kind.people if declared else None
    return ExtrapolationSettings((kind.metric,), limits, (), 20, (float(times),), people, 0.95)
