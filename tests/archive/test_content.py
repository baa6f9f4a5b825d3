"""The digest of the content of a table depends on its values alone, and on every one of them."""

from __future__ import annotations

import math
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reident.archive import content

NAMES = ("text", "count", "share", "flag")
TEXT = ["a", "", None, "Ü€😀", "a,b\n"] * 3
COUNT = [0, -1, None, 2**31 - 1, 5] * 3
SHARE = [0.1, float("nan"), None, -0.0, 5e-324] * 3
FLAG = [True, False, None, True, False] * 3


def table(text=TEXT, count=COUNT, share=SHARE, flag=FLAG, names=NAMES, types=()):
    arrays = [pa.array(column) for column in (text, count, share, flag)]
    arrays = [array.cast(type_) for array, type_ in zip(arrays, types, strict=True)] if types else arrays
    return pa.table(dict(zip(names, arrays, strict=True)))


def digest(folder, table, **options):
    path = folder / "table.parquet"
    pq.write_table(table, path, **options)
    return content.digest(path)


WRITERS = {
    "one row in a group": {"row_group_size": 1},
    "no compression": {"compression": "none"},
    "an old format": {"version": "1.0"},
    "another page format": {"data_page_version": "2.0"},
    "no dictionaries": {"use_dictionary": False},
    "small pages": {"data_page_size": 1, "write_batch_size": 1},
    "no statistics and no schema of Arrow": {"write_statistics": False, "store_schema": False},
}


@pytest.mark.parametrize("name", WRITERS)
def test_how_a_table_is_written_does_not_count(tmp_path, name):
    assert digest(tmp_path, table(), **WRITERS[name]) == digest(tmp_path, table())


def test_every_nan_is_one_value(tmp_path):
    other = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]
    assert math.isnan(other)
    share = [other if isinstance(value, float) and math.isnan(value) else value for value in SHARE]
    assert digest(tmp_path, table(share=share)) == digest(tmp_path, table())


def replaced(values, at, value):
    return [*values[:at], value, *values[at + 1 :]]


CHANGES = {
    "the last bit of a number": {"share": replaced(SHARE, 0, math.nextafter(0.1, 1))},
    "the sign of zero": {"share": replaced(SHARE, 3, 0.0)},
    "NaN for null": {"share": replaced(SHARE, 2, float("nan"))},
    "null for NaN": {"share": replaced(SHARE, 1, None)},
    "zero for the smallest number": {"share": replaced(SHARE, 4, 0.0)},
    "empty text for null": {"text": replaced(TEXT, 2, "")},
    "null for empty text": {"text": replaced(TEXT, 1, None)},
    "a blank": {"text": replaced(TEXT, 0, "a ")},
    "a letter moved to the next text": {"text": ["", "a", *TEXT[2:]]},
    "another letter of the same look": {"text": replaced(TEXT, 3, "U\u0308€😀")},
    "an integer more by one": {"count": replaced(COUNT, 3, 2**31 - 2)},
    "zero for null": {"count": replaced(COUNT, 2, 0)},
    "false for null": {"flag": replaced(FLAG, 2, False)},
    "two rows exchanged": {"flag": [FLAG[1], FLAG[0], *FLAG[2:]]},
    "numbers for integers": {"count": [None if value is None else float(value) for value in COUNT]},
    "another name": {"names": ("text", "count", "share", "Flag")},
    "two columns exchanged": {"names": ("count", "text", "share", "flag")},
    "a row less": {"text": TEXT[:-1], "count": COUNT[:-1], "share": SHARE[:-1], "flag": FLAG[:-1]},
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_value_counts(tmp_path, name):
    assert digest(tmp_path, table(**CHANGES[name])) != digest(tmp_path, table())


def test_a_type_that_no_step_writes_is_refused(tmp_path):
    with pytest.raises(ValueError, match="list"):
        digest(tmp_path, pa.table({"values": [[1], [2]]}))


# CSV: rates.csv is a declared table with text, integers, numbers.


def rates(folder, text):
    path = folder / "results" / "study" / "rates.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return content.digest(path)


PLAIN = "metric,n_puf,suspected_rate\ntaxicab,5,0.1\nadhoc,7,\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("taxicab", '"taxicab"'),
        PLAIN.replace("0.1", "1e-1"),
        PLAIN.replace("0.1", "0.1000000000000000055"),
        PLAIN.replace(",5,", ",5.0,").replace(",7,", ",7.0,"),
    ],
    ids=[
        "line ends",
        "quotation marks",
        "exponent",
        "more digits",
        "integers as pandas writes them beside an empty cell",
    ],
)
def test_how_a_csv_table_is_written_does_not_count(tmp_path, text):
    assert text != PLAIN
    assert rates(tmp_path, text) == rates(tmp_path, PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("0.1", "0.10000000000000002"),
        PLAIN.replace("0.1", ""),
        PLAIN.replace("7,\n", "7,0.0\n"),
        PLAIN.replace(",7,", ",,"),
        PLAIN.replace("adhoc", ""),
        PLAIN + "adhoc,7,\n",
    ],
)
def test_every_cell_of_a_csv_table_counts(tmp_path, text):
    assert rates(tmp_path, text) != rates(tmp_path, PLAIN)


@pytest.mark.parametrize("cell", ["x", "5.5", "1e400x"])
def test_a_cell_that_is_not_of_its_type_is_refused(tmp_path, cell):
    with pytest.raises(ValueError, match=r"Unable to parse string|does not have the type"):
        rates(tmp_path, PLAIN.replace(",5,", f",{cell},"))
