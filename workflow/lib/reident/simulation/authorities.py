"""Draw the census of two local authorities and a survey of them, for the numerical study of DIS-SUDA (METHODS §7).

Elliot and Manning (2003) used the 1991 census records of two British local authorities, which are not public. This
population replaces them: persons in households, with twelve variables as a census codes them, in two authorities that
differ in size and in their population.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reident.errors import InputError
from reident.simulation import population
from reident.simulation.population import Streams, Table
from reident.simulation.section import LocalAuthorities

KEY = (
    "AGE", "SEX", "MARSTAT", "RELAT", "HHSIZE", "TENURE", "ROOMS", "CARS", "EDUC", "ECON", "OCC", "ILLNESS",
)  # fmt: skip
"""The twelve variables of the census."""

MAX_AGE_GROUP = 17
MAX_HOUSEHOLD = 6
MAX_ROOMS = 8
MAX_CARS = 3
WORKING_AGE, PENSION_AGE, FULL_TIME = 16, 65, 30
NOT_WORKING_AGE, FULL, PART, RETIRED, OTHER = range(5)


def populate(spec: LocalAuthorities) -> dict[str, pd.DataFrame]:
    """Draw the population and the survey, a pure function of the section: the same text in every cell on every machine.

    Returns
    -------
    dict of pandas.DataFrame
        ``population``: AREA (1, 2) and :data:`KEY`, one row per person. ``survey``: SERIAL and the same columns for
        the rounded fraction of each area, in random order. All cells are text.

    Raises
    ------
    InputError
        If the fraction selects no one in an area.
    """
    streams = Streams(spec.seed)
    areas: list[Table] = [_area(n, streams.within(f"area {at}"), at) for at, n in enumerate(spec.households, start=1)]
    names = ["AREA", *KEY]
    people = {name: np.concatenate([area[name] for area in areas]) for name in names}
    sampled = _sample(people["AREA"], spec.fraction, streams("survey"))
    survey = {"SERIAL": np.arange(1, len(sampled) + 1)} | population.rows_of(people, sampled)
    return {"population": population.as_text(people), "survey": population.as_text(survey)}


def _sample(area: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of the persons in the survey."""
    parts = [np.flatnonzero(area == one) for one in np.unique(area)]
    sizes = [round(fraction * len(part)) for part in parts]
    if not all(sizes):
        raise InputError(
            "`simulate.fraction` selects no one in at least one area. Increase it, or increase `households`."
        )
    chosen = [rng.choice(part, size, replace=False) for part, size in zip(parts, sizes, strict=True)]
    return rng.permutation(np.concatenate(chosen))


def _area(households: int, streams: Streams, area: int) -> Table:
    """Return the persons of one authority with the twelve variables."""
    persons = population.draw(households, streams)
    age, hours = persons["age"], persons["hours"]
    econ = np.select(
        [age < WORKING_AGE, hours >= FULL_TIME, hours > 0, age >= PENSION_AGE],
        [NOT_WORKING_AGE, FULL, PART, RETIRED],
        OTHER,
    )
    return {
        "AREA": np.full(len(age), area),
        "AGE": np.minimum(age // 5, MAX_AGE_GROUP),
        "SEX": persons["sex"],
        "MARSTAT": persons["marital_status"],
        "RELAT": persons["role"] + 1,
        "HHSIZE": np.minimum(persons["household_size"], MAX_HOUSEHOLD),
        "TENURE": persons["tenure"],
        "ROOMS": _rooms(persons, streams("rooms")),
        "CARS": _cars(persons, streams("cars")),
        "EDUC": persons["education"],
        "ECON": econ,
        "OCC": persons["occupation"],
        "ILLNESS": (persons["health"] >= 4).astype(np.int64),
    }


def _rooms(persons: Table, rng: np.random.Generator) -> np.ndarray:
    """Return the rooms of the household's dwelling, 1 to 8: more for larger households and for owners."""
    head = persons["role"] == population.HEAD
    owner = np.isin(persons["tenure"][head], (population.OWNED, population.MORTGAGED))
    level = 2.6 + 0.55 * persons["household_size"][head] + 1.1 * owner
    rooms = np.rint(level + 1.1 * rng.standard_normal(int(head.sum())))
    return np.clip(rooms, 1, MAX_ROOMS).astype(np.int64)[persons["household"]]


def _cars(persons: Table, rng: np.random.Generator) -> np.ndarray:
    """Return the cars of the household, 0 to 3: more with more income and more adults."""
    household = persons["household"]
    means = np.bincount(household, weights=persons["income"]) / 40_000
    adults = np.bincount(household, weights=persons["age"] >= 18)
    level = np.sqrt(means) * 0.9 + 0.35 * (adults - 1)
    cars = np.floor(level + rng.random(len(level)) - 0.1)
    return np.clip(cars, 0, MAX_CARS).astype(np.int64)[household]
