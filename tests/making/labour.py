"""A labour force survey of made-up people: columns, codes, gaps and ties as in the survey that may not be committed."""

import csv
from pathlib import Path
from random import Random

import yaml
from making.studies import keyed_by

CATEGORIES = {
    "SEX": 2, "MARSTAT": 4, "KINDPERS": 4, "EDUC1": 5, "ETNI": 3, "TENURE": 9, "POSLABM": 6, "KINDFACT": 97,
}  # fmt: skip
AMOUNTS = ("INCOME", "ASSETS", "DEBTS")
MISSING = ["", "-9"]

STUDY = {
    "id": "labour",
    "files": keyed_by(["pufid"], ["broker", "serial"]),
    "strata": [{"name": "PROVINCE", "eif": "prov", "missing": [""]}],
    "linking_variables": [
        {"name": "AGE", "type": "numeric", "eif": "age_years", "missing": MISSING},
        *({"name": name, "type": "numeric", "missing": MISSING} for name in AMOUNTS),
        {
            "name": "SEX",
            "type": "categorical",
            "eif": "GENDER",
            "recode": {"eif": {"M": "1", "F": "2"}},
            "missing": MISSING,
        },
        *({"name": name, "type": "categorical", "missing": MISSING} for name in list(CATEGORIES)[1:]),
    ],
    "metrics": {"unicity": {}, "taxicab": {}, "euclidean": {"norm": "rms"}, "adhoc": {}},
    "rank_filter": {"max_pairs": "5"},
    "decision": {"conditional_rate_at_most": "0.05"},
}


def write(folder: Path, n_puf: int = 500, n_eif: int = 450) -> Path:
    """Write the study and its files into a folder and return the study file; two thirds of the EIF are in the PUF."""
    draw = Random(31)  # noqa: S311 - made-up people
    people = [_person(draw) for _ in range(n_puf + n_eif // 3)]
    names = ["PROVINCE", "AGE", *AMOUNTS, *CATEGORIES]
    puf = [[f"{100_000 + 7 * at}", *_released(person, draw)] for at, person in enumerate(people[:n_puf])]
    known = [*range(n_eif - n_eif // 3), *range(n_puf, len(people))]
    keys = [("AB"[at % 2], f"{at * 37 % 1000:05d}") for at in range(len(known))]
    eif = [[*key, *_known(people[at], draw)] for key, at in zip(keys, known, strict=True)]
    iuf = [[puf[at][0], *key] for key, at in zip(keys, known, strict=True) if at < n_puf]
    header = {"PROVINCE": "prov", "AGE": "age_years", "SEX": "GENDER"}
    tables = {
        "puf": [["pufid", *names], *puf],
        "eif": [["broker", "serial", *(header.get(name, name) for name in names)], *eif],
        "iuf": [["pufid", "broker", "serial"], *iuf],
    }
    folder.mkdir(parents=True, exist_ok=True)
    for side, rows in tables.items():
        with (folder / f"{side}.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)
    file = folder / "labour.yaml"
    file.write_text(yaml.safe_dump(STUDY, sort_keys=False), encoding="utf-8")
    return file


def _person(draw: Random) -> list[str]:
    amounts = [str(1000 * round(draw.lognormvariate(mu, 0.8))) for mu in (5, 3.5, 2)]
    codes = [str(min(draw.randint(1, n), draw.randint(1, n))) for n in CATEGORIES.values()]
    return [str(draw.randint(1, 4)), str(draw.randint(18, 80)), *amounts, *codes]


def _released(person: list[str], draw: Random) -> list[str]:
    """A record of the PUF: a value in twenty is not stated; sex always is."""
    return [value if at in (0, 5) or draw.random() > 0.05 else "-9" for at, value in enumerate(person)]


def _known(person: list[str], draw: Random) -> list[str]:
    """A record of the EIF: amounts are estimates, some values are out of date or not known."""
    record = list(person)
    record[1] = str(int(record[1]) + draw.choice([0, 0, 0, 1, -1]))
    for at in (2, 3, 4):
        record[at] = str(round(int(record[at]) * draw.choice([1, 1, 1.05, 0.97])))
    record[5] = "MF"[int(record[5]) - 1]
    return [value if at in (0, 5) or draw.random() > 0.05 else "" for at, value in enumerate(record)]
