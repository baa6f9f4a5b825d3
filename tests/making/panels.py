"""Right descriptions of two waves of simulated panels, and mistakes in them (METHODS §1.1).

The files differ as those of real panels do: people age and move, amounts grow, jobs and codes change, answers are
heaped, rounded, given by proxies or missing in one file, and the file to be released is protected. Where a number moves
by one amount for everybody, as ages do, it is converted, and codes are recoded, as the study would declare it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import NamedTuple

import numpy as np
import pandas as pd
from making.descriptions import KINDS, Described

People = dict[str, np.ndarray]
NUMBER, CODE, DATE = "numeric", "categorical", "date"


class Panel(NamedTuple):
    """People of a panel: their values in both waves, and the types of these."""

    first: People
    second: People
    types: dict[str, str]


class Wave:
    """Draws of what happens to `n` people within some years."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng, self.n = rng, n
        self.years = float(rng.choice([0, 0.25, 1, 2, 4, 7]))
        self.ability = rng.normal(size=n)

    def code(self, k: int, tie: float = 0.5, weights: np.ndarray | None = None) -> np.ndarray:
        """Codes 1 to k, tied to ability."""
        shares = self.rng.dirichlet(np.full(k, 3.0)) if weights is None else weights
        rank = pd.Series(tie * self.ability + self.rng.normal(size=self.n)).rank(pct=True).to_numpy()
        return np.searchsorted(np.cumsum(shares)[:-1], rank) + 1.0

    def changed(self, codes: np.ndarray, a_year: float, error: float = 0.02, near: bool = False) -> np.ndarray:
        """The codes some years later: some people change, and some answers are wrong."""
        share = 1 - (1 - a_year) ** self.years * (1 - error)
        k = np.nanmax(codes)
        beside = np.clip(codes + self.rng.choice([-1, 1], self.n), 1, k)
        new = beside if near else codes[self.rng.permutation(self.n)]
        return np.where(self.rng.random(self.n) < share, new, codes)

    def amount(self, level: float, spread: float, tie: float = 0.6) -> np.ndarray:
        """Amounts around a level."""
        return level * np.exp(spread * (tie * self.ability + np.sqrt(1 - tie**2) * self.rng.normal(size=self.n)))

    def moved(self, amounts: np.ndarray, growth: float = 0.03, noise: float = 0.15) -> np.ndarray:
        """Amounts some years later."""
        spread = noise * np.sqrt(0.3 + self.years)
        return amounts * (1 + growth) ** self.years * np.exp(self.rng.normal(0, spread, self.n))

    def heaped(self, values: np.ndarray, step: float, share: float = 0.6) -> np.ndarray:
        """Values of which some are rounded, as people answer."""
        return np.where(self.rng.random(self.n) < share, np.round(values / step) * step, values)

    def zero(self, values: np.ndarray, zero: np.ndarray) -> np.ndarray:
        """Values of those who have any."""
        return np.where(zero, 0.0, values)

    def misreported(self, values: np.ndarray, share: float = 0.03, by: float = 1.0) -> np.ndarray:
        """Values of which some are off by a little, as proxies give them."""
        return values + np.where(self.rng.random(self.n) < share, self.rng.choice([-2, -1, 1, 2], self.n) * by, 0)

    def age(self, low: int = 18, high: int = 88) -> tuple[np.ndarray, np.ndarray]:
        """Ages of both waves, of which the later are converted to the earlier date, as birthdays allow."""
        age = self.rng.integers(low, high, self.n).astype(float)
        birthday = self.rng.random(self.n) < (self.years % 1)
        return age, self.misreported(age + birthday, 0.02)


def labour(rng: np.random.Generator, n: int) -> Panel:
    """A labour force survey: jobs, hours, wages."""
    wave = Wave(rng, n)
    age, later = wave.age(15, 80)
    works = rng.random(n) < np.where(age < 65, 0.75, 0.1)
    still = np.where(rng.random(n) < 1 - 0.9 ** (0.2 + wave.years), rng.random(n) < works.mean(), works)
    hours = wave.heaped(np.clip(rng.normal(38, 9, n).round(), 1, 80), 5, 0.7)
    hours = np.where(rng.random(n) < 0.35, 40, hours)
    hours2 = np.where(rng.random(n) < 0.5, hours, np.clip(hours + rng.normal(0, 6, n).round(), 1, 80))
    wage = wave.amount(2400, 0.5)
    wage2 = wave.moved(wage, 0.03, 0.12)
    tenure = np.round(rng.exponential(9, n))
    new = np.round(rng.exponential(1, n)) - np.floor(wave.years)  # converted to the first wave, as all are
    tenure2 = np.where(rng.random(n) < 0.85**wave.years, tenure, new)
    first = {"age": age, "sex": wave.code(2, 0.0), "education": wave.code(6, 0.9), "works": works + 1.0}
    second = {"age": later, "sex": first["sex"], "education": wave.changed(first["education"], 0.03, 0.06, near=True)}
    second["works"] = still + 1.0
    first |= {"hours": wave.zero(hours, ~works), "wage": np.where(works, wave.heaped(wage.round(), 50), np.nan)}
    second |= {"hours": wave.zero(hours2, ~still), "wage": np.where(still, wave.heaped(wage2.round(), 100), np.nan)}
    first |= {"tenure": np.where(works, tenure, np.nan), "occupation": np.where(works, wave.code(9, 0.7), np.nan)}
    occupation = np.where(np.isnan(first["occupation"]), wave.code(9, 0.7), first["occupation"])
    second |= {"tenure": np.where(still, tenure2, np.nan)}
    second |= {"occupation": np.where(still, wave.changed(occupation, 0.1, 0.12), np.nan)}
    first["marital"] = wave.code(4, 0.1, np.array([0.3, 0.5, 0.12, 0.08]))
    second["marital"] = wave.changed(first["marital"], 0.03, 0.01)
    types = dict.fromkeys(("age", "hours", "wage", "tenure"), NUMBER)
    return Panel(first, second, _ordered(types, first))


