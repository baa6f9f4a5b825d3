"""Draw the files of a simulated release of synthetic data: a confidential survey and its synthetic files.

The agency replaces occupation and income by values from a model and releases all other variables unchanged. The model
is a hot deck: the occupation is that of a random person of the same sex, education and age group, and the income that
of a random person with the drawn occupation, multiplied by noise. The records of all files are in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from reident.errors import InputError
from reident.simulation import population, treatments
from reident.simulation.population import Streams, Table
from reident.simulation.section import SyntheticSurvey

COLUMNS = population.columns("REGION AGE SEX MARSTAT HHSIZE EDUC TENURE OCC INCOME HEALTH")
"""The columns of every file, with the variables of the population."""

CONFIDENTIAL, HOLDOUT = "confidential", "holdout"
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
        ``confidential``, ``synthetic_1`` … ``synthetic_m``, or ``holdout``.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`, all text; row i of every file but the holdout describes the same person.

    Raises
    ------
    InputError
        If the population is too small for the survey.
    """
    streams = Streams(spec.seed)
    sample, rest = _samples(spec, streams)
    if file == HOLDOUT:
        persons, streams = rest, streams.within(HOLDOUT)
    elif file == CONFIDENTIAL:
        persons = sample
    else:
        persons = sample | _synthetic(sample, spec, streams.within(file))
    cells = {column: persons[name].astype(str) for column, name in COLUMNS.items()}
    absent = treatments.drawn(len(persons["income"]), spec.missing, streams("missing"))
    cells["INCOME"] = np.where(absent, NOT_STATED, cells["INCOME"])
    return population.as_text(cells)


def _samples(spec: SyntheticSurvey, streams: Streams) -> tuple[Table, Table]:
    """Return the adults of the survey and those of the holdout, in random order, with rounded incomes."""
    persons = population.draw(spec.households, streams.within("population"))
    adults = np.flatnonzero(persons["age"] >= ADULT)
    if len(adults) < spec.records + spec.holdout:
        raise InputError(
            f"`simulate.records` and `simulate.holdout` must together be at most the number of adults "
            f"({len(adults):,}), but are {spec.records + spec.holdout:,}. Increase `households`."
        )
    order = streams("sample").permutation(adults)
    chosen = order[: spec.records], order[spec.records : spec.records + spec.holdout]
    surveys = [population.rows_of(persons, rows) for rows in chosen]
    first, rest = (one | {"income": treatments.round_to(one["income"], spec.rounding)} for one in surveys)
    return first, rest


def _synthetic(survey: Table, spec: SyntheticSurvey, streams: Streams) -> Table:
    """Draw new occupations and incomes."""
    alike = [survey["sex"], survey["education"], survey["age"] // AGE_GROUP]
    occupation = survey["occupation"][draw_donors(alike, alike, streams("occupation"))]
    wide, narrow = [survey["occupation"]], [survey["occupation"], *alike[:2]]
    new_wide, new_narrow = [occupation], [occupation, *alike[:2]]
    donor = draw_donors(narrow, new_narrow, streams("income"))
    # If no person of this sex and education has the drawn occupation, any person with the occupation is a donor.
    donor = np.where(donor < 0, draw_donors(wide, new_wide, streams("income/any")), donor)
    income = treatments.multiply_noise(survey["income"][donor], spec.noise, streams("noise"))
    return {"occupation": occupation, "income": treatments.round_to(income, spec.rounding)}


def draw_donors(donors: Sequence[np.ndarray], recipients: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Draw for each recipient a random donor with equal values of all variables.

    The variables are the same of donors and recipients, as integers from 0. The result is the positions of the donors,
    int64 (n,); −1 where there is none.
    """
    donor, recipient = np.zeros(len(donors[0]), np.int64), np.zeros(len(recipients[0]), np.int64)
    for given, wanted in zip(donors, recipients, strict=True):
        size = int(max(given.max(initial=0), wanted.max(initial=0))) + 1
        donor, recipient = donor * size + given, recipient * size + wanted
    order = np.argsort(donor, kind="stable")
    start, stop = (np.searchsorted(donor[order], recipient, side) for side in ("left", "right"))
    place = start + np.floor(rng.random(len(recipient)) * (stop - start)).astype(np.int64)
    return np.where(stop > start, order[np.minimum(place, len(order) - 1)], -1)
