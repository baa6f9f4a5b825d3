"""The simulated population is plausible, and the census of two local authorities has a survey inside it."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from reident.errors import InputError
from reident.simulation import populate, population
from reident.simulation.population import Streams
from reident.simulation.section import LocalAuthorities


@cache
def persons():
    table = pd.DataFrame(population.draw(12_000, Streams(7)))
    table["adult"] = table["age"] >= 18
    return table


def test_income_depends_on_education_occupation_hours_age_and_sex():
    workers = persons()[persons()["hours"] > 0]
    assert workers.groupby("education")["income"].median()[[2, 3, 4, 5]].is_monotonic_increasing
    pay = workers[workers["hours"] == 40].groupby("occupation")["income"].median()
    assert pay[2] > pay[3] > pay[4] > pay[9]
    assert workers["income"].corr(workers["hours"], method="spearman") > 0.4
    ages = workers.groupby(pd.cut(workers["age"], [15, 24, 39, 59]), observed=True)["income"].median()
    assert ages.is_monotonic_increasing
    assert workers.groupby("sex")["income"].median().is_monotonic_decreasing


@pytest.mark.parametrize("households", [1, 2, 3])
def test_the_smallest_populations(households):
    for seed in range(30):
        table = population.draw(households, Streams(seed))
        assert set(table["household"].tolist()) == set(range(households))
        assert {values.dtype for values in table.values()} == {np.dtype(np.int64)}


def drawn(**keys):
    return populate(LocalAuthorities(kind="local-authorities", **{"households": (600, 300), **keys}))


def test_the_files_depend_only_on_the_seed():
    first, again, other = drawn(), drawn(), drawn(seed=5)
    for side in ("population", "survey"):
        assert first[side].equals(again[side])
        assert not first[side].equals(other[side])


def test_the_survey_is_the_fraction_of_each_area():
    found = drawn(fraction=0.1)
    population, survey = (found[side]["AREA"].value_counts() for side in ("population", "survey"))
    assert survey.to_dict() == {area: round(0.1 * n) for area, n in population.items()}
    assert population["1"] > 1.5 * population["2"]


def test_a_fraction_that_selects_no_one_is_an_error():
    with pytest.raises(InputError, match=r"`simulate\.fraction` selects no one in at least one area"):
        drawn(households=(5, 5), fraction=0.001)
