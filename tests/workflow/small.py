"""A small study that exercises everything: all four metrics, both types, missing codes, a recode, strata with
gaps, composite keys whose parts look like numbers. The rows are drawn from a seed."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random

import yaml

STRATA = ("N", "E", "S", "W")

STUDY = {
    "id": "small",
    "files": {
        "puf": {"path": "puf.csv", "id": ["house", "person"]},
        "eif": {"path": "eif.csv", "id": ["broker", "serial"]},
        "iuf": {"path": "iuf.csv", "puf_id": ["house", "person"], "eif_id": ["broker", "serial"]},
    },
    "strata": [{"name": "region", "missing": ["-9"]}],
    "linking_variables": [
        {"name": "age", "type": "numeric", "missing": ["-9"]},
        {"name": "income", "type": "numeric", "eif": "amount", "missing": {"puf": ["-9"], "eif": [""]}},
        {"name": "rooms", "type": "numeric", "missing": ["-9"]},
        {"name": "sex", "type": "categorical", "recode": {"eif": {"M": "1", "F": "2"}}},
        {"name": "education", "type": "categorical", "integer-coded": True, "missing": ["-9"]},
        {"name": "tenure", "type": "categorical", "missing": ["-9"]},
    ],
    "metrics": {
        "unicity": {},
        "taxicab": {"alpha": "1/3"},
        "euclidean": {"norm": "rms"},
        "adhoc": {
            "scores": {
                "age": {"bands": [{"within": 0, "score": 5}, {"within": 2, "score": "2.5"}]},
                "sex": {"table": [{"puf": "1", "eif": "1", "score": 3}, {"puf": "2", "eif": "2", "score": 3}]},
            }
        },
    },
}
"""The content of the study file."""

PUF = ("house", "person", "region", "age", "income", "rooms", "sex", "education", "tenure")
EIF = ("broker", "serial", "region", "age", "amount", "rooms", "sex", "education", "tenure")
IUF = ("house", "person", "broker", "serial")


def rows(n_puf: int = 300, n_eif: int = 500, seed: int = 7) -> dict[str, list[list[str]]]:
    """The rows of the three files, header first; about half of the PUF's people are in the EIF."""
    draw = Random(seed)  # noqa: S311 - made-up people
    people = [_person(draw) for _ in range(n_puf + n_eif)]
    puf = [[*_key(at), *_written(person, draw)] for at, person in enumerate(people[:n_puf])]
    held = [*range(n_puf // 2), *range(n_puf, n_puf + n_eif - n_puf // 2)]
    eif, iuf = [], []
    for serial, at in enumerate(held):
        region, age, income, room, sex, education, tenure = _written(_erred(people[at], draw), draw)
        key = [("1", "01", "001")[serial % 3], f"{serial // 3:03d}"]
        income, education = income.replace("-9", ""), education if education == "-9" else f"{education}.0"
        eif.append([*key, region, age, income, room, "MF"[int(sex) - 1], education, tenure])
        if at < n_puf:
            iuf.append([*_key(at), *key])
    return {"puf": [list(PUF), *puf], "eif": [list(EIF), *eif], "iuf": [list(IUF), *iuf]}


def _key(at: int) -> list[str]:
    """Households "1" and "01" are two, and so are ("1", "23") and ("12", "3")."""
    return [f"{'0' * (at % 2)}{at // 4}", f"{at % 4 // 2}"]


def _person(draw: Random) -> list:
    income = draw.choice([0, 0, round(draw.lognormvariate(8, 1)), round(draw.lognormvariate(9, 1))])
    return [
        draw.choice(STRATA), draw.randint(18, 90), income, draw.randint(1, 9), draw.randint(1, 2),
        draw.randint(1, 6), draw.choice(["own", "rent", "free"]),
    ]  # fmt: skip


def _erred(person: list, draw: Random) -> list:
    """What a broker holds of a person: now and then another age or income, or an address of long ago."""
    region, age, income, *rest = person
    region = draw.choice([*[region] * 30, "N", "Åland"])
    return [region, age + draw.choice([0, 0, 0, 1]), draw.choice([income, income, round(income * 1.1)]), *rest]


def _written(person: list, draw: Random) -> list[str]:
    """A person as text, a few values missing; sex never is."""
    return [str(value) if at == 4 or draw.random() > 0.04 else "-9" for at, value in enumerate(person)]


def csv_text(table: list[list[str]]) -> str:
    """Rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(table)
    return out.getvalue()


def write(folder: Path, study: dict = STUDY, tables: dict[str, list[list[str]]] | None = None) -> Path:
    """Write a study with its files into a folder and return the study file."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, table in (rows() if tables is None else tables).items():
        (folder / study["files"][side]["path"]).write_text(csv_text(table), encoding="utf-8")
    file = folder / f"{study['id']}.yaml"
    file.write_text(yaml.safe_dump(study, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return file
