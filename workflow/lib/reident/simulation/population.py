"""Draw a population of private households, with the variables that a survey asks each person.

The population is invented, but has the structure that matters for re-identification: persons of a household share
region, tenure and housing cost; partners resemble each other; education, occupation, hours and income depend on age,
sex and one another; amounts are skewed and often zero.

Every value is an integer: processors differ in the last bit of exp and log, and rounding removes the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

Table = dict[str, np.ndarray]
"""Columns of integers by name, all of the same length."""

SINGLE, COUPLE, FAMILY, LONE_PARENT, SHARERS = range(5)
HEAD, PARTNER, CHILD, SHARER = range(4)
MALE, FEMALE = 1, 2
NEVER_MARRIED, MARRIED, WIDOWED, DIVORCED = 1, 2, 3, 4
OWNED, MORTGAGED, RENTED, RENT_FREE = 1, 2, 3, 4

KIND_SHARES = (0.35, 0.31, 0.22, 0.07, 0.05)
HEAD_AGES = (
    ((33.0, 8.0), (68.0, 12.0)),
    ((32.0, 7.0), (65.0, 10.0)),
    ((36.0, 5.0), (46.0, 7.0)),
    ((34.0, 6.0), (44.0, 7.0)),
    ((24.0, 4.0), (29.0, 7.0)),
)
"""The mean and standard deviation of the age of younger and of older heads, by kind of household."""
YOUNGER_SHARES = (0.38, 0.30, 0.40, 0.40, 0.70)
CHILDREN_SHARES = (0.43, 0.39, 0.12, 0.04, 0.02)
SHARER_SHARES = (0.6, 0.3, 0.1)
MAX_AGE = 101

REGION_SHARES = (0.19, 0.16, 0.14, 0.13, 0.12, 0.11, 0.09, 0.06)
REGION_PRICES = (0.22, 0.10, 0.05, 0.0, -0.03, -0.08, -0.12, -0.16)
"""The logarithm of the level of pay and prices in regions 1 to 8."""

_VARIABLES = {
    "REGION": "region", "AGE": "age", "SEX": "sex", "MARSTAT": "marital_status", "HHSIZE": "household_size",
    "EDUC": "education", "OCC": "occupation", "HOURS": "hours", "INCOME": "income", "TENURE": "tenure",
    "HOUSCOST": "housing_cost", "HEALTH": "health",
}  # fmt: skip
"""The variables by the columns of a survey that have them."""

EDUCATION_CUTS = (-1.45, -0.65, 0.55, 1.25)
SKILL_CUTS = (-1.4, -0.35, 0.55, 1.05)
OCCUPATIONS = {
    MALE: (
        ((9,), (1.0,)),
        ((8, 7, 5), (0.40, 0.45, 0.15)),
        ((7, 4, 5, 6), (0.40, 0.25, 0.25, 0.10)),
        ((3,), (1.0,)),
        ((2, 1), (0.70, 0.30)),
    ),
    FEMALE: (
        ((9,), (1.0,)),
        ((5, 8, 7), (0.75, 0.15, 0.10)),
        ((4, 5, 6), (0.55, 0.40, 0.05)),
        ((3,), (1.0,)),
        ((2, 1), (0.82, 0.18)),
    ),
}
"""The major groups of ISCO-08 and their shares, by sex and increasing skill."""
PAY = (0.0, 0.38, 0.30, 0.12, -0.06, -0.18, -0.25, 0.0, -0.04, -0.32)
"""The logarithm of relative pay by major group; group 0 is no work."""


class Streams:
    """Generators by the name of a stage, from a seed that is not negative.

    The draws of a stage depend only on the seed and on its name: changing or adding a stage does not
    change the draws of the others.
    """

    def __init__(self, seed: int, prefix: str = "") -> None:
        self.seed = seed
        self.prefix = prefix

    def __call__(self, stage: str) -> np.random.Generator:
        """Return a new generator at the beginning of a stage's stream."""
        key = tuple(f"{self.prefix}{stage}".encode())
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))

    def within(self, part: str) -> Streams:
        """Return the streams of a part of the simulation, whose stages have names of their own."""
        return Streams(self.seed, f"{self.prefix}{part}/")


