"""Changes of a study by the keys of its file, and the files that the changed studies read."""

import copy
import hashlib
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Change = dict[str, Any]
"""Values by key, dots between sections and numbers for the items of lists; None removes a key."""


N = 40


QUESTIONS = """\
title: Ours
topics: [{title: Age, questions: [{id: age, text: "How old?", why: It fades., exhibits: [records]}]}]
"""


SCORES = "def near(p, e):\n    return 5 * (abs(p - e) <= 1)\n"


SCORES_SHA256 = hashlib.sha256(SCORES.encode()).hexdigest()


def rows() -> dict[str, list[list[str]]]:
    """Return the rows of every file, header first; made-up people."""
    draw = Random(5)  # noqa: S311 - made-up people
    people = [
        [
            draw.choice("NES"),
            str(draw.randint(20, 60)),
            f"{draw.randint(10, 90)}.5",
            draw.choice("12"),
            draw.choice(["1", "2", "3", "-9"]),
            str(draw.randint(1, 4)),
            f"h{at // 2:02d}",
            f"{1 + at // 2 % 12:02d}-{1 + 5 * (at // 2) % 12:02d}-{7 * (at // 2) % 100:02d}",
        ]
        for at in range(N)
    ]
    header = ["region", "age", "income", "sex", "school", "weight", "house", "since"]
    names = [f"p{at:02d}" for at in range(N)]
    eif = [[f"e{at:02d}", f"s{at:02d}", *person] for at, person in enumerate(people[10:], start=10)]
    synthetic = [
        [name, *person[:2], draw.choice(people)[2], *person[3:4], draw.choice(people)[4], *person[5:]]
        for name, person in zip(names, people, strict=True)
    ]
    key = ["id", *header]
    return {
        "puf": [key, *([name, *person] for name, person in zip(names[:30], people[:30], strict=True))],
        "eif": [["broker", "serial", *header], *eif],
        "iuf": [["id", "broker", "serial"], *([names[at], f"e{at:02d}", f"s{at:02d}"] for at in range(10, 30))],
        "people": [key, *([name, *person] for name, person in zip(names, people, strict=True))],
        "synthetic": [key, *synthetic],
        "amounts": [
            ["id", "sales", "staff", "region"],
            *([f"f{at:02d}", str(3 * at % 37 + 4), str(at % 11 + 1), "NS"[at % 2]] for at in range(N)),
        ],
    }


def write_files(folder: Path) -> None:
    """Write every file as CSV and in the other forms that a change may name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in rows().items():
        _write(folder / f"{name}.csv", table, ",")
        _write(folder / f"{name}.txt", [[cell.replace(".", ",") for cell in row] for row in table], ";")
        _write(folder / f"{name}.utf16.csv", table, ",", encoding="utf-16")
        lines = ["".join(cell.ljust(8) for cell in row) for row in table[1:]]
        (folder / f"{name}.fwf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        columns = dict(zip(table[0], zip(*table[1:], strict=True), strict=True))
        pq.write_table(
            pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}),
            folder / f"{name}.parquet",
        )
    (folder / "rules.py").write_text(SCORES, encoding="utf-8")
    (folder / "questions.yaml").write_text(QUESTIONS, encoding="utf-8")


def _write(path: Path, table: list[list[str]], delimiter: str, encoding: str = "utf-8") -> None:
    path.write_text("".join(delimiter.join(row) + "\n" for row in table), encoding=encoding)


def forms(section: str, name: str, path: str = "path") -> list[Change]:
    """Other ways in which a file may be written."""
    columns = rows()[name][0]
    layout = {column: f"{8 * at + 1}-{8 * at + 8}" for at, column in enumerate(columns)}
    return [
        {f"{section}.{path}": f"{name}.txt", f"{section}.delimiter": ";", f"{section}.decimal": ","},
        {
            f"{section}.{path}": f"{name}.txt",
            f"{section}.delimiter": ";",
            f"{section}.decimal": ",",
            f"{section}.thousands": ".",
        },
        {f"{section}.{path}": f"{name}.utf16.csv", f"{section}.encoding": "utf-16"},
        {f"{section}.{path}": f"{name}.fwf", f"{section}.layout": layout},
        {f"{section}.{path}": f"{name}.parquet", f"{section}.format": "parquet"},
        {f"{section}.quote": "'"},
    ]


def under(form: Change, section: str) -> dict[str, Any]:
    """A change of one section as that section."""
    return {"path": "people.csv"} | {key.removeprefix(f"{section}."): value for key, value in form.items()}


def typings(section: str) -> list[Change]:
    """How the texts of a variable are read."""
    return [{f"{section}.missing": ["-9"]}, {f"{section}.missing": ["2", "-9"]}, {f"{section}.integer_coded": True}]


def labelled(section: str) -> Change:
    """The labels of codes, which change no number."""
    return {f"{section}.labels": {"1": "one", "2": "two"}}


HEAD: list[Change] = [
    {"title": "Another title"},
    {"agency": "An agency"},
    {"date": "2026-03-31"},
    {"language": "de"},
    {"checklist": {"answers": {"survey": "A survey."}}},
    {"checklist": {"file": "questions.yaml", "answers": {"age": "Old."}}},
    {"checklist": {"file": "questions.yaml", "further": ["ipc-ontario"]}},
    {
        "checklist": {
            "decision": {
                "board": "The board",
                "decision": "approved with conditions",
                "date": "2026-04-01",
                "conditions": ["Drop the income."],
                "names": [{"name": "A. Adams", "role": "chair"}],
            }
        }
    },
    {"release": {"policy": "opensafely", "strata": "true"}},
    {"release": {"policy": "opensafely", "one_to_one": "false"}},
    {"release": {"policy": "opensafely", "released_means": "within"}},
    {"release": {"policy": "base-5-random", "seed": "at least sixteen characters"}},
]


DATE = {"type": "date", "format": "DD-MM-YY", "latest_year": "2026"}


VARIABLES = [
    {"name": "age", "type": "numeric"},
    {"name": "income", "type": "numeric"},
    {"name": "sex", "type": "categorical"},
    {"name": "school", "type": "categorical"},
]


def changed(study: dict[str, Any], change: Change) -> dict[str, Any]:
    """Return a study with the values of a change."""
    study = copy.deepcopy(study)
    for key, value in change.items():
        *way, last = key.split(".")
        section: Any = study
        for part in way:
            if isinstance(section, list):
                section = section[int(part)]
                continue
            if not isinstance(section.get(part), dict | list):
                section[part] = {}
            section = section[part]
        if value is None:
            section.pop(last, None)
        else:
            section[last] = copy.deepcopy(value)
    return study
