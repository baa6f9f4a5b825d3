"""The simulated population is plausible: who lives together, who works, who earns what."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from reident.simulation import population
from reident.simulation.population import Streams


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
