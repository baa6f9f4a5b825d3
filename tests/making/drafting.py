"""Pairs of files for `reident init`, each with the study that an analyst would write by hand."""

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

METRICS: dict[str, Any] = {"unicity": {}, "taxicab": {}, "euclidean": {}, "adhoc": {}, "fellegi_sunter": {}}


def saved(path: Path, rows: Iterable[Iterable[object]], encoding: str = "utf-8", **dialect: Any) -> Path:
    """Write rows, the header first, as CSV; packed if the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding=encoding, newline="") as stream:
        csv.writer(stream, **{"lineterminator": "\n", **dialect}).writerows(rows)
    return path


def housing(folder: Path, n: int = 240, seed: int = 3) -> tuple[list[Path], dict[str, Any]]:
    """A housing survey: other names, M and F for 1 and 2, empty cells for -9, and an area that never changes."""
    draw = Random(seed)  # noqa: S311 - made-up people
    puf, eif, links = [], [], []
    for person in range(n):
        region = draw.choice("NESW")
        age, sex = draw.randint(18, 90), draw.randint(1, 2)
        income, tenure = round(draw.lognormvariate(10, 0.6)), draw.choice(["own", "rent", "free"])
        school = draw.choice(["low", "middle", "high"])
        stated = income if draw.random() > 0.05 else -9
        taught = school if draw.random() > 0.05 else "-9"
        if person % 3:
            puf.append([1000 + person, region, age, sex, taught, tenure, stated])
        if person % 3 != 1:
            known = round(income * draw.choice([1, 1, 0.95, 1.1]))
            learnt = school if draw.random() > 0.08 else ""
            eif.append([f"a{person:03d}", region, age + draw.choice([0, 0, 1]), "MF"[sex - 1], learnt, tenure, known])
        if person % 3 == 2:
            links.append([1000 + person, f"a{person:03d}"])
    for rows in (puf, eif, links):
        draw.shuffle(rows)
    paths = [
        saved(folder / "puf.csv", [["pufid", "region", "age", "sex", "education", "tenure", "income"], *puf]),
        saved(folder / "eif.csv", [["person", "area", "age", "gender", "school", "home", "income_est"], *eif]),
        saved(folder / "links.csv", [["pufid", "person"], *links]),
    ]
    variables = [
        {"name": "age", "type": "numeric"},
        {"name": "sex", "type": "categorical", "eif": "gender", "recode": {"eif": {"M": "1", "F": "2"}}},
        {"name": "education", "type": "categorical", "eif": "school", "missing": {"puf": ["-9"], "eif": [""]}},
        {"name": "tenure", "type": "categorical", "eif": "home"},
        {"name": "income", "type": "numeric", "eif": "income_est", "missing": ["-9"]},
    ]  # fmt: skip
    files = {
        "puf": {"path": "puf.csv", "id": "pufid"},
        "eif": {"path": "eif.csv", "id": "person"},
        "iuf": {"path": "links.csv", "puf_id": "pufid", "eif_id": "person"},
    }
    strata = [{"name": "region", "eif": "area"}]
    return paths, _study("housing", files, variables, strata)


def haushalte(folder: Path, n: int = 300, seed: int = 5) -> tuple[list[Path], dict[str, Any]]:
    """Two dialects, keys of two columns, decimal commas, umlauts in cp1252, padded codes, a top code."""
    draw = Random(seed)  # noqa: S311 - made-up people
    puf, eif, links = [], [], []
    for person in range(n):
        house, member = f"{person // 3:04d}", str(person % 3 + 1)
        broker, serial = "XY"[person % 2], str(person // 2)
        age, amount = draw.randint(18, 90), round(draw.lognormvariate(7, 0.7), 2)
        job, size = draw.randint(1, 9), draw.randint(1, 7)
        state = draw.choice(["Köln", "Düsseldorf", "Münster"])
        if person % 4:
            stated = f"{amount:.2f}".replace(".", ",") if draw.random() > 0.06 else "k.A."
            puf.append([house, member, age, f"{job:02d}", min(size, 5), state, stated])
        if person % 4 != 1:
            worked = draw.choice([job] * 15 + [1])
            known = f"{amount * draw.choice([1, 1, 1.05]):.2f}"
            eif.append([serial, broker, age, worked, size if draw.random() > 0.05 else "", state, known])
        if person % 4 in (2, 3):
            links.append([broker, serial, house, member])
    for rows in (puf, eif, links):
        draw.shuffle(rows)
    header = ["haushalt_id", "person", "alter", "beruf", "hhsize", "wohnort", "einkommen"]
    paths = [
        saved(folder / "puf.csv", [header, *puf], encoding="cp1252", delimiter=";"),
        saved(folder / "eif.tsv.gz", [["serial", "broker", "age", "job", "hh_members", "city", "income"], *eif],
              delimiter="\t"),
        saved(folder / "links.csv", [["broker", "serial", "haushalt_id", "person"], *links], delimiter="|"),
    ]  # fmt: skip
    files = {
        "puf": {
            "path": "puf.csv", "id": ["haushalt_id", "person"], "delimiter": ";", "encoding": "cp1252", "decimal": ",",
        },
        "eif": {"path": "eif.tsv.gz", "id": ["serial", "broker"], "delimiter": "\t"},
        "iuf": {
            "path": "links.csv", "puf_id": ["haushalt_id", "person"], "eif_id": ["serial", "broker"], "delimiter": "|",
        },
    }  # fmt: skip
    variables = [
        {"name": "alter", "type": "numeric", "eif": "age"},
        {"name": "beruf", "type": "categorical", "eif": "job", "integer_coded": True},
        {
            "name": "hhsize", "type": "categorical", "eif": "hh_members", "missing": {"eif": [""]},
            "recode": {"eif": {"6": "5", "7": "5"}},
        },
        {"name": "einkommen", "type": "numeric", "eif": "income", "missing": {"puf": ["k.A."]}},
    ]  # fmt: skip
    return paths, _study("haushalte", files, variables, [{"name": "wohnort", "eif": "city"}])


def _study(name: str, files: dict, variables: list[dict], strata: list[dict]) -> dict[str, Any]:
    return {
        "id": name,
        "files": files,
        "strata": strata,
        "linking_variables": variables,
        "metrics": METRICS,
        "decision": {"conditional_rate_at_most": "0.05"},
    }
