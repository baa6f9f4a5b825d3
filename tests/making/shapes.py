"""Files in the shape of surveys, censuses and registers, for `reident init`, each with the arguments of the command."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from making.drafting import saved

Rows = list[list[object]]
Table = dict[str, Sequence[object]]


def written(path: Path, table: Table, order: np.ndarray | None = None, **dialect: str) -> Path:
    rows = [list(row) for row in zip(*table.values(), strict=True)]
    if order is not None:
        rows = [rows[at] for at in order]
    return saved(path, [list(table), *rows], **dialect)


def attack(folder: Path, puf: Table, eif: Table, links: Table, draw: np.random.Generator, **dialect: str) -> list[str]:
    """Write three files, each in an order of its own."""
    files = (("puf", puf), ("eif", eif), ("links", links))
    return [
        str(written(folder / f"{name}.csv", table, draw.permutation(len(next(iter(table.values())))), **dialect))
        for name, table in files
    ]


def chosen(
    draw: np.random.Generator, values: Sequence[object], n: int, p: Sequence[float] | None = None
) -> list[object]:
    return [values[at] for at in draw.choice(len(values), n, p=p)]


def changed(draw: np.random.Generator, values: Sequence[object], among: Sequence[object], share: float) -> list[object]:
    return [among[draw.integers(len(among))] if draw.random() < share else value for value in values]


def codes(draw: np.random.Generator, n: int, start: int = 1) -> np.ndarray:
    return draw.choice(np.arange(start * n, (start + 9) * n), n, replace=False)


def social_survey(folder: Path, draw: np.random.Generator) -> list[str]:
    """Persons in households, a key of two columns, replicate weights, and blank cells for who was not asked."""
    n = 600
    house = np.sort(draw.integers(0, 260, n))
    order = np.array([int((house[:at] == house[at]).sum()) + 1 for at in range(n)])
    serial = [f"2021HU{one:07d}" for one in draw.permutation(260)[house]]
    age, income = draw.integers(0, 95, n), np.round(draw.lognormal(10, 0.8, n), -1).astype(int)
    asked = age >= 15
    puf = {
        "SERIALNO": serial, "SPORDER": order, "PWGTP": draw.integers(20, 300, n), "PWGTP1": draw.integers(20, 300, n),
        "ST": chosen(draw, ["06", "36", "48"], n), "AGEP": age, "SEX": draw.integers(1, 3, n),
        "SCHL": ["" if not yes else draw.integers(1, 25) for yes in asked],
        "MAR": draw.integers(1, 6, n),
        "PINCP": ["" if not yes else one for yes, one in zip(asked, income, strict=True)],
    }  # fmt: skip
    person = codes(draw, n)
    eif = {
        "person_nr": person, "state": puf["ST"], "age": np.clip(age + draw.choice([0, 0, 0, 1, -1], n), 0, 95),
        "sex": ["MF"[one - 1] for one in puf["SEX"]], "marital": changed(draw, puf["MAR"], range(1, 6), 0.05),
        "income_est": np.round(income * draw.choice([1, 1, 0.95, 1.1], n)).astype(int),
    }  # fmt: skip
    links = {"SERIALNO": serial, "SPORDER": order, "person_nr": person}
    return attack(folder, puf, eif, links, draw)


def household_panel(folder: Path, draw: np.random.Generator) -> list[str]:
    """Households whose numbers the links name, with the members of each in both files."""
    n, size = 220, 3
    sizes = draw.choice([1, 2, 2, 3, 4], n)
    unit = np.repeat(np.arange(n), sizes)
    ours, theirs = codes(draw, n), codes(draw, n, 20)
    region, tenure = chosen(draw, ["AT1", "AT2", "AT3"], n), draw.integers(1, 4, n)
    age, sex = draw.integers(0, 90, len(unit)), draw.integers(1, 3, len(unit))
    puf = {
        "hid": ours[unit], "pid": np.arange(len(unit)) + 1, "region": [region[at] for at in unit],
        "tenure": tenure[unit], "age": age, "sex": sex, "work": draw.integers(1, size + 2, len(unit)),
    }  # fmt: skip
    eif = {
        "household": theirs[unit], "region": puf["region"], "tenure": puf["tenure"],
        "age": age + draw.choice([0, 0, 0, 1], len(unit)), "sex": sex,
        "work": changed(draw, puf["work"], range(1, 5), 0.1),
    }  # fmt: skip
    return attack(folder, puf, eif, {"hid": ours, "household": theirs}, draw)


def business_register(folder: Path, draw: np.random.Generator) -> list[str]:
    """Enterprises with turnover in thousands in one file, classes of industry, and zeros."""
    n = 500
    turnover = np.round(draw.lognormal(7, 1.2, n)).astype(int) * 1000
    staff = np.maximum(1, np.round(turnover / 90_000 * draw.lognormal(0, 0.4, n))).astype(int)
    key, other = codes(draw, n), codes(draw, n, 12)
    puf = {
        "enterprise_id": key, "nace": chosen(draw, ["10", "25", "46", "47", "62"], n), "employees": staff,
        "turnover": turnover // 1000, "export": np.where(draw.random(n) < 0.6, 0, turnover // 4000),
        "region": chosen(draw, ["N", "E", "S", "W"], n),
    }  # fmt: skip
    eif = {
        "firm_nr": other, "nace": changed(draw, puf["nace"], ["10", "25", "46", "47", "62"], 0.04),
        "employees": np.maximum(1, staff + draw.choice([0, 0, 1, -1], n)), "turnover": turnover,
        "region": puf["region"],
    }  # fmt: skip
    return attack(folder, puf, eif, {"enterprise_id": key, "firm_nr": other}, draw)


def health_interview(folder: Path, draw: np.random.Generator) -> list[str]:
    """Own weights and heights, and codes -8 and -9 of refusals."""
    n = 500
    key, other = codes(draw, n), [f"h{one}" for one in codes(draw, n)]
    height = np.round(draw.normal(170, 9, n)).astype(int)
    mass = np.round(draw.normal(75, 12, n)).astype(int)
    refused = draw.random(n)
    puf = {
        "caseid": key, "sex": draw.integers(1, 3, n), "age": draw.integers(18, 90, n), "height": height,
        "weight": np.where(refused < 0.05, -9, np.where(refused < 0.08, -8, mass)),
        "smoker": draw.integers(1, 4, n), "health": draw.integers(1, 6, n),
    }  # fmt: skip
    eif = {
        "member": other, "sex": puf["sex"], "age": puf["age"], "height": height + draw.choice([0, 0, 1, -1], n),
        "weight": mass + draw.choice([0, 0, 1, -1], n), "smoker": changed(draw, puf["smoker"], [1, 2, 3], 0.1),
    }  # fmt: skip
    return attack(folder, puf, eif, {"caseid": key, "member": other}, draw)


def harmonised_census(folder: Path, draw: np.random.Generator) -> list[str]:
    """Codes of nines for what does not apply, also of amounts, in both files."""
    n = 600
    key, other = codes(draw, n), codes(draw, n, 12)
    income = np.round(draw.lognormal(10, 0.7, n)).astype(int)
    none = draw.random(n) < 0.2
    puf = {
        "pernum_id": key, "PERWT": np.round(draw.gamma(9, 11, n), 2), "AGE": draw.integers(0, 98, n),
        "SEX": draw.integers(1, 3, n), "EMPSTAT": chosen(draw, [1, 2, 3, 9], n, [0.5, 0.1, 0.35, 0.05]),
        "INCTOT": np.where(none, 9999999, income), "STATEFIP": draw.choice([6, 12, 36, 48], n),
    }  # fmt: skip
    eif = {
        "rec_id": other, "AGE": puf["AGE"], "SEX": puf["SEX"],
        "EMPSTAT": [9 if one == 9 else draw.integers(1, 4) if draw.random() < 0.08 else one for one in puf["EMPSTAT"]],
        "INCTOT": np.where(none, 9999999, np.round(income * draw.choice([1, 1.05, 0.9], n)).astype(int)),
        "STATEFIP": puf["STATEFIP"],
    }  # fmt: skip
    return attack(folder, puf, eif, {"pernum_id": key, "rec_id": other}, draw)


def hospital(folder: Path, draw: np.random.Generator) -> list[str]:
    """Stays with dates, written in another format in the other file."""
    n = 400
    key, other = codes(draw, n), codes(draw, n, 12)
    birth = np.datetime64("1930-01-01") + draw.integers(0, 28_000, n)
    stay = np.datetime64("2022-01-01") + draw.integers(0, 700, n)
    days = [str(one) for one in birth]
    puf = {
        "stay_id": key, "birth_date": days, "admission": stay.astype(str), "sex": chosen(draw, ["f", "m"], n),
        "drg": chosen(draw, [f"{a}{b:02d}A" for a in "BEFG" for b in range(6)], n), "los": draw.poisson(5, n) + 1,
    }  # fmt: skip
    moved = (stay + draw.choice([0, 0, 0, 0, 1, -1, 2, -2], n)).astype(str)
    eif = {
        "patient_ref": other, "birth_date": [f"{one[8:]}.{one[5:7]}.{one[:4]}" for one in days],
        "admission": [f"{one[8:]}.{one[5:7]}.{one[:4]}" for one in moved],
        "sex": puf["sex"], "los": puf["los"],
    }  # fmt: skip
    return attack(folder, puf, eif, {"stay_id": key, "patient_ref": other}, draw)


def pupils(folder: Path, draw: np.random.Generator) -> list[str]:
    """Decimal commas and semicolons; scores with noise, and schools."""
    n = 500
    key, other = codes(draw, n), codes(draw, n, 12)
    score = draw.normal(500, 90, n)
    comma = [f"{one:.1f}".replace(".", ",") for one in score]
    noisy = [f"{one:.1f}".replace(".", ",") for one in score + draw.normal(0, 8, n)]
    puf = {
        "pupil_id": key, "county": chosen(draw, ["Nord", "Sør", "Vest"], n), "grade": draw.integers(4, 10, n),
        "sex": draw.integers(1, 3, n), "score": comma, "books": draw.integers(1, 7, n),
    }  # fmt: skip
    eif = {
        "elev_nr": other, "county": puf["county"], "grade": puf["grade"], "sex": puf["sex"], "score": noisy,
        "books": changed(draw, puf["books"], range(1, 7), 0.15),
    }  # fmt: skip
    return attack(folder, puf, eif, {"pupil_id": key, "elev_nr": other}, draw, delimiter=";")


def tax_register(folder: Path, draw: np.random.Generator) -> list[str]:
    """Amounts, most of them zero, and dates of eight digits."""
    n = 500
    key, other = codes(draw, n), codes(draw, n, 12)
    wage = np.round(draw.lognormal(10, 0.5, n)).astype(int)
    birth = [str(one).replace("-", "") for one in np.datetime64("1940-01-01") + draw.integers(0, 24_000, n)]
    rent = np.where(draw.random(n) < 0.7, 0, np.round(draw.lognormal(8, 1, n)).astype(int))
    puf = {
        "taxpayer_id": key, "born": birth, "municipality": draw.choice([1101, 1202, 3304, 5001], n), "wage": wage,
        "capital_income": rent, "married": draw.integers(0, 2, n), "children": draw.poisson(1, n),
    }  # fmt: skip
    eif = {
        "ident": other, "born": birth, "municipality": puf["municipality"],
        "wage": np.round(wage * draw.choice([1, 1, 1.02], n)).astype(int), "capital_income": rent,
        "children": puf["children"],
    }  # fmt: skip
    return attack(folder, puf, eif, {"taxpayer_id": key, "ident": other}, draw)


def farms(folder: Path, draw: np.random.Generator) -> list[str]:
    """Areas with decimals, empty cells, and a code of letters against one of numbers."""
    n = 450
    key, other = codes(draw, n), codes(draw, n, 12)
    area = np.round(draw.lognormal(3, 1, n), 2)
    kind = draw.integers(1, 5, n)
    puf = {
        "farm_id": key, "province": chosen(draw, ["A", "B", "C"], n), "type": kind, "area": area,
        "cattle": [one if draw.random() > 0.2 else "" for one in draw.poisson(30, n)],
        "organic": draw.integers(0, 2, n),
    }  # fmt: skip
    eif = {
        "holding_nr": other, "province": puf["province"], "type": ["abcd"[one - 1] for one in kind],
        "area": np.round(area * draw.choice([1, 1, 1.01], n), 2), "cattle": puf["cattle"], "organic": puf["organic"],
    }  # fmt: skip
    return attack(folder, puf, eif, {"farm_id": key, "holding_nr": other}, draw)


def labour_panel(folder: Path, draw: np.random.Generator) -> list[str]:
    """Two years of one panel: ages and service a year on, wages that rise, and a code 97 of those without a child."""
    n = 500
    key, other = codes(draw, n), codes(draw, n, 12)
    service, wage = draw.integers(0, 30, n), np.round(draw.lognormal(3, 0.4, n), 2)
    parent = chosen(draw, [1, 2, 3, 4, 97], n, [0.15, 0.15, 0.15, 0.15, 0.4])
    puf = {
        "pid": key, "age": draw.integers(20, 60, n), "service": service, "wage": wage,
        "sector": draw.integers(1, 9, n), "child_age": parent, "union": draw.integers(0, 2, n),
    }  # fmt: skip
    eif = {
        "worker_id": other, "age": puf["age"] + 1, "service": service + 1,
        "wage": np.round(wage * draw.lognormal(0.05, 0.05, n), 2),
        "sector": changed(draw, puf["sector"], range(1, 9), 0.08), "child_age": parent,
        "union": changed(draw, puf["union"], range(2), 0.1),
    }  # fmt: skip
    return attack(folder, puf, eif, {"pid": key, "worker_id": other}, draw)


def time_use(folder: Path, draw: np.random.Generator) -> list[str]:
    """Minutes of a day with 999 of those that are not known, ages in groups in one file, and few people in both."""
    n, common = 400, 90
    key, other = codes(draw, n), codes(draw, n, 12)
    sport, lost = draw.integers(0, 240, n), draw.random(n) < 0.06
    puf = {
        "diary_id": key, "age_group": draw.integers(2, 17, n) * 5, "sex": draw.integers(1, 3, n),
        "minutes_sport": np.where(lost, 999, sport), "day": draw.integers(1, 8, n),
        "household_size": draw.integers(1, 7, n),
    }  # fmt: skip
    same = np.arange(n) < common
    eif = {
        "member_nr": other,
        "age": np.where(same, puf["age_group"], draw.integers(2, 17, n) * 5) + draw.integers(0, 5, n),
        "sex": np.where(same, puf["sex"], draw.integers(1, 3, n)),
        "minutes_sport": np.where(same, np.abs(sport + draw.integers(-9, 10, n)), draw.integers(0, 240, n)),
        "day": np.where(same, puf["day"], draw.integers(1, 8, n)),
        "household_size": np.where(same, puf["household_size"], draw.integers(1, 7, n)),
    }
    return attack(folder, puf, eif, {"diary_id": key[same], "member_nr": other[same]}, draw)


def persons(draw: np.random.Generator, n: int = 600) -> Table:
    """Records of one file of persons, without a key."""
    return {
        "region": chosen(draw, ["N", "E", "S", "W"], n), "age": draw.integers(18, 90, n), "sex": draw.integers(1, 3, n),
        "education": draw.integers(1, 6, n), "occupation": draw.integers(1, 10, n),
        "income": np.round(draw.lognormal(10, 0.7, n)).astype(int),
    }  # fmt: skip


def demographic_survey(folder: Path, draw: np.random.Generator) -> list[str]:
    """Weights of mean 1 in millionths."""
    people = persons(draw)
    weight = draw.gamma(4, 0.25, len(people["age"]))
    file = {"caseid": codes(draw, len(weight)), "v005": np.round(weight / weight.mean() * 1e6).astype(int), **people}
    return ["--file-risk", str(written(folder / "dhs.csv", file))]


def weighted_households(folder: Path, draw: np.random.Generator) -> list[str]:
    """Persons in households without a key of their own, and a final weight by another name."""
    people = persons(draw)
    house = np.sort(draw.integers(0, 260, len(people["age"])))
    file = {"hhid": codes(draw, 260)[house], "gewicht": np.round(draw.gamma(9, 5, len(house)), 3), **people}
    return ["--file-risk", str(written(folder / "silc.csv", file))]


def synthetic(folder: Path, draw: np.random.Generator, *, redrawn: bool, keyed: bool = True) -> list[str]:
    """Files with drawn occupations and incomes; the key of the second one may be drawn anew."""
    people = persons(draw)
    n = len(people["age"])
    key = codes(draw, n)
    copy = people | {
        "occupation": changed(draw, people["occupation"], range(1, 10), 0.4),
        "income": np.round(np.array(people["income"]) * draw.lognormal(0, 0.2, n)).astype(int),
    }
    files = [{"pid": key, **people}, {"pid": draw.permutation(key) if redrawn else key, **copy}]
    order = draw.permutation(n) if keyed and not redrawn else None
    tables = [written(folder / "real.csv", files[0]), written(folder / "syn.csv", files[1], order)]
    return ["--synthetic", *map(str, tables)]


def without_people(folder: Path, draw: np.random.Generator) -> list[str]:
    """A released file without records of people, and known persons."""
    people = persons(draw)
    n = len(people["age"])
    key = codes(draw, n)
    released = persons(draw)
    known = {name: people[name] for name in ("region", "age", "sex", "education")}
    tables = [
        written(folder / "real.csv", {"pid": key, **people}),
        written(folder / "released.csv", released),
        written(folder / "known.csv", {"pid": key, **known}, draw.permutation(n)),
    ]
    return ["--values", *map(str, tables)]


def business_amounts(folder: Path, draw: np.random.Generator) -> list[str]:
    """Amounts that are to be micro-aggregated."""
    n = 300
    sales = np.round(draw.lognormal(12, 1, n)).astype(int)
    file = {
        "firm_id": codes(draw, n), "sales": sales, "costs": np.round(sales * draw.lognormal(-0.3, 0.2, n)).astype(int),
        "staff": np.maximum(1, sales // 50_000), "branch": draw.integers(1, 6, n),
        "weight": np.round(draw.gamma(9, 1, n), 3),
    }  # fmt: skip
    return ["--microaggregate", str(written(folder / "firms.csv", file))]


SHAPES: dict[str, Callable[[Path, np.random.Generator], list[str]]] = {
    "social survey": social_survey,
    "household panel": household_panel,
    "business register": business_register,
    "health interview": health_interview,
    "harmonised census": harmonised_census,
    "hospital": hospital,
    "pupils": pupils,
    "tax register": tax_register,
    "farms": farms,
    "labour panel": labour_panel,
    "time use": time_use,
    "demographic survey": demographic_survey,
    "weighted households": weighted_households,
    "synthetic with a key": lambda folder, draw: synthetic(folder, draw, redrawn=False),
    "synthetic with a key drawn anew": lambda folder, draw: synthetic(folder, draw, redrawn=True),
    "synthetic by rows": lambda folder, draw: synthetic(folder, draw, redrawn=False, keyed=False),
    "without people": without_people,
    "business amounts": business_amounts,
}
"""Arguments of `reident init`, whose files are written into a folder."""