def register(rng: np.random.Generator, n: int) -> Panel:
    """Survey answers on incomes, and a tax register of the same people."""
    wave = Wave(rng, n)
    age, later = wave.age(20, 90)
    gross = wave.amount(30_000, 0.7)
    told = wave.heaped(np.round(gross * np.exp(rng.normal(-0.03, 0.12, n)), -2), 1000, 0.7)
    capital = wave.zero(np.round(wave.amount(900, 1.5, 0.4)), rng.random(n) < 0.6)
    told_capital = np.where(rng.random(n) < 0.35, 0, np.round(capital * np.exp(rng.normal(0, 0.4, n)), -1))
    children = rng.poisson(1.1, n).clip(0, 6).astype(float)
    deduction = wave.zero(np.round(wave.amount(2500, 0.8, 0.3)), rng.random(n) < 0.4)
    first = {"age": age, "gross": told, "capital": told_capital, "children": children, "sex": wave.code(2, 0)}
    first |= {"status": wave.code(5, 0.3), "commute": wave.zero(np.round(wave.amount(15, 0.8, 0)), rng.random(n) < 0.3)}
    second = {"age": later, "gross": wave.moved(gross, 0.02, 0.03).round(), "capital": capital}
    second |= {"children": wave.misreported(children, 0.04).clip(0), "sex": first["sex"]}
    second |= {"status": wave.changed(first["status"], 0.02, 0.05)}
    second |= {"commute": wave.misreported(first["commute"], 0.3, 2.0).clip(0)}
    first["deduction"], second["deduction"] = wave.heaped(deduction, 500, 0.5), wave.moved(deduction, 0, 0.25).round()
    numbers = dict.fromkeys(("age", "gross", "capital", "children", "commute", "deduction"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def health(rng: np.random.Generator, n: int) -> Panel:
    """An interview and an examination: heights, weights, blood pressure."""
    wave = Wave(rng, n)
    age, later = wave.age(18, 85)
    sex = wave.code(2, 0)
    height = rng.normal(np.where(sex == 1, 178, 165), 7)
    weight = np.exp(rng.normal(np.log(height * 0.43), 0.17))
    pressure = rng.normal(105 + 0.45 * age, 13)
    first = {"age": age, "sex": sex, "height": (height + rng.normal(0.5, 1.5, n)).round()}
    second = {"age": later, "sex": sex, "height": (height + rng.normal(0, 0.6, n)).round(1)}
    first["weight"] = wave.heaped((weight - 1.2 + rng.normal(0, 2, n)).round(), 5, 0.4)
    second["weight"] = wave.moved(weight, 0.003, 0.03).round(1)
    first["pressure"] = wave.heaped((pressure + rng.normal(0, 9, n)).round(), 10, 0.4)
    second["pressure"] = (pressure + rng.normal(0, 9, n)).round()
    visits = rng.negative_binomial(1, 0.2, n).astype(float)
    first["visits"] = wave.heaped(visits, 5, 0.2)
    second["visits"] = np.where(rng.random(n) < 0.3, visits, rng.poisson(visits * 0.6 + 1))
    first["smokes"], first["health"] = wave.code(3, -0.4), wave.code(5, 0.6)
    second["smokes"] = wave.changed(first["smokes"], 0.05, 0.04)
    second["health"] = wave.changed(wave.changed(first["health"], 0, 0.4, near=True), 0.05, 0.05)
    first["region"] = wave.code(7, 0)
    second["region"] = wave.changed(first["region"], 0.02, 0)
    return Panel(
        first, second, _ordered(dict.fromkeys(("age", "height", "weight", "pressure", "visits"), NUMBER), first)
    )


def school(rng: np.random.Generator, n: int) -> Panel:
    """Pupils in two years: scores on one scale, days absent, background."""
    wave = Wave(rng, n)
    growth = 4 * wave.years
    maths, reading = (100 + 15 * (0.8 * wave.ability + 0.6 * rng.normal(size=n)) for _ in range(2))
    absent = rng.negative_binomial(1, 0.12, n).astype(float)
    born = 730_000 + rng.integers(0, 500, n).astype(float)
    first = {"born": born, "maths": maths.round(), "reading": reading.round(), "absent": absent, "sex": wave.code(2, 0)}
    second = {"born": wave.misreported(born, 0.01, 10.0), "maths": (maths + growth + rng.normal(0, 7, n)).round()}
    second |= {"reading": (reading + growth + rng.normal(0, 8, n)).round(), "absent": rng.poisson(0.5 * absent + 3)}
    second |= {"sex": first["sex"]}
    first |= {"books": wave.code(5, 0.6), "meals": wave.code(2, 0.7, np.array([0.25, 0.75]))}
    first |= {"language": wave.code(6, 0.1, np.array([0.72, 0.08, 0.07, 0.06, 0.04, 0.03]))}
    for name, change in (("books", 0.1), ("meals", 0.05), ("language", 0.0)):
        second[name] = wave.changed(first[name], change, 0.03)
    types = dict.fromkeys(("maths", "reading", "absent"), NUMBER) | {"born": DATE}
    return Panel(first, second, _ordered(types, first))


def firms(rng: np.random.Generator, n: int) -> Panel:
    """Firms in two years: staff, turnover, investment, exports."""
    wave = Wave(rng, n)
    staff = np.maximum(np.round(wave.amount(14, 1.3, 0.8)), 1)
    turnover = staff * np.exp(rng.normal(4.6, 0.7, n))
    invests = rng.random((2, n)) < np.where(rng.random(n) < 0.5, 0.8, 0.25)
    exports = np.where(rng.random(n) < 0.6, 0, np.round(100 * rng.beta(1, 3, n)))
    first = {"staff": staff, "turnover": turnover.round(1), "exports": exports, "industry": wave.code(12, 0.2)}
    second = {"staff": np.maximum(np.round(wave.moved(staff, 0.01, 0.1)), 1)}
    second |= {"turnover": wave.moved(turnover, 0.04, 0.15).round(1), "industry": wave.changed(first["industry"], 0.01)}
    second["exports"] = np.where(rng.random(n) < 0.6, exports, np.clip(exports + rng.normal(0, 8, n).round(), 0, 100))
    first["investment"] = wave.zero((0.06 * turnover * np.exp(rng.normal(0, 1, n))).round(1), ~invests[0])
    second["investment"] = wave.zero((0.06 * turnover * np.exp(rng.normal(0, 1, n))).round(1), ~invests[1])
    first["founded"] = np.round(2005 - rng.exponential(18, n))
    second["founded"] = wave.misreported(first["founded"], 0.05)
    first["form"] = wave.code(4, 0.4)
    second["form"] = wave.changed(first["form"], 0.01, 0.02)
    numbers = dict.fromkeys(("staff", "turnover", "exports", "investment", "founded"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def elderly(rng: np.random.Generator, n: int) -> Panel:
    """People over fifty: limitations, recall, grip strength, wealth, with proxies."""
    wave = Wave(rng, n)
    age, later = wave.age(50, 98)
    frail = (age - 70) / 12 - 0.5 * wave.ability + rng.normal(size=n)
    frail2 = frail + 0.1 * wave.years + rng.normal(0, 0.6, n)
    grip, sex = rng.normal(34, 7, n) - 2 * frail, wave.code(2, 0)
    wealth = rng.normal(0, 1, n) ** 3 * 60_000 + wave.amount(90_000, 1.0)
    first = {"age": age, "sex": sex, "limits": np.clip(np.round(frail - 0.5), 0, 6), "grip": grip.round()}
    second = {"age": later, "sex": sex, "limits": np.clip(np.round(frail2 - 0.5), 0, 6)}
    second["grip"] = (grip - 0.5 * wave.years + rng.normal(0, 4, n)).round()
    recall = np.clip(np.round(10 - frail + rng.normal(0, 2, n)), 0, 20)
    first["recall"] = recall
    second["recall"] = np.clip(recall + np.round(rng.normal(-0.2 * wave.years, 2.5, n)), 0, 20)
    first["wealth"] = wave.heaped(wealth.round(-2), 10_000, 0.5)
    second["wealth"] = wave.heaped((wealth * np.exp(rng.normal(0, 0.3, n))).round(-2), 10_000, 0.5)
    children = rng.poisson(2.1, n).clip(0, 9).astype(float)
    first["children"], second["children"] = children, wave.misreported(children, 0.04).clip(0)
    first["partner"] = wave.code(3, 0.2)
    second["partner"] = wave.changed(first["partner"], 0.04, 0.01)
    first["sight"] = wave.code(5, 0.3)
    second["sight"] = wave.changed(first["sight"], 0.1, 0.5, near=True)
    numbers = dict.fromkeys(("age", "limits", "grip", "recall", "wealth", "children"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def diary(rng: np.random.Generator, n: int) -> Panel:
    """Expenditure in two diaries: many zeros, little that lasts."""
    wave = Wave(rng, n)
    size = 1.0 + rng.poisson(1.4, n).clip(0, 7)
    first = {"size": size, "rooms": np.clip(size + rng.poisson(1.5, n), 1, 12), "tenure": wave.code(3, 0.7)}
    second = {"size": wave.misreported(size, 1 - 0.93 ** (wave.years + 0.2)).clip(1)}
    second["rooms"] = wave.misreported(first["rooms"], 0.2).clip(1)
    second["tenure"] = wave.changed(first["tenure"], 0.04, 0.01)
    for name, level, none, noise in (("food", 90, 0.01, 0.4), ("fuel", 40, 0.25, 0.6), ("clothes", 60, 0.5, 0.9)):
        lasting = wave.amount(level, 0.5) * np.sqrt(size)
        seldom = none + (1 - none) * (rng.random(n) < none) - 0.9 * none * (rng.random(n) > none)
        for people in (first, second):
            spent = (lasting * np.exp(rng.normal(0, noise, n))).round(2)
            people[name] = wave.zero(spent, rng.random(n) < seldom)
    income = wave.amount(2800, 0.6) * size**0.4
    first["income"], second["income"] = wave.heaped(income.round(-1), 500, 0.5), wave.moved(income, 0.03, 0.2).round(-1)
    first["area"] = wave.code(6, 0.1)
    second["area"] = wave.changed(first["area"], 0.02, 0)
    cars = np.clip(rng.poisson(np.exp(0.3 * wave.ability)), 0, 4).astype(float)
    first["cars"], second["cars"] = cars, wave.misreported(cars, 0.1 + 0.03 * wave.years).clip(0)
    numbers = dict.fromkeys(("size", "rooms", "food", "fuel", "clothes", "income", "cars"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def farms(rng: np.random.Generator, n: int) -> Panel:
    """Farms in two years: areas, animals, harvests and prices that move."""
    wave = Wave(rng, n)
    area = wave.amount(30, 0.9)
    cows = wave.zero(np.round(area * np.exp(rng.normal(-0.4, 0.5, n))), rng.random(n) < 0.5)
    milk = cows * np.exp(rng.normal(3.8, 0.2, n))
    harvest = float(rng.uniform(0.75, 1.3))
    wheat = wave.zero(area * np.exp(rng.normal(1.2, 0.4, n)), rng.random(n) < 0.35)
    first = {"area": area.round(1), "cows": cows, "milk": milk.round(1), "wheat": wheat.round()}
    second = {"area": np.where(rng.random(n) < 0.7, area, wave.moved(area, 0.01, 0.05)).round(1)}
    second |= {"cows": np.round(wave.moved(cows, 0.01, 0.1)), "milk": wave.moved(milk, 0.02, 0.08).round(1)}
    second |= {"wheat": wave.moved(wheat * harvest, 0, 0.2).round()}
    first["labour"] = np.round(1 + 0.02 * area + rng.exponential(0.5, n), 1)
    second["labour"] = wave.heaped(wave.moved(first["labour"], 0, 0.1).round(1), 0.5, 0.4)
    for name, k, change in (("type", 6, 0.03), ("zone", 4, 0.0), ("organic", 2, 0.02)):
        first[name] = wave.code(k, 0.2)
        second[name] = wave.changed(first[name], change, 0.01)
    numbers = dict.fromkeys(("area", "cows", "milk", "wheat", "labour"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def mothers(rng: np.random.Generator, n: int) -> Panel:
    """A fertility survey: dates of birth with months or years that are known badly, births, weights."""
    wave = Wave(rng, n)
    born = 722_000 + rng.integers(0, 9_000, n).astype(float)
    dates = np.where(rng.random(n) < 0.06, born + 365 * rng.choice([-1, 1], n), born)
    dates = np.where(rng.random(n) < 0.08, 722_000 + rng.integers(0, 9_000, n), dates)
    births = rng.poisson(2.4, n).astype(float)
    more = rng.poisson(0.12 * wave.years, n)
    weight = rng.normal(3300, 520, n)
    first = {
        "born": born,
        "births": births,
        "weight": wave.heaped(weight.round(-1), 500, 0.4),
        "literacy": wave.code(3, 1),
    }
    second = {"born": dates, "births": births + more, "weight": (weight + rng.normal(0, 120, n)).round()}
    ideal = np.clip(np.round(3 + rng.normal(0, 1.3, n)), 0, 9)
    first["ideal"] = ideal
    second["ideal"] = np.where(rng.random(n) < 0.4, ideal, np.clip(np.round(3 + rng.normal(0, 1.3, n)), 0, 9))
    second["literacy"] = wave.changed(first["literacy"], 0.01, 0.06, near=True)
    for name, k in (("religion", 4), ("method", 6), ("quintile", 5)):
        first[name] = wave.code(k, 0.4)
        second[name] = wave.changed(first[name], 0.02 if name == "religion" else 0.15, 0.1)
    types = dict.fromkeys(("births", "weight", "ideal"), NUMBER) | {"born": DATE}
    return Panel(first, second, _ordered(types, first))


def dwellings(rng: np.random.Generator, n: int) -> Panel:
    """Households and their dwellings: values in bands, rents of tenants, vehicles."""
    wave = Wave(rng, n)
    rents = rng.random(n) < 0.4
    value = wave.amount(220_000, 0.6)
    rent = wave.amount(750, 0.4)
    first = {"value": np.where(rents, np.nan, wave.heaped(value.round(-3), 10_000, 0.8)), "owner": 2.0 - rents}
    moved = np.where(rng.random(n) < 1 - 0.95**wave.years, rng.random(n) < 0.4, rents)
    second = {"value": np.where(moved, np.nan, wave.moved(value, 0.04, 0.15).round(-3)), "owner": 2.0 - moved}
    first["rent"] = np.where(rents, wave.heaped(rent.round(), 10, 0.9), np.nan)
    second["rent"] = np.where(moved, wave.moved(rent, 0.03, 0.06).round(-1), np.nan)
    built = 1900 + 10.0 * rng.integers(0, 12, n)
    first["built"], second["built"] = built, wave.misreported(built, 0.25, 10.0)
    persons = 1.0 + rng.poisson(1.4, n)
    age, later = wave.age(22, 90)
    first |= {"persons": persons, "age": age, "rooms": np.clip(persons + rng.poisson(2, n), 1, 12)}
    second |= {"persons": wave.misreported(persons, 0.05 + 0.06 * wave.years).clip(1), "age": later}
    second["rooms"] = wave.misreported(first["rooms"], 0.25).clip(1)
    first["heating"], first["type"] = wave.code(5, 0.3), wave.code(4, 0.4)
    second["heating"] = wave.changed(first["heating"], 0.03, 0.08)
    second["type"] = wave.changed(first["type"], 0.02, 0.08)
    numbers = dict.fromkeys(("value", "rent", "built", "persons", "age", "rooms"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def youth(rng: np.random.Generator, n: int) -> Panel:
    """Young workers: the logarithm of the wage, experience, union and residence."""
    wave = Wave(rng, n)
    wage = 1.6 + 0.4 * wave.ability + rng.normal(0, 0.3, n)
    experience = rng.integers(0, 12, n).astype(float)
    schooling = np.clip(np.round(12 + 1.7 * wave.ability + rng.normal(0, 1, n)), 5, 18)
    weeks = np.where(rng.random(n) < 0.7, 52, np.round(rng.uniform(1, 52, n)))
    first = {"experience": experience, "wage": wage.round(6), "schooling": schooling, "weeks": weeks}
    lost = np.where(rng.random(n) < 0.3, rng.integers(0, int(wave.years) + 1, n), 0)
    second = {"experience": (experience - lost).clip(0), "schooling": wave.misreported(schooling, 0.02)}
    second["wage"] = (wage + 0.03 * wave.years + rng.normal(0, 0.25, n)).round(6)
    second["weeks"] = np.where(
        rng.random(n) < 0.6, weeks, np.where(rng.random(n) < 0.7, 52, np.round(rng.uniform(1, 52, n)))
    )
    for name, k, change in (("union", 2, 0.1), ("industry", 9, 0.15), ("married", 2, 0.07), ("south", 2, 0.01)):
        first[name] = wave.code(k, 0.3)
        second[name] = wave.changed(first[name], change, 0.03)
    numbers = dict.fromkeys(("experience", "wage", "schooling", "weeks"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def attitudes(rng: np.random.Generator, n: int) -> Panel:
    """Opinions: scales of much noise, and some demography."""
    wave = Wave(rng, n)
    age, later = wave.age()
    first, second = {"age": age, "sex": wave.code(2, 0)}, {"age": later}
    second["sex"] = first["sex"]
    for at in range(4):
        lasting = rng.normal(size=n) + 0.4 * wave.ability
        for people in (first, second):
            people[f"item{at}"] = np.clip(np.round(3 + 0.8 * lasting + rng.normal(0, 0.8, n)), 1, 5)
    lasting = rng.normal(size=n)
    for people in (first, second):
        people["content"] = np.clip(np.round(7 + 1.3 * lasting + rng.normal(0, 1.3, n)), 0, 10)
    income = wave.amount(2000, 0.5)
    first["income"], second["income"] = (
        wave.heaped(income.round(-1), 250, 0.8),
        wave.moved(income, 0.02, 0.15).round(-2),
    )
    first["party"] = wave.code(6, 0.2)
    second["party"] = wave.changed(first["party"], 0.15, 0.2)
    return Panel(first, second, _ordered(dict.fromkeys(("age", "content", "income"), NUMBER), first))


def patients(rng: np.random.Generator, n: int) -> Panel:
    """Discharges and claims of the same stays: dates, days, charges, diagnoses."""
    wave = Wave(rng, n)
    wave.years = 0
    admitted = 737_000 + rng.integers(0, 365, n).astype(float)
    days = 1.0 + rng.negative_binomial(1, 0.18, n)
    charge = days * wave.amount(800, 0.5)
    first = {"admitted": admitted, "days": days, "charge": charge.round(), "age": rng.integers(0, 97, n).astype(float)}
    second = {"admitted": wave.misreported(admitted, 0.08), "days": wave.misreported(days, 0.08).clip(1)}
    second |= {"charge": np.where(rng.random(n) < 0.5, charge, charge * rng.uniform(0.7, 1, n)).round()}
    second["age"] = wave.misreported(first["age"], 0.03).clip(0)
    for name, k, error in (("diagnosis", 20, 0.15), ("sex", 2, 0.005), ("ward", 8, 0.1), ("discharge", 4, 0.1)):
        first[name] = wave.code(k, 0.2)
        second[name] = wave.changed(first[name], 0, error)
    types = dict.fromkeys(("days", "charge", "age"), NUMBER) | {"admitted": DATE}
    return Panel(first, second, _ordered(types, first))


def families(rng: np.random.Generator, n: int) -> Panel:
    """Young families some years on: children born, and spending that a year without any makes zero."""
    wave = Wave(rng, n)
    wave.years = float(rng.choice([1, 3, 9]))
    age, later = wave.age(18, 42)
    children = rng.poisson(np.clip((age - 18) / 12, 0, 2)).clip(0, 6).astype(float)
    born = rng.poisson(np.where(age < 34, 0.16, 0.03) * wave.years)
    first = {"age": age, "sex": wave.code(2, 0), "children": children, "education": wave.code(5, 0.8)}
    second = {"age": later, "sex": first["sex"], "children": children + born}
    second["education"] = wave.changed(first["education"], 0.05, 0.03, near=True)
    income = wave.amount(1900, 0.5)
    first["income"], second["income"] = wave.heaped(income.round(-1), 100), wave.moved(income, 0.04, 0.25).round(-1)
    cost = wave.amount(180, 0.6)
    first["care"] = wave.zero(cost.round(), (children == 0) | (rng.random(n) < 0.4))
    second["care"] = wave.zero(wave.moved(cost, 0.03, 0.4).round(), (children + born == 0) | (rng.random(n) < 0.4))
    first["religion"], first["tenure"] = wave.code(5, 0.1), wave.code(3, 0.5)
    second["religion"] = wave.changed(first["religion"], 0.02, 0.03)
    second["tenure"] = wave.changed(first["tenure"], 0.08, 0.01)
    return Panel(first, second, _ordered(dict.fromkeys(("age", "children", "income", "care"), NUMBER), first))


def counties(rng: np.random.Generator, n: int) -> Panel:
    """Areas, decades apart: people, product, prices and shares that grow at rates of their own."""
    wave = Wave(rng, n)
    wave.years = float(rng.choice([5, 10, 20, 30]))
    pace = np.exp(rng.normal(0.01 * wave.years, 0.012 * wave.years, n))
    people = wave.amount(40_000, 1.2, 0.4)
    product = people * wave.amount(9, 0.4, 0.7)
    first = {"people": people.round(), "product": product.round()}
    second = {"people": (people * pace).round()}
    rate = rng.uniform(0.02, 0.06)
    second["product"] = (product * pace * np.exp(rng.normal(rate, 0.012, n) * wave.years)).round()
    for name, level in (("crime", 30), ("police", 2)):
        value = wave.amount(level, 0.5, 0.3)
        first[name] = value.round(2)
        second[name] = wave.moved(value, rng.uniform(-0.02, 0.05), 0.12).round(2)
    density = people / wave.amount(500, 0.6, 0.2)
    first["density"], second["density"] = density.round(1), (density * pace).round(1)
    for name, k in (("coast", 2), ("party", 2), ("metropolitan", 3)):
        first[name] = wave.code(k, 0.3)
        second[name] = wave.changed(first[name], 0.02 if name == "party" else 0, 0)
    numbers = dict.fromkeys(("people", "product", "crime", "police", "density"), NUMBER)
    return Panel(first, second, _ordered(numbers, first))


def _ordered(numbers: dict[str, str], people: People) -> dict[str, str]:
    return {name: numbers.get(name, CODE) for name in people}


_MAKERS = (labour, register, health, school, firms, elderly, diary, farms, mothers, dwellings, youth, attitudes)
PANELS: dict[str, Callable[[np.random.Generator, int], Panel]] = {
    make.__name__: make for make in (*_MAKERS, patients, families, counties)
}


def draw(rng: np.random.Generator, name: str) -> Described:
    """Draw two waves of a panel: some people are in one file only, and the first wave is to be released."""
    n_links = int(np.exp(rng.uniform(np.log(150), np.log(1500))))
    n_puf, n_eif = (n_links + int(n_links * rng.uniform(0, 2.5)) for _ in range(2))
    people = n_puf + n_eif - n_links
    panel = PANELS[name](rng, people)
    regions = rng.integers(0, int(rng.integers(1, 5)), people)
    puf, eif = (pd.DataFrame(wave).astype(float) for wave in panel[:2])
    puf = _released(rng, puf, panel.types)
    eif = _coarser(rng, _unanswered(rng, eif, 0.04), panel.types)
    others = {"other_number": rng.normal(size=people), "other_code": rng.integers(1, 6, people).astype(float)}
    puf, eif = (side.assign(stratum=regions, **others) for side in (puf, eif))
    n_movers = int(rng.choice([0, 0.002, 0.004]) * people)
    eif.loc[eif.index[rng.permutation(people)[:n_movers]], "stratum"] = 0
    puf, eif = puf.iloc[:n_puf], eif.iloc[n_puf - n_links :]
    orders = [rng.permutation(len(side)) for side in (puf, eif)]
    places = [np.argsort(order) for order in orders]
    links = np.column_stack([places[0][n_puf - n_links :], places[1][:n_links]])
    puf, eif = (side.iloc[order].reset_index(drop=True) for side, order in zip((puf, eif), orders, strict=True))
    extra = {"puf": puf[list(others)], "eif": eif[list(others)]}
    return Described(puf.drop(columns=list(others)), eif.drop(columns=list(others)), links, panel.types, extra)


def _unanswered(rng: np.random.Generator, frame: pd.DataFrame, most: float) -> pd.DataFrame:
    return frame.mask(rng.random(frame.shape) < rng.uniform(0, most, frame.shape[1]))


def _released(rng: np.random.Generator, frame: pd.DataFrame, types: dict[str, str]) -> pd.DataFrame:
    """Protect the file to be released: top codes, rounding, noise, swaps, suppression; or not at all."""
    if rng.random() < 0.3:
        return _unanswered(rng, frame, 0.02)
    frame = frame.copy()
    for name, kind in types.items():
        values, way = frame[name].to_numpy().copy(), rng.random()
        if kind == NUMBER and way < 0.2:
            values = np.minimum(values, np.nanquantile(values, rng.uniform(0.95, 0.995)))
        elif kind == NUMBER and way < 0.35:
            values = values + rng.normal(0, 0.1 * np.nanstd(values), len(values)).round()
        elif kind == NUMBER and way < 0.45 and len(np.unique(values)) > 60:
            step = 10 ** np.floor(np.log10(np.nanstd(values) / 2))
            values = np.round(values / step) * step
        elif way < 0.55:
            swapped = rng.random(len(values)) < 0.05
            values[swapped] = rng.permutation(values[swapped])
        frame[name] = values
    return _unanswered(rng, frame, 0.05)


def _coarser(rng: np.random.Generator, frame: pd.DataFrame, types: dict[str, str]) -> pd.DataFrame:
    """Round numbers of the other file as another questionnaire does: to fives, or tens, or hundreds."""
    frame = frame.copy()
    for name, kind in types.items():
        if kind == NUMBER and rng.random() < 0.08 and frame[name].nunique() > 40:
            step = 5 * 10 ** np.floor(np.log10(np.nanstd(frame[name]) / 10))
            frame[name] = np.round(frame[name] / step) * step
    return frame


def best_guesses(study: Described, rng: np.random.Generator, most: int = 250) -> float:
    """About how many best guesses of the better of two plain attacks are right, equal ones in equal shares.

    One counts the variables that differ, numbers in fifths (METHODS §4.2); the other adds squared distances (§4.3).
    They are tried on a sample of the links, within strata.
    """
    if not len(study.links):
        return 0.0
    sample = study.links[rng.permutation(len(study.links))[:most]]
    inside = study.puf["stratum"].to_numpy()[sample[:, 0]][:, None] == study.eif["stratum"].to_numpy()
    different, squares = np.zeros(inside.shape), np.zeros(inside.shape)
    for name, kind in study.types.items():
        own, other = study.puf[name].to_numpy(float), study.eif[name].to_numpy(float)
        mine, theirs = own[sample[:, 0]][:, None], other[None, :]
        missing = np.isnan(mine) | np.isnan(theirs)
        unequal = distance = (mine != theirs).astype(float)
        if kind != CODE:
            points = np.nanquantile(own, [0.2, 0.4, 0.6, 0.8])
            unequal = (np.searchsorted(points, mine) != np.searchsorted(points, theirs)).astype(float)
            distance = np.minimum(np.abs(mine - theirs) / (np.nanstd(own) or 1), 3) / 3
        different += np.where(missing, 0.5, unequal)
        squares += np.where(missing, 0.25, distance**2)
    right = []
    for score in (different, np.round(squares, 9)):
        scores = np.where(inside, score, np.inf)
        own_score, best = scores[np.arange(len(sample)), sample[:, 1]], scores.min(axis=1)
        equal = (scores == best[:, None]).sum(axis=1)
        right.append(np.where((own_score == best) & np.isfinite(best), 1 / equal, 0.0).mean())
    return max(right) * len(study.links)


def differing(right: Described, wrong: Described) -> set[str]:
    """The variables of which a mistake changed values."""
    sides = (right.puf, wrong.puf), (right.eif, wrong.eif)
    return {name for name in right.types for one, other in sides if not one[name].equals(other[name])}


Mistake = Callable[[np.random.Generator, Described], Described]
MISTAKES: dict[str, Mistake] = dict(KINDS)


def _mistake(make: Mistake) -> Mistake:
    MISTAKES[make.__name__.removeprefix("_")] = make
    return make


def _changed(study: Described, side: str, **columns: np.ndarray) -> Described:
    return replace(study, **{side: getattr(study, side).assign(**columns)})


def _chosen(rng: np.random.Generator, study: Described, kind: str) -> str:
    names = study.select(kind)
    return names[int(rng.integers(len(names)))] if names else ""


def _convert(
    rng: np.random.Generator, study: Described, kind: str, change: Callable[[np.ndarray], np.ndarray]
) -> Described:
    """A variable of a type with other values in the EIF; the study itself without such a variable."""
    name = _chosen(rng, study, kind)
    return _changed(study, "eif", **{name: change(study.eif[name].to_numpy().copy())}) if name else study


def _joined(rng: np.random.Generator, study: Described, *, single: bool) -> Described:
    """Links that a join on the stratum and the variables that agree most made: of first matches, or of single ones."""
    agree = {
        name: (study.puf[name].to_numpy()[study.links[:, 0]] == study.eif[name].to_numpy()[study.links[:, 1]]).mean()
        for name in study.types
    }
    on = ["stratum", *sorted(agree, key=lambda name: -agree[name])[: 5 if single else 4]]
    sides = [side[on].reset_index(names="row").dropna() for side in (study.puf, study.eif)]
    if single:
        sides = [side[~side.duplicated(on, keep=False)] for side in sides]
    sides = [side.drop_duplicates(on) for side in sides]
    links = sides[0].merge(sides[1], on=on)[["row_x", "row_y"]].to_numpy()
    return replace(study, links=links) if len(links) >= 20 else study


@_mistake
def _links_first_match(rng: np.random.Generator, study: Described) -> Described:
    return _joined(rng, study, single=False)


@_mistake
def _links_unique_join(rng: np.random.Generator, study: Described) -> Described:
    return _joined(rng, study, single=True)


@_mistake
def _links_of_a_stratum_lost(_: np.random.Generator, study: Described) -> Described:
    stratum = study.puf["stratum"].to_numpy()[study.links[:, 0]]
    return replace(study, links=study.links[stratum != np.bincount(stratum.astype(int)).argmax()])


@_mistake
def _links_of_a_code_lost(rng: np.random.Generator, study: Described) -> Described:
    codes = study.puf[_chosen(rng, study, CODE)].to_numpy()[study.links[:, 0]]
    return replace(study, links=study.links[codes != pd.Series(codes).mode().iloc[0]])


@_mistake
def _links_tail_shifted(_: np.random.Generator, study: Described) -> Described:
    links, half = study.links[np.argsort(study.links[:, 0])].copy(), len(study.links) // 2
    links[half:, 1] = np.roll(links[half:, 1], 1)
    return replace(study, links=links)


@_mistake
def _columns_tail_shifted(rng: np.random.Generator, study: Described) -> Described:
    names, at = rng.permutation(list(study.types))[:2], len(study.eif) // 2
    tail = {name: study.eif[name].to_numpy() for name in names}
    return _changed(study, "eif", **{name: np.r_[one[:at], np.roll(one[at:], 1)] for name, one in tail.items()})


@_mistake
def _column_shifted(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, NUMBER, lambda values: np.roll(values, 1))


@_mistake
def _column_sorted(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, NUMBER, np.sort)


@_mistake
def _shift_by_one(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, NUMBER, lambda values: values + 1)


@_mistake
def _shift_by_a_tenth(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, NUMBER, lambda values: values + np.round(0.6 * np.nanstd(values)))


@_mistake
def _lattice_and_top(rng: np.random.Generator, study: Described) -> Described:
    def coarse(values: np.ndarray) -> np.ndarray:
        step = max(3.0, np.round(np.nanstd(values) / 6))
        return np.minimum(np.floor(values / step) * step + 1, np.nanquantile(values, 0.85))

    return _convert(rng, study, NUMBER, coarse)


@_mistake
def _floor_to_tens(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, NUMBER, lambda x: np.floor(x / (1.5 * np.nanstd(x) + 1)) * (1.5 * np.nanstd(x) + 1))


@_mistake
def _top_code_in_one_file(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, NUMBER, lambda values: np.minimum(values, np.nanquantile(values, 0.6)))


@_mistake
def _part_times_twelve(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, NUMBER, lambda x: np.where(np.arange(len(x)) % 5 < 2, x / 12, x))


@_mistake
def _euro_in_a_stratum(rng: np.random.Generator, study: Described) -> Described:
    first = study.eif["stratum"].to_numpy() == study.eif["stratum"].min()
    return _convert(rng, study, NUMBER, lambda values: np.where(first, values * 1.95583, values))


@_mistake
def _codes_of_a_stratum(rng: np.random.Generator, study: Described) -> Described:
    first = study.eif["stratum"].to_numpy() == study.eif["stratum"].min()
    return _convert(rng, study, CODE, lambda x: np.where(first, np.nanmax(x) + 1 - x, x))


@_mistake
def _codes_of_the_tail(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, CODE, lambda x: np.where(np.arange(len(x)) > 0.6 * len(x), x % np.nanmax(x) + 1, x))


@_mistake
def _codes_too_coarse(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, CODE, lambda values: np.ceil(values / 2))


@_mistake
def _code_for_not_stated(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, CODE, lambda x: np.where(rng.random(len(x)) < 0.35, np.nanmax(x) + 1, x))


@_mistake
def _days_and_months(rng: np.random.Generator, study: Described) -> Described:
    def exchanged(values: np.ndarray) -> np.ndarray:
        days = [date.fromordinal(int(value)) if value == value else None for value in values]
        swaps = (one and one.day <= 12 for one in days)
        return np.array(
            [
                one.replace(month=one.day, day=one.month).toordinal() if swap and one else value
                for one, swap, value in zip(days, swaps, values, strict=True)
            ],
            float,
        )

    return _convert(rng, study, DATE, exchanged)


@_mistake
def _years_alone(rng: np.random.Generator, study: Described) -> Described:
    return _convert(
        rng,
        study,
        DATE,
        lambda x: np.array(
            [v if v != v else date.fromordinal(int(v)).replace(month=1, day=1).toordinal() for v in x], float
        ),
    )


@_mistake
def _century_of_a_part(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, DATE, lambda x: np.where(np.arange(len(x)) % 2 == 0, x - 36_525, x))


@_mistake
def _a_day_early(rng: np.random.Generator, study: Described) -> Described:
    return _convert(rng, study, DATE, lambda values: values - 1)


@_mistake
def _two_waves(rng: np.random.Generator, study: Described) -> Described:
    """The EIF has the first wave below the second one: the same people with values a little older."""
    earlier = study.eif.copy()
    for name in study.types:
        values = earlier[name].to_numpy().copy()
        moved = rng.random(len(values)) < 0.25
        values[moved] = rng.permutation(values[moved])
        earlier[name] = values
    return replace(study, eif=pd.concat([study.eif, earlier], ignore_index=True))


@_mistake
def _people_of_another_sample(_: np.random.Generator, study: Described) -> Described:
    """The EIF was drawn anew after linking: half of the linked people are not in it, and their links were dropped."""
    drop = study.links[::2, 1]
    kept = np.setdiff1d(np.arange(len(study.eif)), drop)
    place = np.full(len(study.eif), -1)
    place[kept] = np.arange(len(kept))
    links = np.column_stack([study.links[:, 0], place[study.links[:, 1]]])
    return replace(study, eif=study.eif.iloc[kept].reset_index(drop=True), links=links[links[:, 1] >= 0])