def draw(households: int, streams: Streams) -> Table:
    """Draw a population.

    Parameters
    ----------
    households : int
        At least 1.
    streams : Streams
        One stream for each group of variables.

    Returns
    -------
    dict of int64 (n_persons,)
        person, household (from 0), role, region (1–8), age, sex (1 male, 2 female), marital_status (1 never married,
        2 married, 3 widowed, 4 divorced), education (0 in compulsory school, 1 primary – 5 master's),
        occupation (major group of ISCO-08, 0 no work), hours (weekly), income (yearly), tenure
        (1 owned, 2 mortgaged, 3 rented, 4 rent-free), housing_cost (monthly), household_size, health
        (1 very good – 5 very bad). Persons are ordered by household, each with its head first.
    """
    persons, kind = _members(households, streams("households"), streams("members"))
    persons["marital_status"] = _marital_status(persons, kind, streams("marital_status"))
    background = streams("background").standard_normal(households)[persons["household"]]
    persons["education"], ability = _education(persons, background, streams("education"))
    working = _working(persons, streams("working"))
    persons["occupation"] = _occupation(persons, working, ability, streams("occupation"))
    persons["hours"] = _hours(persons, streams("hours"))
    persons["income"] = _income(persons, streams("income"))
    persons["tenure"], persons["housing_cost"] = _housing(persons, streams("housing"))
    decline = (persons["age"] - 45) / 30 + streams("health").standard_normal(len(ability))
    persons["health"] = 1 + np.searchsorted((-0.6, 0.7, 1.6, 2.4), decline)
    return persons


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def rows_of(table: Mapping[str, np.ndarray], rows: np.ndarray) -> Table:
    """Return some rows of a table."""
    return {name: values[rows] for name, values in table.items()}


