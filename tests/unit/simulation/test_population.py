"""The simulated population is plausible: who lives together, who works, who earns what."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from reident.simulation import population
from reident.simulation.streams import Streams


@cache
def persons():
    table = pd.DataFrame(population.draw(12_000, Streams(7)))
    table["adult"] = table["age"] >= 18
    return table


def _widowed(table, sex):
    old = table[(table["age"] >= 75) & (table["sex"] == sex)]
    return (old["marital_status"] == 3).mean()


def test_shares_are_those_of_a_european_country():
    table, adults = persons(), persons()[persons()["adult"]]
    for name, share, low, high in (
        ("children", (~table["adult"]).mean(), 0.15, 0.25),
        ("65 and older", (table["age"] >= 65).mean(), 0.13, 0.25),
        ("women", (table["sex"] == 2).mean(), 0.49, 0.53),
        (
            "at work at 25 to 54",
            (table[table["age"].between(25, 54)]["occupation"] > 0).mean(),
            0.75,
            0.9,
        ),
        ("widowed women of 75 and more", _widowed(table, 2), 0.25, 0.75),
        ("adults without income", (adults["income"] == 0).mean(), 0.05, 0.2),
        ("persons without housing cost", (table["housing_cost"] == 0).mean(), 0.2, 0.4),
        ("workers with exactly 40 hours", (table[table["hours"] > 0]["hours"] == 40).mean(), 0.25, 0.5),
    ):
        assert low < share < high, name
    assert _widowed(table, 1) < _widowed(table, 2)
    assert table["region"].value_counts().sort_index().is_monotonic_decreasing
    assert set(table["region"]) == set(range(1, 9))


def test_amounts_are_skewed():
    for name in ("income", "housing_cost"):
        some = persons()[name][persons()[name] > 0]
        assert some.skew() > 1, name
        assert some.mean() > some.median(), name


def test_income_depends_on_education_occupation_hours_age_and_sex():
    workers = persons()[persons()["hours"] > 0]
    assert workers.groupby("education")["income"].median()[[2, 3, 4, 5]].is_monotonic_increasing
    pay = workers[workers["hours"] == 40].groupby("occupation")["income"].median()
    assert pay[2] > pay[3] > pay[4] > pay[9]
    assert workers["income"].corr(workers["hours"], method="spearman") > 0.4
    ages = workers.groupby(pd.cut(workers["age"], [15, 24, 39, 59]), observed=True)["income"].median()
    assert ages.is_monotonic_increasing
    assert workers.groupby("sex")["income"].median().is_monotonic_decreasing


def test_children_have_no_work_no_income_and_no_partner():
    children = persons()[persons()["age"] < 16]
    assert (children[["occupation", "hours", "income"]] == 0).all(axis=None)
    assert (children["marital_status"] == 1).all()
    assert (persons()[persons()["age"] < 15]["education"] == 0).all()
    assert (persons()[persons()["adult"]]["education"] > 0).all()


def test_persons_work_if_and_only_if_they_have_hours():
    assert ((persons()["occupation"] == 0) == (persons()["hours"] == 0)).all()
    assert (persons()[persons()["hours"] > 0]["income"] > 0).all()


def test_persons_of_a_household_share_its_variables():
    homes = persons().groupby("household")
    shared = homes[["region", "tenure", "housing_cost", "household_size"]]
    assert shared.min().equals(shared.max())
    assert (homes["household_size"].first() == homes.size()).all()
    assert (homes["role"].first() == population.HEAD).all()
    free = persons()["tenure"].isin([population.OWNED, population.RENT_FREE])
    assert ((persons()["housing_cost"] == 0) == free).all()


def test_couples_are_similar_in_age_and_education_and_have_one_marital_status():
    head = persons()[persons()["role"] == population.HEAD].set_index("household")
    partner = persons()[persons()["role"] == population.PARTNER].set_index("household")
    head = head.loc[partner.index]
    gap = (head["age"] - partner["age"]).abs()
    assert gap.median() <= 4
    assert gap.quantile(0.99) <= 12
    assert head["education"].corr(partner["education"]) > 0.25
    assert ((head["marital_status"] == 2) == (partner["marital_status"] == 2)).all()
    assert (persons()["marital_status"] == 2).sum() == 2 * (partner["marital_status"] == 2).sum()
    assert partner["adult"].all()


def test_children_are_younger_than_their_parents():
    table = persons()
    parents = table[table["role"].isin([population.HEAD, population.PARTNER])]
    youngest = table["household"].map(parents.groupby("household")["age"].min())
    child = table["role"] == population.CHILD
    assert (youngest[child] - table["age"][child] >= 18).all()


@pytest.mark.parametrize("households", [1, 2, 3])
def test_the_smallest_populations(households):
    for seed in range(30):
        table = population.draw(households, Streams(seed))
        assert set(table["household"].tolist()) == set(range(households))
        assert {values.dtype for values in table.values()} == {np.dtype(np.int64)}
