"""A spreadsheet takes no label of a CSV table for a formula; labels are read back as they were, numbers stay."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import spreadsheets, stored

FORMULAS = [
    "=cmd()",
    "+1+1",
    "@SUM(A1)",
    "-2+3",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "-",
    "+",
    "=",
    "'quoted",
    "''",
    "--",
]
NUMBERS = ["-9", "+1", "-1.5", "-1e-05", "1", "0", "", "-.5"]
PLAIN = ["north", "a=b", " =1", "1-2", "é", "O'Neill", "a\r\nb"]


def read_back(table, folder, name="table.csv", read=stored.read_text):
    path = folder / name
    path.write_bytes(stored.encoded(table, path))
    return path.read_bytes().decode(), read(path)


@pytest.mark.parametrize("label", FORMULAS)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(label):
    (cell,) = spreadsheets.guarded(pd.DataFrame({"label": [label]}))["label"]
    assert cell == "'" + label


@pytest.mark.parametrize("label", NUMBERS + PLAIN)
def test_numbers_and_plain_labels_are_written_as_they_are(label):
    (cell,) = spreadsheets.guarded(pd.DataFrame({"label": [label]}))["label"]
    assert cell == label


def test_header_and_cells_are_read_back_as_they_were(tmp_path):
    labels = FORMULAS + NUMBERS + PLAIN
    table = pd.DataFrame({"=head": labels, "@head": labels[::-1], "n_puf": range(len(labels))})
    text, again = read_back(table, tmp_path, "rates.csv", stored.read)
    assert "n_puf" in again
    assert again["n_puf"].tolist() == table["n_puf"].tolist()
    for name in ("=head", "@head"):
        assert again[name].tolist() == table[name].tolist()
    for row in csv.reader(io.StringIO(text, newline="")):
        assert not [cell for cell in row if cell[:1] in "=+-@\t\r\n" and cell not in NUMBERS]


def test_missing_and_other_values_are_left(tmp_path):
    table = pd.DataFrame({"text": ["=1", None], "number": [-1.5, float("-inf")], "whole": [-1, 2]})
    text, _ = read_back(table, tmp_path)
    assert text == "text,number,whole\n'=1,-1.5,-1\n,-inf,2\n"


@pytest.mark.parametrize("name", ["microaggregation/puf.csv", "simulated/survey.csv"])
def test_what_only_steps_read_holds_exactly_its_values(tmp_path, name):
    (tmp_path / name).parent.mkdir()
    text, again = read_back(pd.DataFrame({"key": ["=1", "-A1", "'x"]}), tmp_path, name)
    assert text == "key\n=1\n-A1\n'x\n"
    assert again["key"].tolist() == ["=1", "-A1", "'x"]


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9), max_size=9
    )
)
def test_every_label_is_read_back_as_it_was(labels):
    table = pd.DataFrame({"label": pd.Series(labels, dtype=object)})
    cells = spreadsheets.guarded(table)
    assert spreadsheets.plain(cells)["label"].tolist() == labels
    assert all(not cell or cell[0] not in "=@\t\r\n" for cell in cells["label"])


@pytest.mark.parametrize(
    "name",
    ["rates.csv", "microaggregation/account.csv", "strata/manifest.csv", "comparison/rates.csv", "new.csv"],
)
def test_tables_that_people_open_are_guarded(name):
    assert spreadsheets.is_for_people(Path("results/x/variants/a", name))
