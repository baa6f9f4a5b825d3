"""The declared tables: complete, found by their paths, and read by their types."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import stored
from reident.pipeline import tables
from reident.pipeline.steps import COMPARED, STEPS, table_of
from reident.pipeline.tables import Column, Table
from reident.sections import attribution, columns, filerisk, matching

ROOT = Path(__file__).parents[3]
DECLARED = [table for step in STEPS.values() for table in step.tables]
BY_PATH = pytest.mark.parametrize("table", DECLARED, ids=lambda table: table.path)
LINKAGE = ("prepare", "stratify", "bin", "score", "rank", "confirm", "rate", "explain")


def sections():
    return set(
        re.findall(r"^#+ (\d[\d.]*?)\.? ", (ROOT / "docs/METHODS.md").read_text("utf-8"), re.MULTILINE)
    )


@BY_PATH
def test_every_table_says_what_it_holds_in_sentences(table):
    assert re.fullmatch(r"[A-Z].*\.", table.meaning)
    assert not table.section or table.section in sections()


@BY_PATH
def test_every_table_of_records_or_numbers_has_columns(table):
    assert bool(table.columns) == table.path.endswith((".csv", ".parquet"))


@BY_PATH
def test_every_column_has_a_name_of_its_own_and_a_meaning(table):
    assert max(Counter(column.name for column in table.columns).values(), default=1) == 1
    for column in table.columns:
        assert column.meaning
        assert not column.meaning.endswith(".")
        assert not column.section or column.section in sections()
        assert (column.type == "text") <= (not column.unit), "text has no unit"


def test_no_two_tables_have_the_same_path():
    assert set(Counter(table.path for table in DECLARED).values()) == {1}


@BY_PATH
def test_csv_columns_have_one_type(table):
    assert table.path.endswith(".parquet") or not [c.name for c in table.columns if " or " in c.type]


@BY_PATH
@pytest.mark.parametrize("folder", ["", "results/small", "/somewhere/results/small/variants/alpha-0.25"])
def test_a_table_is_found_by_its_path(table, folder):
    path = Path(
        folder, table.path.format(metric="taxicab", scatteritem="1-of-3", side="synthetic_1", table="rates")
    )
    assert table_of(path)[:3] == table[:3]


def test_a_file_that_is_not_declared_has_no_declaration():
    with pytest.raises(ValueError, match=r"^scores/taxicab/0001\.other\.parquet is not declared"):
        table_of("results/small/scores/taxicab/0001.other.parquet")


@pytest.mark.parametrize("name", COMPARED)
def test_a_comparison_has_the_columns_of_its_table_but_the_one_that_selects(name):
    declared = table_of(f"comparison/{name}.csv").columns
    front, compared = tables.COMPARE_VARIANTS[0].columns[:-1], COMPARED[name]
    assert [column.name for column in declared] == [
        column.name for column in (*front, *compared.columns) if column.name != compared.compared.column
    ]


def test_the_lines_that_are_compared_are_selected_by_a_column_of_the_table():
    for table in COMPARED.values():
        (column,) = [column for column in table.columns if column.name == table.compared.column]
        assert isinstance(table.compared.value, bool) == (column.type == "boolean")


def test_what_holds_no_data_has_no_column_that_a_study_names():
    """A key or a value of a record needs a column of its own."""
    for table in DECLARED:
        if table.holds == "aggregates" and table not in tables.COMPARE_VARIANTS:
            assert not [column.name for column in table.columns if "{" in column.name], table.path


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


def test_the_risk_of_one_file_reserves_the_names_beside_its_key():
    assert beside_names_of_the_study(["assess_file", "model_population"]) == filerisk.RESERVED


def test_matching_reserves_the_names_beside_its_key():
    assert beside_names_of_the_study(["match"]) == matching.RESERVED


def test_attribute_disclosure_reserves_the_names_beside_its_key():
    assert beside_names_of_the_study(["assess_attribution"]) == attribution.RESERVED


TYPED = Table(
    "typed",
    "typed.csv",
    "A table with every type.",
    (
        Column("t", "text", "text"),
        Column("i", "integer", "an integer"),
        Column("n", "number", "a number"),
        Column("b", "boolean", "a truth value"),
    ),
)


def test_cells_are_read_by_the_types_of_their_columns():
    text = pd.DataFrame(
        {"t": ["01", ""], "i": ["7", "-8"], "n": ["0.1", ""], "b": ["True", "False"], "x": ["1", "2"]}
    )
    values = stored.typed(TYPED, text)
    assert values["t"].tolist() == ["01", ""]
    assert values["i"].tolist() == [7, -8]
    assert values["i"].dtype == np.int64
    np.testing.assert_array_equal(values["n"], [0.1, np.nan])
    assert values["b"].tolist() == [True, False]
    assert values["b"].dtype == bool
    assert values["x"].tolist() == ["1", "2"], "a column that the study names is text"


def test_integers_beside_an_empty_cell_stay_exact():
    values = stored.typed(TYPED, pd.DataFrame({"i": ["", "9007199254740993", "5.0"]}))["i"]
    assert values.dtype == "Int64"
    assert values[1:].tolist() == [2**53 + 1, 5]
    assert values.isna().tolist() == [True, False, False]


def test_a_table_without_lines_keeps_its_types():
    values = stored.typed(TYPED, pd.DataFrame({name: pd.Series(dtype=object) for name in "inb"}))
    assert [str(kind) for kind in values.dtypes] == ["int64", "float64", "bool"]


@pytest.mark.parametrize(
    ("column", "cell"), [("i", "1.5"), ("i", "one"), ("n", "one"), ("b", "yes"), ("b", ""), ("b", "1")]
)
def test_a_cell_of_another_type_is_an_error(column, cell):
    with pytest.raises(ValueError, match=r"."):
        stored.typed(TYPED, pd.DataFrame({column: [cell]}))


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
    values = stored.typed(TYPED, stored.read_text(path))
    pd.testing.assert_frame_equal(values, table, check_exact=True)
    assert stored.encoded(values) == path.read_bytes()