def as_text(columns: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return columns as a data frame whose cells are all text."""
    return pd.DataFrame({name: cells.astype(str).astype(object) for name, cells in columns.items()}, dtype=str)


def pick(shares: Sequence[float], n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n positions from 0 to len(shares) − 1 with the given shares."""
    return np.searchsorted(np.cumsum(shares)[:-1], rng.random(n), side="right")


def columns(names: str) -> dict[str, str]:
    """Return the variables of columns of a survey, by the columns' names, in their order."""
    return {name: _VARIABLES[name] for name in names.split()}


def _adult(age: np.ndarray) -> np.ndarray:
    """Return whole years of at least 18; younger ages are mirrored at 18, which avoids a heap there."""
    return np.minimum(18 + np.abs(np.rint(age) - 18), MAX_AGE).astype(np.int64)


def _members(n: int, rng: np.random.Generator, each: np.random.Generator) -> tuple[Table, np.ndarray]:
    """Draw the persons of each household; return them with the kind of each person's household."""
    kind = pick(KIND_SHARES, n, rng)
    generation = (rng.random(n) >= np.take(YOUNGER_SHARES, kind)).astype(np.int64)
    mean, deviation = np.array(HEAD_AGES)[kind, generation].T
    head_age = _adult(mean + deviation * rng.standard_normal(n))
    region = 1 + pick(REGION_SHARES, n, rng)
    pair = np.isin(kind, (COUPLE, FAMILY))
    children = np.where(np.isin(kind, (FAMILY, LONE_PARENT)), 1 + pick(CHILDREN_SHARES, n, rng), 0)
    size = 1 + pair + children + np.where(kind == SHARERS, 1 + pick(SHARER_SHARES, n, rng), 0)

    household = np.repeat(np.arange(n), size)
    place = np.arange(len(household)) - np.repeat(np.cumsum(size) - size, size)
    kind, head_age = kind[household], head_age[household]
    others = [place == 0, np.isin(kind, (COUPLE, FAMILY)) & (place == 1), kind == SHARERS]
    role = np.select(others, [HEAD, PARTNER, SHARER], CHILD)
    persons = {
        "person": np.arange(len(household)),
        "household": household,
        "role": role,
        "region": region[household],
        "household_size": size[household],
        "sex": _sex(role, kind, head_age, household, each),
    }
    persons["age"] = _ages(persons, head_age, each)
    return persons, kind


def _of_role(persons: Table, role: int, values: np.ndarray, absent: int) -> np.ndarray:
    """Return for every person the value of the household's only member in a role, or `absent`."""
    out = np.full(persons["household"][-1] + 1, absent)
    member = persons["role"] == role
    out[persons["household"][member]] = values[member]
    return out[persons["household"]]


def _sex(
    role: np.ndarray, kind: np.ndarray, head_age: np.ndarray, household: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    head = [np.isin(kind, (COUPLE, FAMILY)), kind == LONE_PARENT, head_age > 60]
    male = np.where(role == HEAD, np.select(head, [0.6, 0.15, 0.34], 0.53), 0.51)
    sex = np.where(rng.random(len(role)) < male, MALE, FEMALE)
    head_sex = sex[role == HEAD][household]
    same = rng.random(len(role)) < 0.02
    return np.where(role == PARTNER, np.where(same, head_sex, MALE + FEMALE - head_sex), sex)


def _ages(persons: Table, head_age: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    role, n = persons["role"], len(head_age)
    gap = np.where(persons["sex"] == FEMALE, -2.0, 2.0) + 3.0 * rng.standard_normal(n)
    partner = _adult(head_age + np.where(role == PARTNER, gap, 0.0))
    youngest = np.minimum(head_age, _of_role(persons, PARTNER, partner, MAX_AGE))
    child = np.floor(rng.random(n) * (1 + np.minimum(24, youngest - 18)))
    sharer = _adult(head_age + 5.0 * rng.standard_normal(n))
    return np.select([role == HEAD, role == PARTNER, role == SHARER], [head_age, partner, sharer], child).astype(
        np.int64
    )


def _marital_status(persons: Table, kind: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the marital status: the same for both partners, by age for others, never married for children."""
    age, n = persons["age"], len(kind)
    head_age = _of_role(persons, HEAD, age, 0)
    wed = rng.random(persons["household"][-1] + 1)[persons["household"]] < 0.93 * _logistic((head_age - 31) / 5)
    widowed = np.clip((age - 52) / 45, 0, 0.85) * np.where(persons["sex"] == FEMALE, 1.0, 0.45)
    divorced = widowed + (1 - widowed) * np.clip((age - 27) / 35, 0, 0.5)
    u = rng.random(n)
    alone = np.select([u < widowed, u < divorced], [WIDOWED, DIVORCED], NEVER_MARRIED)
    couple = np.isin(persons["role"], (HEAD, PARTNER)) & np.isin(kind, (COUPLE, FAMILY))
    return np.select([couple & wed, persons["role"] == CHILD], [MARRIED, NEVER_MARRIED], alone)


def _education(persons: Table, taste: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the education that a person has at their age, and their ability; households share a background."""
    age = persons["age"]
    ability = 0.6 * taste + 0.8 * rng.standard_normal(len(age)) - 0.016 * (age - 45)
    reached = 1 + np.searchsorted(EDUCATION_CUTS, ability)
    return np.minimum(reached, np.select([age < 15, age < 18, age < 21, age < 24], [0, 2, 3, 4], 5)), ability


def _working(persons: Table, rng: np.random.Generator) -> np.ndarray:
    age, household = persons["age"], persons["household"]
    chance = np.interp(
        age, (16, 19, 22, 26, 54, 60, 64, 67, 72, 80), (-2.2, -0.8, 0.4, 1.9, 2.0, 1.1, -0.2, -2.0, -3.0, -6.0)
    )
    toddlers = np.bincount(household, weights=(persons["role"] == CHILD) & (age < 7))[household] > 0
    mother = toddlers & (persons["sex"] == FEMALE) & (persons["role"] != CHILD)
    return (age >= 16) & (rng.random(len(age)) < _logistic(chance + 0.35 * (persons["education"] - 3) - 0.9 * mother))


def _occupation(persons: Table, working: np.ndarray, ability: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n = len(ability)
    skill = np.searchsorted(
        SKILL_CUTS, 0.75 * (persons["education"] - 3) / 1.1 + 0.2 * ability + 0.6 * rng.standard_normal(n)
    )
    u = rng.random(n)
    occupation = np.zeros(n, np.int64)
    for sex, tiers in OCCUPATIONS.items():
        for tier, (groups, shares) in enumerate(tiers):
            here = working & (persons["sex"] == sex) & (skill == tier)
            occupation[here] = np.array(groups)[np.searchsorted(np.cumsum(shares)[:-1], u[here], side="right")]
    return occupation


def _hours(persons: Table, rng: np.random.Generator) -> np.ndarray:
    """Draw weekly hours, with a heap at 40 and smaller heaps of part-time work; 0 without work."""
    n, woman = len(persons["age"]), persons["sex"] == FEMALE
    mother = woman & np.isin(persons["role"], (HEAD, PARTNER)) & (persons["household_size"] >= 3)
    part = np.select([persons["age"] >= 65, persons["age"] < 20, mother, woman], [0.7, 0.6, 0.55, 0.33], 0.10)
    u, z = rng.random(n), rng.standard_normal(n)
    short = np.select([u < 0.35, u < 0.5], [20.0, 30.0], np.clip(np.rint(21 + 7 * z), 3, 34))
    full = np.select([u < 0.45, u < 0.6], [40.0, 38.0], np.clip(np.rint(39 + np.abs(5 * z)), 35, 80))
    full = full + np.where(persons["occupation"] == 1, 5, 0)
    hours = np.where(rng.random(n) < part, short, full)
    return np.where(persons["occupation"] > 0, hours, 0).astype(np.int64)


def _income(persons: Table, rng: np.random.Generator) -> np.ndarray:
    """Draw yearly incomes: earnings, otherwise a pension or benefits, otherwise 0."""
    age, education = persons["age"], persons["education"]
    n, price = len(age), np.take(REGION_PRICES, persons["region"] - 1)
    z, none = rng.standard_normal(n), rng.random(n)
    profile = -0.0007 * np.square(np.minimum(age, 65) - 50.0)
    pay = 10.45 + np.take(PAY, persons["occupation"]) + 0.12 * (education - 3) + profile + price
    pay += 0.9 * np.log(np.maximum(persons["hours"], 1) / 40) - 0.08 * (persons["sex"] == FEMALE) + 0.34 * z
    pension = 9.65 + 0.20 * (education - 2) + 0.30 * z
    benefit = 8.9 + 0.40 * z
    supported = none < np.where(age < 24, 0.2, 0.55)
    amount = np.exp(np.select([persons["occupation"] > 0, age >= 62], [pay, pension], benefit))
    has = (persons["occupation"] > 0) | (age >= 62) & (none < 0.97) | supported
    return np.where((age >= 16) & has, np.rint(amount), 0).astype(np.int64)


def _housing(persons: Table, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw tenure and monthly housing cost, which are the same for all persons of a household."""
    household = persons["household"]
    n = household[-1] + 1
    head = persons["role"] == HEAD
    age, size = persons["age"][head], persons["household_size"][head]
    price = np.take(REGION_PRICES, persons["region"][head] - 1)
    means = np.log(np.bincount(household, weights=persons["income"]) + 3000) - 10.6
    u, z = rng.random(n), rng.standard_normal(n)
    owner = rng.random(n) < _logistic((age - 42) / 13 + 1.0 * means)
    owned = u < np.clip((age - 38) / 30, 0.04, 0.95)
    tenure = np.select([owner & owned, owner, u < 0.95], [OWNED, MORTGAGED, RENTED], RENT_FREE)
    level = 6.45 + 1.2 * price + 0.15 * np.log(size) + 0.3 * means + np.where(tenure == MORTGAGED, 0.2, 0.0)
    cost = np.where(np.isin(tenure, (MORTGAGED, RENTED)), np.rint(np.exp(level + 0.25 * z)), 0).astype(np.int64)
    return tenure[household], cost[household]
