"""The rows of a unit become one record, whatever their order, and wrong units are refused by their number."""

import itertools

import pyarrow as pa
import pytest
from making.examples import cases
from reident.errors import InputError
from reident.intake import grouping, ordering
from reident.intake import step as intake_step
from reident.intake.prepare import prepare
from reident.study.model import Study

PUF = {
    "pid": ["1", "2", "3", "4", "5"],
    "hh": ["b", "a", "b", "a", "c"],
    "village": ["n", "s", "n", "s", "n"],
    "age": ["30", "", "12", "5", "70"],
    "sex": ["f", "m", "f", "m", "f"],
    "size": ["2", "", "2", "2", "1"],
}
EIF = {
    "household": ["z", "y", "z"],
    "no": ["1", "1", "2"],
    "village": ["n", "s", "n"],
    "age": ["12", "5", "30"],
    "sex": ["f", "m", "f"],
    "size": ["2", "2", "2"],
}
LINKS = {"pid": ["1", "3", "4"], "h": ["z", "z", "y"], "n": ["2", "1", "1"]}


def settings(**sections):
    study = {
        "id": "units",
        "files": {
            "puf": {"path": "puf.csv", "id": "pid"},
            "eif": {"path": "eif.csv", "id": ["household", "no"]},
            "iuf": {"path": "links.csv", "puf_id": "pid", "eif_id": ["h", "n"]},
        },
        "units": {"puf": "hh", "eif": "household"},
        "strata": ["village"],
        "linking_variables": [
            {"name": "age", "type": "numeric", "missing": [""]},
            {"name": "sex", "type": "categorical"},
            {"name": "size", "type": "categorical", "level": "unit", "missing": [""]},
        ],
        "metrics": {"taxicab": {}},
        **sections,
    }
    return intake_step.preparing(Study.model_validate(study))


def prepared(puf=PUF, eif=EIF, links=LINKS, **sections):
    return prepare(settings(**sections), pa.table(puf), pa.table(eif), pa.table(links))


def test_a_unit_is_one_record_with_lists_of_its_members():
    made = prepared()
    assert made.puf.to_pydict() == {
        "hh": ["a", "b", "c"],
        "village": ["s", "n", "n"],
        "age": [[5.0, None], [12.0, 30.0], [70.0]],
        "sex": [["m", "m"], ["f", "f"], ["f"]],
        "size": ["2", "2", "1"],
        "n_members": [2, 2, 1],
        "source_row": [PUF["hh"].index(unit) for unit in ("a", "b", "c")],
    }
    assert made.iuf.to_pydict() == {
        "puf": [0, 1],
        "eif": [0, 1],
        "puf_members": [[0], [0, 1]],
        "eif_members": [[0], [0, 1]],
    }
    account = {(line.file, line.cause): line.rows for line in made.account.itertuples()}
    assert account["puf", "further row of a unit"] == 2
    assert account["iuf", "further link of the same units"] == 1


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::17])
@pytest.mark.parametrize("bucket", [1, 2**18])
def test_only_the_rows_of_the_source_depend_on_their_order(order, bucket, monkeypatch):
    monkeypatch.setattr(ordering, "BUCKET", bucket)
    shuffled = {name: [values[at] for at in order] for name, values in PUF.items()}
    made, expected = prepared(shuffled), prepared()
    assert made.puf["source_row"].to_pylist() == [shuffled["hh"].index(unit) for unit in made.puf["hh"].to_pylist()]
    assert made.puf.drop_columns("source_row").equals(expected.puf.drop_columns("source_row"))
    assert made.iuf.equals(expected.iuf)


def test_links_may_name_units():
    files = {
        "puf": {"path": "puf.csv"},
        "eif": {"path": "eif.csv"},
        "iuf": {"path": "links.csv", "puf_id": "hh", "eif_id": "household"},
    }
    made = prepared(links={"hh": ["a", "b", "b"], "household": ["y", "z", "z"]}, files=files)
    assert made.iuf.to_pydict() == {"puf": [0, 1], "eif": [0, 1]}


def test_a_key_of_rows_may_repeat_in_its_unit_or_be_empty():
    made = prepared(
        {**PUF, "pid": ["1", "", "1", "4", ""]}, links={"pid": ["1", "4"], "h": ["z", "y"], "n": ["1", "1"]}
    )
    assert made.iuf.to_pydict()["puf_members"] == [[0], [0, 1]]
    assert made.iuf.to_pydict()["eif_members"] == [[0], [0, 0]]


def test_clusters_are_those_of_units():
    made = prepared(rates={"cluster": "village"})
    assert made.clusters["cluster"].to_pylist() == [1, 0, 0]


REFUSED = [
    ("a stratum", {"village": ["n", "s", "n", "n", "n"]}, {},
     "puf.csv: the strata variable `village` must have one value in each unit, but has several in 1 of 3 units."),
    ("a variable of the unit", {"size": ["2", "", "3", "2", "1"]}, {},
     "puf.csv: the linking variable `size` must have one value in each unit, but has several in 1 of 3 units."),
    ("a cluster", {"psu": ["1", "2", "3", "4", "5"]}, {"rates": {"cluster": "psu"}},
     "puf.csv: the cluster column `psu` must have one value in each unit, but has several in 2 of 3 units."),
    ("no unit", {"hh": ["b", "", "b", "", "c"]}, {}, "puf.csv, row 3: the unit (hh) must not be empty (2 such rows)."),
    ("a key of several units", {"pid": ["1", "2", "3", "1", "5"]}, {},
     "links.csv, row 2: the link names a key that rows of several units have (1 such links)."),
    ("an unknown row", {"pid": ["9", "2", "3", "4", "5"]}, {},
     "links.csv, row 2: the link names a record that is not in puf.csv (1 such links)."),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "sections", "problem"), cases(REFUSED))
def test_wrong_units_are_refused(columns, sections, problem):
    with pytest.raises(InputError) as error:
        prepared({**PUF, **columns}, **sections)
    assert str(error.value).startswith(problem)


def test_too_many_rows_are_no_unit(monkeypatch):
    monkeypatch.setattr(grouping, "MAX_MEMBERS", 1)
    with pytest.raises(InputError, match=r"puf.csv: a unit \(hh\) must have at most 1 rows. Correct `units.puf`."):
        prepared()
