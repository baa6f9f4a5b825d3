"""Every file that a study makes is declared, with exactly its columns and types."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from making.analyses import gathered
from making.changes import changed
from reident.ledger import stored
from reident.pipeline import steps
from reident.pipeline.steps import STEPS, table_of
from reident.pipeline.tables import Table, TableColumn
from reident.study.model import Study, load
from workflow.commands import CHECKOUT, LINKAGE, PRELOADED, made, snakemake

pytestmark = pytest.mark.slow

PARQUET_TYPES = {
    "text": pa.types.is_string,
    "integer": pa.types.is_integer,
    "number": pa.types.is_floating,
    "boolean": pa.types.is_boolean,
}
CSV_TYPES = {
    "text": pd.api.types.is_object_dtype,
    "integer": pd.api.types.is_integer_dtype,
    "number": pd.api.types.is_float_dtype,
    "boolean": pd.api.types.is_bool_dtype,
}
NOT_TABLES = {"ledger", "logs", "benchmarks", "confidential"}
"""Folders that steps write to, which hold no tables."""


class Case(NamedTuple):
    """A study of a few records.

    Attributes
    ----------
    study : dict
        The content of the study file.
    targets : tuple of str
        What is made of it; every table if empty.
    names : dict
        What replaces each name in braces.
    conditions : set of str
        The conditions of further columns that hold.
    files : dict
        The text of source files, by name.
    """

    study: dict[str, Any]
    targets: tuple[str, ...]
    names: dict[str, list[str]]
    conditions: frozenset[str] = frozenset()
    files: Mapping[str, str] = MappingProxyType({})


def with_analyses(study: dict[str, Any]) -> dict[str, Any]:
    """Return a study of simulated households with every analysis that it may have."""
    return functools.reduce(changed, gathered("HOUSEHOLDS"), study)


SURVEY = ("kind `household-survey`", "kinds `household-survey` and `households`")
BROKERED = (
    "studies without `simulate.last_year`",
    "kind `household-survey` without `last_year`",
    "kind `household-survey` without `last_year`, and kind `households`",
)
HOUSEHOLDS = Case(
    with_analyses(
        {
            "id": "households",
            "simulate": {
                "kind": "household-survey",
                "households": 60,
                "puf_records": 30,
                "eif_records": 40,
                "original": True,
            },
            "linking_variables": [
                {
                    "name": "sex",
                    "type": "categorical",
                    "puf": "SEX",
                    "eif": "gender",
                    "recode": {"eif": {"M": "1", "F": "2"}},
                }
            ],
            "metrics": {"taxicab": {}, "fellegi_sunter": {"m": "informed"}},
            "decision": {"confirmed_rate_at_most": 0.01},
            "checklist": {"answers": {"survey": "A survey."}},
            "release": {"policy": "census-drb"},
            "confirmed_csv": True,
        }
    ),
    (),
    {
        "{key of the PUF}": ["pufid"],
        "{key of the EIF}": ["broker", "serial"],
        "{strata variables}": [],
        "{linking variables}": ["sex"],
    },
    frozenset({*SURVEY, *BROKERED}),
)
WAVES = Case(
    {
        "id": "waves",
        "simulate": {"kind": "household-survey", "puf_records": 30, "eif_records": 40, "overlap": 0.5, "last_year": {}},
        "linking_variables": [{"name": "SEX", "type": "categorical"}],
        "metrics": {"taxicab": {}},
    },
    ("simulated/puf.csv",),
    {},
    frozenset({*SURVEY, "studies with `simulate.last_year`"}),
)
AMOUNTS = Case(
    {
        "id": "amounts",
        "simulate": {"kind": "skewed-amounts", "records": 30, "variables": 3},
        "microaggregate": {"variables": ["x1", "x2", "x3"]},
        "linking_variables": [{"name": name, "type": "numeric"} for name in ("x1", "x2", "x3")],
        "metrics": {"winkler": {}},
        "variants": [{"set": "metrics.winkler.min_agree", "values": [1, 2]}],
    },
    ("comparison/rates.csv", "comparison/agreements.csv", "description/variables.csv"),
    {
        "{1 … v}": ["1", "2", "3"],
        "{key of the original file}": ["person"],
        "{columns of the original file}": ["x1", "x2", "x3"],
        "{key of the PUF}": ["pufid"],
        "{key of the EIF}": ["person"],
        "{strata variables}": [],
        "{linking variables}": ["x1", "x2", "x3"],
        "{what varies}": ["min_agree"],
    },
)
SYNTHETIC = Case(
    {
        "id": "synthetic",
        "simulate": {"kind": "synthetic-survey", "households": 60, "records": 40, "copies": 2, "holdout": 20},
        "matching": {
            "known": ["SEX", "AGE"],
            "synthesized": [{"name": "INCOME", "missing": ["-9"]}],
            "radius": {"INCOME": {"relative": 0.5}},
            "closest": {"variables": ["SEX", "AGE", "INCOME"]},
        },
        "attribute_disclosure": {
            "released": "synthetic",
            "keys": ["SEX", "AGE"],
            "targets": ["OCC", {"name": "INCOME", "type": "numeric", "missing": ["-9"], "within": {"relative": 0.5}}],
        },
    },
    ("matching/summary.csv", "matching/closest.csv", "attribution/summary.csv"),
    {
        "{key of the file}": [],
        "{keys and targets}": ["SEX", "AGE", "OCC", "INCOME"],
        "{matched variables}": ["SEX", "AGE", "INCOME"],
        "{file}": ["1", "2", "confidential"],
    },
    frozenset({"files without a key"}),
)
AUTHORITIES = Case(
    {
        "id": "authorities",
        "simulate": {"kind": "local-authorities", "households": [60, 40], "fraction": 0.2},
        "file_risk": {
            "file": "survey",
            "sampling_fraction": 0.2,
            "key_variables": ["SEX", {"name": "age", "column": "AGE", "type": "numeric"}, "MARSTAT", "TENURE"],
            "population": {"numerical_study": {"samples": 2, "strata": "AREA"}},
            "population_models": {"household": "SERIAL"},
            "scenarios": [{"name": "Neighbour", "known": ["SEX", "age"]}],
            "key_sets": {"up_to": 2},
            "sensitive": ["ILLNESS", "TENURE"],
        },
        "variants": [{"set": "file_risk.dis_suda", "values": ["elliot-manning", "user-guide"]}],
    },
    ("comparison/filerisk.csv", "filerisk/by_sample.csv", "filerisk/population.csv", "filerisk/scenarios.csv"),
    {
        "{key of the file}": ["SERIAL"],
        "{key variables}": ["SEX", "age", "MARSTAT", "TENURE"],
        "{sensitive variables}": ["ILLNESS"],
        "{what varies}": ["dis_suda"],
    },
    frozenset(
        {
            "studies with a population",
            "studies with households",
            "studies with households or units of the file",
            "studies with sensitive variables",
        }
    ),
)
BROKERS = Case(
    {
        "id": "brokers",
        "simulate": {
            "kind": "household-survey",
            "households": 60,
            "puf_records": 30,
            "eif_records": 40,
            "brokers": {"sources": ["1"], "person": True},
        },
        "linking_variables": HOUSEHOLDS.study["linking_variables"],
        "metrics": {"taxicab": {}},
        "variants": [{"name": "broker", "combinations": {"first": {}, "second": {"simulate.brokers.sources": ["01"]}}}],
        "together": "broker",
    },
    ("together/rates.csv",),
    {
        "{key of the PUF}": ["pufid"],
        "{key of the EIF}": ["broker", "serial"],
        "{strata variables}": [],
        "{linking variables}": ["sex"],
    },
    frozenset({"studies with `files.eif.person`", "studies with `simulate.brokers.person`", *SURVEY, *BROKERED}),
)
ADDRESSES = Case(
    {
        "id": "addresses",
        "simulate": {"kind": "households", "households": 90, "puf_households": 30, "eif_households": 40},
        "units": {"puf": "household", "eif": "address"},
        "linking_variables": [
            {"name": "AGE", "type": "numeric", "eif": "age_years"},
            {"name": "SEX", "type": "categorical", "eif": "gender", "recode": {"eif": {"M": "1", "F": "2"}}},
        ],
        "metrics": {"taxicab": {}},
    },
    ("units/members.csv",),
    {
        "{key of the PUF}": ["household"],
        "{key of the EIF}": ["address"],
        "{strata variables}": [],
        "{linking variables}": ["AGE", "SEX"],
    },
    frozenset(
        {
            "kind `households`",
            "kinds `household-survey` and `households`",
            "studies without `simulate.last_year`",
            "kind `household-survey` without `last_year`, and kind `households`",
            "studies with `units`",
        }
    ),
)
PATIENTS = Case(
    {
        "id": "patients",
        "simulate": {"kind": "visits", "households": 60, "puf_patients": 30, "eif_patients": 40},
        "units": {"puf": "patient", "eif": "member", "members": "some"},
        "linking_variables": [
            {"name": "SEX", "type": "categorical", "level": "unit", "eif": "gender",
             "recode": {"eif": {"M": "1", "F": "2"}}},
            {"name": "ADMITTED", "type": "date", "eif": "day", "format": {"puf": "YYYY-MM-DD", "eif": "DD.MM.YYYY"}},
        ],
        "metrics": {"adhoc": {}},
    },
    ("units/sizes.csv",),
    {
        "{key of the PUF}": ["patient"],
        "{key of the EIF}": ["member"],
        "{strata variables}": [],
        "{linking variables}": ["SEX", "ADMITTED"],
    },
    frozenset({"kind `visits`", "studies without `simulate.last_year`", "studies with `units`"}),
)  # fmt: skip
MEMBERS = Case(
    {
        "id": "members",
        "files": {
            "puf": {"path": "members-puf.csv", "id": "pid"},
            "eif": {"path": "members-eif.csv", "id": "person"},
            "iuf": {"path": "members-iuf.csv", "puf_id": "pid", "eif_id": "person"},
        },
        "units": {"puf": "house", "eif": "address"},
        "linking_variables": [
            {"name": "age", "type": "numeric"},
            {"name": "tenure", "type": "categorical", "level": "unit"},
        ],
        "metrics": {"unicity": {}, "taxicab": {}, "euclidean": {}},
        "file_risk": {"sampling_fraction": 0.5, "units": "house"},
    },
    ("units/sizes.csv", "filerisk/units.csv", "verdict/summary.csv"),
    {
        "{key of the PUF}": ["house"],
        "{key of the EIF}": ["address"],
        "{key of the file}": [],
        "{key variables}": ["age", "tenure"],
        "{strata variables}": [],
        "{linking variables}": ["age", "tenure"],
    },
    frozenset(
        {
            "files without a key",
            "studies with `units`",
            "studies with `units` whose IUF links rows",
            "studies whose IUF links rows",
            "studies with households or units of the file",
        }
    ),
    {
        "members-puf.csv": "house,pid,age,tenure\n1,1,30,own\n1,2,34,own\n2,3,51,rent\n3,4,30,own\n3,5,8,own\n",
        "members-eif.csv": "address,person,age,tenure\nA,a,30,own\nA,b,34,own\nB,c,52,rent\nC,d,8,own\nC,e,30,own\n",
        "members-iuf.csv": "pid,person\n1,a\n2,b\n3,c\n4,e\n5,d\n",
    },
)
SMALL_NAMES = {
    "{key of the PUF}": ["house", "person"],
    "{key of the EIF}": ["broker", "serial"],
    "{strata variables}": ["region"],
    "{linking variables}": ["age", "income", "rooms", "sex", "education", "tenure"],
}
VALUES = Case(
    {
        "id": "values",
        "files": {
            "puf": {"path": "values-puf.csv"},
            "eif": {"path": "values-eif.csv", "id": "person"},
            "iuf": {"path": "values-iuf.csv", "eif_id": "person"},
        },
        "strata": ["area"],
        "linking_variables": [{"name": "sex", "type": "categorical"}, {"name": "age", "type": "numeric"}],
        "metrics": {"euclidean": {}},
        "confirm": {"by": "values", "learn": ["job"]},
    },
    ("values/rates.csv",),
    {"{strata variables}": ["area"]},
    frozenset(),
    {
        "values-puf.csv": "area,sex,age,job\nn,1,30,a\nn,2,41,b\ns,1,52,a\ns,2,33,c\n",
        "values-eif.csv": "person,area,sex,age\na,n,1,31\nb,n,2,40\nc,s,1,52\nd,s,2,60\n",
        "values-iuf.csv": "person,area,sex,age,job\na,n,1,31,a\nb,n,2,40,a\nc,s,1,52,a\nd,s,2,60,c\n",
    },
)
CASES = (HOUSEHOLDS, WAVES, AMOUNTS, SYNTHETIC, AUTHORITIES, BROKERS, ADDRESSES, PATIENTS, MEMBERS, VALUES)


def tables_of(study: Study) -> list[str]:
    """Every table of a study but its report, and those of shards and sides, which other steps read."""
    tables = [table for step in steps.wanted(study) if step.rule != "report" for table in step.tables]
    return [path for table in tables for path in steps.paths(table, study) if "{" not in path]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory) -> Path:
    """The results of studies that together run every step but the report."""
    folder = tmp_path_factory.mktemp("simulated")
    for case in CASES:
        text = yaml.safe_dump(case.study, allow_unicode=True, sort_keys=False)
        for name, content in {f"{case.study['id']}.yaml": text, **case.files}.items():
            (folder / name).write_text(content, encoding="utf-8")
    files = [folder / f"{case.study['id']}.yaml" for case in CASES]
    wanted = {file.stem: case.targets or tables_of(load(file)) for case, file in zip(CASES, files, strict=True)}
    targets = [target for name, paths in wanted.items() for target in made(name, *paths)]
    ended = snakemake(*targets, studies=files, folder=folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    return folder / "run" / "results"


def files_of(results: Path) -> list[Path]:
    """The results of a study, and of its variants."""
    paths = (path for path in sorted(results.rglob("*")) if path.is_file() and not path.name.startswith("."))
    return [path for path in paths if NOT_TABLES.isdisjoint(path.parts) and path.suffix != ".lock"]


def expected(table: Table, path: Path, names: dict[str, list[str]], conditions: frozenset[str]) -> list[TableColumn]:
    """The columns of a file as it is declared, with the names of a study."""
    unicity = "unicity" in path.as_posix()
    conditions |= {"unicity"} if unicity else {"metrics other than unicity"}
    if "studies with `units`" in conditions and not unicity:
        conditions |= {"studies with `units`; metrics other than unicity"}
    columns, alternating = [], []
    for column in (*(one for one in table.columns if not one.only or one.only in conditions), None):
        place = re.search(r"{.*}", column.name) if column else None
        if alternating and (place is None or place[0] not in alternating[0].name):
            name = re.search(r"{.*}", alternating[0].name)[0]
            for value in names[name]:
                columns += [one._replace(name=one.name.replace(name, value)) for one in alternating]
            alternating = []
        if place:
            alternating.append(column)
        elif column:
            columns.append(column)
    return columns


def check(path: Path, names: dict[str, list[str]], conditions: frozenset[str] = frozenset()) -> str:
    """Hold a file to its declaration; return the path that it is declared by."""
    table = table_of(path)
    columns = expected(table, path, names, conditions)
    if path.suffix == ".parquet":
        schema, types = pq.read_schema(path), PARQUET_TYPES
        inner = [kind.value_type if pa.types.is_list(kind) else kind for kind in schema.types]  # of members of units
        values = dict(zip(schema.names, inner, strict=True))
    elif path.suffix == ".csv":
        frame, types = stored.read_text(path) if table.holds == "records" else stored.read(path), CSV_TYPES
        values = {name: frame[name] for name in frame.columns}
    else:
        assert not columns, path
        return table.path
    assert list(values) == [column.name for column in columns], path
    for column in columns:
        if path.suffix == ".csv" and table.holds == "records" and column.type in ("number", "integer"):
            values[column.name] = pd.to_numeric(values[column.name])
        fits = [types[kind](values[column.name]) for kind in column.type.split(" or ")]
        if path.suffix == ".csv":  # text without a line has no type
            fits.append(values[column.name].empty)
        assert any(fits), (path, column.name, values[column.name])
    return table.path


def test_every_file_of_the_small_study_has_the_declared_columns(finished):
    declared = {check(path, SMALL_NAMES) for path in files_of(finished.results)}
    assert declared == {table.path for rule in LINKAGE for table in STEPS[rule].tables}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.study["id"])
def test_every_file_of_a_simulated_study_has_the_declared_columns(simulated, case):
    files = files_of(simulated / case.study["id"])
    assert files
    for path in files:
        check(path, case.names, case.conditions)


def test_every_declared_table_is_made_by_one_of_these_studies(simulated, finished):
    paths = [path for case in CASES for path in files_of(simulated / case.study["id"])]
    declared = {table_of(path).path for path in (*paths, *files_of(finished.results))}
    assert declared == {table.path for step in STEPS.values() for table in step.tables}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "case", "variables", "figures"),
    [
        ("example-households", ADDRESSES, ["AGE", "SEX", "RELATION", "TENURE"], ("euclidean", 494, 578, 1113, 2198)),
        ("example-patients", PATIENTS, ["BORN", "SEX", "ADMITTED", "DIAGNOSIS"], ("adhoc", 425, 430, 1289, 2879)),
    ],
)
def test_the_bundled_studies_of_units_run(tmp_path, name, case, variables, figures):
    """The guide gives their figures: units found and that could be, members of those found and all."""
    study = CHECKOUT / f"config/studies/{name}.yaml"
    ended = snakemake(*made(name, "verdict/summary.csv"), studies=[study], folder=tmp_path / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    hold_bundled(tmp_path / "run" / "results" / name, case, variables, figures)


def hold_bundled(results: Path, case: Case, variables: list[str], figures: tuple[str, int, int, int, int]) -> None:
    """Hold the results of a bundled study to the declared columns and to the figures of the guide."""
    names = case.names | {"{strata variables}": ["REGION"], "{linking variables}": variables}
    for path in files_of(results):
        check(path, names, case.conditions)
    rates = stored.read(results / "rates.csv").query("stratum == 'ALL'").set_index("metric")
    members = stored.read(results / "units" / "members.csv").query("stratum == 'ALL'").set_index("metric")
    best = rates["n_confirmed"].idxmax()
    found = rates.loc[best, ["n_confirmed", "n_findable"]].tolist()
    assert (best, *found, *members.loc[best, ["n_confirmed_members", "n_members"]].tolist()) == figures
