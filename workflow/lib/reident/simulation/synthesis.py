"""The files of a simulated release of synthetic data: a confidential survey, and its synthetic files.

An agency that fears for occupation and income releases, in place of the true ones, values drawn from
a model. The model is a hot deck: a person's occupation is that of a random person alike in sex,
education and age group, the income that of a random person of the drawn occupation, times noise. All
other variables are released as they are. Rows of all files correspond by their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reident.errors import InputError
from reident.sections.simulation import SyntheticSurvey
from reident.simulation import population, treatments
from reident.simulation.population import Table
from reident.simulation.streams import Streams

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "REGION": "region",
    "AGE": "age",
    "SEX": "sex",
    "MARSTAT": "marital_status",
    "HHSIZE": "household_size",
    "EDUC": "education",
    "TENURE": "tenure",
    "OCC": "occupation",
    "INCOME": "income",
    "HEALTH": "health",
}
"""Columns of every file."""

CONFIDENTIAL = "confidential"
NOT_STATED = "-9"
ADULT = 18
AGE_GROUP = 15


def synthesize(spec: SyntheticSurvey, file: str) -> pd.DataFrame:
    """Draw one file of the study.

    A pure function of `spec` and `file`: the same text in every cell on every machine.

    Parameters
    ----------
    spec : SyntheticSurvey
        The section `simulate` of the study.
    file : str
        ``confidential``, or ``synthetic_1`` … ``synthetic_m``.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`, all text; row i of every file is about the same person.

    Raises
    ------
    InputError
        If the population is too small for the survey.
    """
    import pandas as pd  # noqa: PLC0415 - reading a study, which has this section, must not wait for pandas

    streams = Streams(spec.seed)
    persons = _sample(spec, streams)
    if file != CONFIDENTIAL:
        persons = persons | _synthetic(persons, spec, streams.within(file))
    cells = {column: persons[name].astype(str) for column, name in COLUMNS.items()}
    absent = treatments.drawn(spec.records, spec.missing, streams("missing"))
    cells["INCOME"] = np.where(absent, NOT_STATED, cells["INCOME"])
    return pd.DataFrame({column: own.astype(object) for column, own in cells.items()}, dtype=str)


def _sample(spec: SyntheticSurvey, streams: Streams) -> Table:
    """Adults of the population, in no order, incomes rounded."""
    persons = population.draw(spec.households, streams.within("population"))
    adults = np.flatnonzero(persons["age"] >= ADULT)
    if len(adults) < spec.records:
        raise InputError(
            f"`simulate`: {spec.households:,} households have {len(adults):,} adults, fewer than `records` "
            f"({spec.records:,}); raise `households`."
        )
    chosen = streams("sample").permutation(adults)[: spec.records]
    survey = {name: values[chosen] for name, values in persons.items()}
    return survey | {"income": treatments.round_to(survey["income"], spec.rounding)}


def _synthetic(survey: Table, spec: SyntheticSurvey, streams: Streams) -> Table:
    """New occupations and incomes."""
    alike = [survey["sex"], survey["education"], survey["age"] // AGE_GROUP]
    occupation = survey["occupation"][draw_donors(alike, alike, streams("occupation"))]
    wide, narrow = [survey["occupation"]], [survey["occupation"], *alike[:2]]
    new_wide, new_narrow = [occupation], [occupation, *alike[:2]]
    donor = draw_donors(narrow, new_narrow, streams("income"))
    # Nobody of this sex and education has the drawn occupation: somebody of the occupation then.
    donor = np.where(donor < 0, draw_donors(wide, new_wide, streams("income/any")), donor)
    income = treatments.multiply_noise(survey["income"][donor], spec.noise, streams("noise"))
    return {"occupation": occupation, "income": treatments.round_to(income, spec.rounding)}


def draw_donors(
    held: Sequence[np.ndarray], asked: Sequence[np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """For each asker a random record with equal values of all variables.

    Parameters
    ----------
    held, asked : sequence of int arrays (n,)
        The same variables of those who give and of those who ask, whole numbers from 0.

    Returns
    -------
    int64 (n,)
        Positions; −1 where nobody is alike.
    """
    giver, taker = np.zeros(len(held[0]), np.int64), np.zeros(len(asked[0]), np.int64)
    for own, other in zip(held, asked, strict=True):
        size = int(max(own.max(initial=0), other.max(initial=0))) + 1
        giver, taker = giver * size + own, taker * size + other
    order = np.argsort(giver, kind="stable")
    start, stop = (np.searchsorted(giver[order], taker, side) for side in ("left", "right"))
    place = start + np.floor(rng.random(len(taker)) * (stop - start)).astype(np.int64)
    return np.where(stop > start, order[np.minimum(place, len(order) - 1)], -1)
