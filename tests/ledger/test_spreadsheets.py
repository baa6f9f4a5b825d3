"""A spreadsheet takes no label of a CSV table for a formula; labels are read back as they were, numbers stay."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import spreadsheets, stored

FORMULAS = [
    "=cmd()", "+1+1", "@SUM(A1)", "-2+3", "\t=1", "\r=1", "\n=1", "＝1+1", "-", "+", "=", "'quoted", "''", "--",
]  # fmt: skip


def read_back(table, folder, name="table.csv", read=stored.read_text):
    path = folder / name
    path.write_bytes(stored.encoded(table, path))
    return path.read_bytes().decode(), read(path)


@pytest.mark.parametrize("label", FORMULAS)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(label):
    (cell,) = spreadsheets.guarded(pd.DataFrame({"label": [label]}))["label"]
    assert cell == "'" + label


@pytest.mark.parametrize(("name", "key"), [("microaggregation/puf.csv", "key"), ("simulated/survey.csv", "SERIAL")])
def test_what_only_steps_read_holds_exactly_its_values(tmp_path, name, key):
    (tmp_path / name).parent.mkdir()
    text, again = read_back(pd.DataFrame({key: ["=1", "-A1", "'x"]}), tmp_path, name)
    head, *lines = text.splitlines()
    assert head.split(",")[0] == key
    assert lines == [value + "," * head.count(",") for value in ("=1", "-A1", "'x")]
    assert again[key].tolist() == ["=1", "-A1", "'x"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9), max_size=9))
def test_every_label_is_read_back_as_it_was(labels):
    table = pd.DataFrame({"label": pd.Series(labels, dtype=object)})
    cells = spreadsheets.guarded(table)
    assert spreadsheets.plain(cells)["label"].tolist() == labels
    assert all(not cell or cell[0] not in "=@\t\r\n" for cell in cells["label"])


@pytest.mark.parametrize(
    "name", ["rates.csv", "microaggregation/account.csv", "strata/manifest.csv", "comparison/rates.csv", "new.csv"]
)
def test_tables_that_people_open_are_guarded(name):
    assert spreadsheets.is_for_people(Path("results/x/variants/a", name))
