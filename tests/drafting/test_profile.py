"""What a file holds: dialects, the text of fields, counts, and unique columns, against plain Python."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import drafting
from making.examples import examples
from reident import reading
from reident.drafting import profile as profiling
from reident.drafting import scan
from reident.drafting.profile import profile
from reident.drafting.source import describe
from reident.sections.files import SourceFile

HEADER = ["pid", "name", "wage"]
ROWS = [["1", "Ärger; und, mehr", "1,5"], ["2", 'sagt "nein"', "2,25"], ["3", "zwei\nZeilen", "-3,0"]]


def described(path: Path):
    return describe(path, path.with_name("study.yaml"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_dialect_is_recognised_and_read_as_reading_reads_it(delimiter, quote, encoding, tmp_path):
    path = tmp_path / "file.csv"
    drafting.saved(path, [HEADER, *ROWS], encoding=encoding, delimiter=delimiter, quotechar=quote, quoting=1)
    source = described(path)
    assert (source.described.delimiter, source.described.quote) == (delimiter, quote)
    assert source.columns == tuple(HEADER)
    assert source.decimal == ","
    assert pa.Table.from_batches(scan.batches(source)).to_pylist() == [
        dict(zip(HEADER, row, strict=True)) for row in ROWS
    ]


DECIMALS = [
    ("a comma in quoted fields", ",", ["1,5", "12,25", "3"], ","),
    ("a comma between thousands", ",", ["1,500", "12,250", "3"], "."),
    ("one that may be either, beside one that is a decimal", ",", ["1,500", "0,25", "3"], ","),
    ("thousands are not told apart where the comma does not delimit", ";", ["1,500", "12,250", "3"], ","),
    ("more points than commas", ";", ["1.5", "2.5", "3,5"], "."),
    ("no decimals", ";", ["1", "2", "3"], "."),
]


@pytest.mark.parametrize(("sentence", "delimiter", "cells", "decimal"), DECIMALS, ids=[case[0] for case in DECIMALS])
def test_the_decimal_separator_is_recognised(sentence, delimiter, cells, decimal, tmp_path):
    rows = [["pid", "wage"], *([str(at), cell] for at, cell in enumerate(cells))]
    source = described(drafting.saved(tmp_path / "file.csv", rows, delimiter=delimiter))
    assert source.decimal == decimal
    both = {"1.5", "3,5"} <= set(cells)
    assert ("only one of the two is read as numbers" in source.reasons.get("decimal", "")) == both


TEXTS = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6)


@examples(80)
@given(rows=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20), bom=st.booleans())
def test_the_fast_reader_gives_the_text_of_reading(rows, bom, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "file.csv"
    drafting.saved(path, [["a", "b"], *rows], encoding="utf-8-sig" if bom else "utf-8", quoting=1)
    source = described(path)._replace(described=SourceFile(path="file.csv"))
    fast = pa.Table.from_batches(scan.batches(source))
    assert fast.to_pylist() == reading.read(path, source.described, ["a", "b"]).to_pylist()


def columns_of(path: Path, rows: list[list[str]]):
    return profile(described(drafting.saved(path, rows))).columns


VALUES = st.sampled_from(
    ["1", "01", "2.5", "-9", "", "NA", "x", " y ", "99", "12", "unknown", "1e3", "-1", "é", "e\u0301"]
)


@examples(100)
@given(values=st.lists(VALUES, min_size=1, max_size=60), cap=st.sampled_from([2, 10_000]))
def test_counts_are_those_of_a_counter(values, cap, tmp_path_factory):
    """Beyond the cap: the same missing records, as many that are no numbers, and no count by text."""
    folder = tmp_path_factory.mktemp("files")
    rows = [["n", "x"], *([str(at), value] for at, value in enumerate(values))]
    exact = columns_of(folder / "file.csv", rows)["x"]
    plain = Counter(value.strip().replace("e\u0301", "é") for value in values)
    assert exact.counts == plain
    assert exact.unique == (len(set(values)) == len(values) and "" not in values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiling, "MAX_LEVELS", cap)
        capped = columns_of(folder / "file.csv", rows)["x"]
    assert capped.records == len(values)
    if len(set(values)) > cap:
        assert capped.counts is None
        assert capped.unique == exact.unique
        if not capped.unique:
            assert set(capped.missing) - {"-9", "99"} == set(exact.missing) - {"-9", "99", "NA"} | (
                {"NA"} & set(capped.missing)
            )
        assert len(capped.sample) <= len(values)
    else:
        assert capped.counts == plain


def test_a_column_with_many_levels(tmp_path, monkeypatch):
    monkeypatch.setattr(profiling, "MAX_LEVELS", 50)
    monkeypatch.setattr(profiling, "_MAX_SAMPLE", 100)
    monkeypatch.setattr(scan, "_BLOCK", 500)
    rows = [["pid", "income"], *([f"p{at}", "-9" if at % 10 == 3 else str(at * 7 % 2003)] for at in range(1, 2001))]
    columns = columns_of(tmp_path / "file.csv", rows)
    assert columns["pid"].unique
    assert columns["pid"].counts is None
    income = columns["income"]
    assert income.missing == {"-9": 200}
    assert income.is_numeric
    assert income.whole
    assert (income.valid, income.width) == (1800, (1, 4))
    assert 100 <= len(income.sample) <= 300
    assert abs(np.median(income.sample) - 1001) < 150
