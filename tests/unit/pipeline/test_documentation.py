"""The data dictionary and the table of files that hold data are what the declared tables say."""

import re
from pathlib import Path

import pytest
from reident.pipeline import documentation
from reident.pipeline.steps import STEPS

ROOT = Path(__file__).parents[3]
GENERATED = documentation.files(ROOT)


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_file_is_what_the_declarations_say(path):
    assert (ROOT / path).read_text(encoding="utf-8") == GENERATED[path], "run `make docs`"


def test_writing_makes_the_files_that_are_compared(tmp_path):
    page = tmp_path / documentation.CONFIDENTIALITY
    page.parent.mkdir(parents=True)
    page.write_text((ROOT / documentation.CONFIDENTIALITY).read_text(encoding="utf-8"), encoding="utf-8")
    documentation.write(tmp_path)
    assert {path: (tmp_path / path).read_text(encoding="utf-8") for path in GENERATED} == GENERATED


def test_the_dictionary_has_a_section_for_each_step_and_a_heading_for_each_table():
    text = documentation.data_dictionary()
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == list(STEPS)
    paths = [table.path for step in STEPS.values() for table in step.tables]
    assert re.findall(r"^### `(.+)`$", text, re.MULTILINE) == paths


def test_the_dictionary_has_a_line_for_each_column():
    rows = [line for line in documentation.data_dictionary().splitlines() if line.startswith("| `")]
    columns = [column.name for step in STEPS.values() for table in step.tables for column in table.columns]
    assert [row.split("`")[1] for row in rows][: len(columns)] == columns
    assert {row.replace("\\|", "").count("|") for row in rows[: len(columns)]} == {5}


def test_files_with_data_are_listed_by_what_they_hold():
    records, labels = documentation.files_with_data().splitlines()[2:4]
    assert "`confirmed/*.parquet`" in records
    assert "`microaggregation/puf.csv`" in records
    assert "`microaggregation/*.csv`" not in records, "other tables there hold no data"
    assert "`confidential/*.txt`" in records
    assert "`strata/manifest.csv`" in labels


def test_a_page_without_the_place_for_the_table_is_an_error():
    with pytest.raises(ValueError, match="must have the lines"):
        documentation.confidentiality(f"Text\n{documentation.START}\n")
