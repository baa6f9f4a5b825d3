"""The declared tables: complete, found by their paths, and read by their types."""

from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import stored
from reident.pipeline import tables
from reident.pipeline.steps import STEPS, table_of
from reident.pipeline.tables import Table, TableColumn
from reident.sections import columns

DECLARED = [table for step in STEPS.values() for table in step.tables]

BY_PATH = pytest.mark.parametrize("table", DECLARED, ids=lambda table: table.path)
WORDS = {"aggregates", "labels", "records"}
LINKAGE = ("prepare", "stratify", "bin", "score", "rank", "confirm", "rate", "explain")


@BY_PATH
@pytest.mark.parametrize("folder", ["", "results/small", "/somewhere/results/small/variants/alpha-0.25"])
def test_a_table_is_found_by_its_path(table, folder):
    path = Path(folder, table.path.format(metric="taxicab", scatteritem="1-of-3", side="synthetic_1", table="rates"))
    assert table_of(path)[:3] == table[:3]


def test_what_holds_no_data_has_no_column_that_a_study_names():
    """A key or a value of a record needs a column of its own."""
    for table in DECLARED:
        if table.holds == "aggregates" and table not in tables.COMPARE_VARIANTS:
            assert not [column.name for column in table.columns if "{" in column.name], table.path


def test_every_line_declares_a_file_or_a_column_in_the_words_of_declarations():
    """A column without its table, or a word that is misspelt, would declare nothing."""
    assert {table.holds for table in DECLARED} == WORDS
    paths = {path for row in tables._rows("columns.csv") for path in row["tables"].split()}
    assert paths == {table.path for table in DECLARED if table.columns}
    assert {row["rule"] for row in tables._rows("tables.csv")} == STEPS.keys()
    for column in (column for table in DECLARED for column in table.columns):
        assert column.type in get_args(tables.Type)
    quantities = [row["name"] for row in tables._rows("quantities.csv")]
    named = {row["name"] for row in tables._rows("columns.csv") if not row["type"]}
    assert sorted(quantities) == sorted(name for name in named if not name.startswith("{columns of "))


def beside_names_of_the_study(rules):
    """The names of columns that are in one table with columns that the study names."""
    return {
        column.name
        for rule in rules
        for table in STEPS[rule].tables
        if any(column.name.startswith("{") for column in table.columns)
        for column in table.columns
        if "{" not in column.name
    }


def test_names_that_a_study_may_not_use_are_those_beside_its_own():
    every = {column.name for rule in LINKAGE for table in STEPS[rule].tables for column in table.columns}
    assert beside_names_of_the_study(LINKAGE) <= columns.RESERVED <= every


TYPED = Table(
    "typed",
    "typed.csv",
    "A table with every type.",
    (
        TableColumn("t", "text", "text"),
        TableColumn("i", "integer", "an integer"),
        TableColumn("n", "number", "a number"),
        TableColumn("b", "boolean", "a truth value"),
    ),
)


@pytest.fixture(autouse=True, scope="module")
def declared():
    """The table of every type is declared, as if a step made it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "table_of", lambda path: TYPED if path.name == "typed.csv" else table_of(path))
        yield


def read(folder, **columns):
    path = folder / "typed.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return stored.read_csv(path)


def test_cells_are_read_by_the_types_of_their_columns(tmp_path):
    text = {"t": ["01", ""], "i": ["7", "-8"], "n": ["0.1", ""], "b": ["True", "False"], "x": ["1", "2"]}
    values = read(tmp_path, **text)
    assert values["t"].tolist() == ["01", ""]
    assert values["i"].tolist() == [7, -8]
    assert values["i"].dtype == np.int64
    np.testing.assert_array_equal(values["n"], [0.1, np.nan])
    assert values["b"].tolist() == [True, False]
    assert values["b"].dtype == bool
    assert values["x"].tolist() == ["1", "2"], "a column that the study names is text"
    assert {type(value) for name in ("t", "x") for value in values[name]} == {str}
    some = stored.read_csv(tmp_path / "typed.csv", ["n", "t"])
    pd.testing.assert_frame_equal(some, values[["n", "t"]])


def test_integers_beside_an_empty_cell_stay_exact(tmp_path):
    values = read(tmp_path, t=["a", "b"], i=["", "9007199254740993"])["i"]
    assert values.dtype == "Int64"
    assert values[1] == 2**53 + 1
    assert values.isna().tolist() == [True, False]
    assert read(tmp_path, t=["a", "b"], i=["", "5.0"])["i"][1] == 5


def test_a_table_is_written_with_the_declared_columns_in_their_order(tmp_path):
    table = pd.DataFrame({"n": [1.0, 2.0], "t": ["a", "b"], "i": [3.0, None]})
    lines = ["t,i,n,b", "a,3,1.0,", "b,,2.0,"]
    assert stored.encoded(table, tmp_path / "typed.csv").decode().splitlines() == lines
    empty = stored.encoded(pd.DataFrame(), tmp_path / "typed.csv")
    assert empty.decode().splitlines() == lines[:1]
    with pytest.raises(ValueError, match=r"not in pipeline/columns\.csv: other"):
        stored.arranged(table.assign(other=1), tmp_path / "typed.csv")


def test_a_column_of_some_studies_is_written_where_the_study_has_it():
    waves = {"pufid": ["1"], "REGION": ["2"], "last_pufid": ["3"]}
    table = stored.arranged(pd.DataFrame(waves), Path("results/s/simulated/iuf.csv"))
    assert list(table)[:3] == ["pufid", "last_pufid", "REGION"]
    assert not {"broker", "serial"} & set(table)


@pytest.mark.parametrize(
    ("column", "cell"), [("i", "1.5"), ("i", "one"), ("n", "one"), ("b", "yes"), ("b", ""), ("b", "1"), ("n", "0x10")]
)
def test_a_cell_of_another_type_is_an_error(tmp_path, column, cell):
    with pytest.raises(ValueError, match=r"."):
        read(tmp_path, t=["a"], **{column: [cell]})


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=5),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_infinity=False),
            st.booleans(),
        ),
        max_size=9,
    )
)
def test_a_typed_table_is_written_as_the_bytes_that_it_was_read_from(tmp_path_factory, rows):
    """The comparison of variants writes again what it reads."""
    path = tmp_path_factory.mktemp("typed") / "typed.csv"
    table = pd.DataFrame(rows, columns=["t", "i", "n", "b"]).astype(
        {"t": object, "i": "int64", "n": "float64", "b": bool}
    )
    path.write_bytes(stored.encoded(table))
    values = stored.read_csv(path)
    pd.testing.assert_frame_equal(values, table, check_exact=True)
    assert stored.encoded(values) == path.read_bytes()
