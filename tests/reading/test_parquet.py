"""Parquet columns are read as text, exactly; types without an unambiguous text are refused."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from making.examples import cases
from reident import reading
from reident.errors import InputError
from reident.reading import parquet
from reident.sections.files import SourceFile


def read(folder, columns=("a", "b"), keys=()):
    return reading.read(folder / "f.parquet", SourceFile(path="f.parquet"), columns, keys)


def stored(folder, **columns):
    pq.write_table(pa.table(columns), folder / "f.parquet")
    return folder


TYPES = [
    ("text", pa.array(["01", None]), ["01", ""]),
    ("long text", pa.array(["01", "x"], pa.large_string()), ["01", "x"]),
    ("categories", pa.array(["NA", None, "NA"]).dictionary_encode(), ["NA", "", "NA"]),
    ("whole numbers", pa.array([-1, 2**62, None], pa.int64()), ["-1", str(2**62), ""]),
    ("whole numbers without a sign", pa.array([2**64 - 1], pa.uint64()), [str(2**64 - 1)]),
    ("small whole numbers", pa.array([7], pa.int8()), ["7"]),
    ("doubles in their shortest form", pa.array([0.1, 1e300, None, float("nan")]), ["0.1", "1e+300", "", ""]),
    ("whole doubles as whole numbers", pa.array([3.0, -0.0, 2.0**53]), ["3", "0", "9007199254740992.0"]),
    ("floats in the shortest form of their precision", pa.array([0.1, 2.0, 2.0**24], pa.float32()),
     ["0.1", "2", "1.6777216e+07"]),
    ("booleans", pa.array([True, False, None]), ["true", "false", ""]),
    ("decimals, digit by digit", pa.array([Decimal(1), Decimal("-12.50"), None], pa.decimal128(30, 2)),
     ["1.00", "-12.50", ""]),
    ("decimals without decimals", pa.array([Decimal(2**64)], pa.decimal128(38, 0)), ["18446744073709551616"]),
    ("dates", pa.array([0, -1, None], pa.date32()), ["1970-01-01", "1969-12-31", ""]),
    ("dates in milliseconds", pa.array([86_400_000], pa.date64()), ["1970-01-02"]),
    ("categories of whole numbers", pa.array([7, None, 7]).dictionary_encode(), ["7", "", "7"]),
    ("times", pa.array([0, None, -1_500], pa.timestamp("ms")), ["1970-01-01 00:00:00", "", "1969-12-31 23:59:58.5"]),
    ("nothing at all", pa.nulls(2), ["", ""]),
]  # fmt: skip


@pytest.mark.parametrize(("column", "found"), cases(TYPES))
def test_parquet_columns_become_text(tmp_path, column, found):
    table = read(stored(tmp_path, a=column), ["a"])
    assert table["a"].to_pylist() == found
    assert table["a"].type == pa.string()


UNCERTAIN = [
    ("points in time with a zone", pa.array([1], pa.timestamp("s", "UTC"))),
    ("times of day", pa.array([1], pa.time32("s"))),
    ("lists", pa.array([[1]])),
    ("bytes", pa.array([b"x"])),
]


@pytest.mark.parametrize("column", cases(UNCERTAIN))
def test_parquet_types_without_an_unambiguous_text_are_refused(tmp_path, column):
    with pytest.raises(
        InputError, match=r"f\.parquet, column `a`: the type .* has no unambiguous text. Store the column"
    ):
        read(stored(tmp_path, a=column), ["a"])


OUTSIDE, FINER = "the date must be in the years 1 to 9999", "the time must not be finer than a microsecond"
LAST, AFTER = 253_402_300_799, 253_402_300_800
"""The last second of the year 9999, and the next one, since 1970."""
FIRST, BEFORE = -62_135_596_800, -62_135_596_801
DATES = [
    ("seconds after 9999", pa.array([LAST, None, AFTER], pa.timestamp("s")), 3, OUTSIDE),
    ("milliseconds after 9999", pa.array([0, 1000 * AFTER], pa.timestamp("ms")), 2, OUTSIDE),
    ("microseconds before the year 1", pa.array([FIRST * 10**6, FIRST * 10**6 - 1], pa.timestamp("us")), 2, OUTSIDE),
    ("days after 9999", pa.array([2_932_896, 2_932_897], pa.int32()).cast(pa.date32()), 2, OUTSIDE),
    ("days before the year 1", pa.array([-719_162, -719_163], pa.int32()).cast(pa.date32()), 2, OUTSIDE),
    ("a day that no calendar has", pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), 1, OUTSIDE),
    ("nanoseconds", pa.array([1000, None, 1001], pa.timestamp("ns")), 3, FINER),
    ("categories", pa.array([1000, 1001], pa.timestamp("ns")).dictionary_encode(), 2, FINER),
]


@pytest.mark.parametrize(("column", "row", "problem"), cases(DATES))
def test_a_date_that_its_text_would_change_is_refused_with_its_place(tmp_path, monkeypatch, column, row, problem):
    monkeypatch.setattr(parquet, "BATCH", 2)
    with pytest.raises(InputError, match=rf"^f\.parquet, row {row}, column `a`: {problem}"):
        read(stored(tmp_path, a=column), ["a"])


def test_the_first_and_the_last_second_of_the_calendar_are_read(tmp_path):
    seconds = pa.array([FIRST, LAST], pa.timestamp("s"))
    table = read(stored(tmp_path, a=seconds, b=pa.array([-719_162, 2_932_896], pa.int32()).cast(pa.date32())))
    assert table["a"].to_pylist() == ["0001-01-01 00:00:00", "9999-12-31 23:59:59"]
    assert table["b"].to_pylist() == ["0001-01-01", "9999-12-31"]


def int96(folder, *moments):
    """A file as Spark, Hive and Impala write it; each moment is in microseconds since 1970."""
    table = pa.table({"a": pa.array(moments, pa.timestamp("us"))})
    pq.write_table(table, folder / "f.parquet", use_deprecated_int96_timestamps=True)
    assert pq.ParquetFile(folder / "f.parquet").schema.column(0).physical_type == "INT96"


def test_days_of_int96_are_right_beyond_what_nanoseconds_hold(tmp_path):
    int96(tmp_path, 253_402_225_200_000_000, 0, None, -9_300_000_000_000_000, 1_234_567_890_123_456)
    assert read(tmp_path, ["a"])["a"].to_pylist() == [
        "9999-12-31 03:00:00", "1970-01-01 00:00:00", "", "1675-04-18 02:40:00", "2009-02-13 23:31:30.123456",
    ]  # fmt: skip
    int96(tmp_path, 0, 1_000_000 * AFTER)
    with pytest.raises(InputError, match=rf"^f\.parquet, row 2, column `a`: {OUTSIDE}"):
        read(tmp_path, ["a"])


def test_dates_of_data_frames_are_those_of_files():
    chunks = pa.chunked_array([pa.array([0], pa.date64()), pa.array([86_400_000, 5], pa.int64()).view(pa.date64())])
    with pytest.raises(InputError, match=r"^frame, row 3, column `a`: the date must not have a time of day"):
        parquet.stored_text(Path("frame"), "a", chunks, key=False)


@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}, {"use_dictionary": True, "compression": "zstd"}])
def test_a_page_that_was_changed_is_refused(tmp_path, options):
    """One bit of one value, of which the rest of the file says nothing."""
    numbers = pa.array(range(1000, 1300), pa.int32())
    plain = {"compression": "none", "use_dictionary": False, "write_page_checksum": True} | options
    pq.write_table(pa.table({"a": numbers}), tmp_path / "f.parquet", **plain)
    assert read(tmp_path, ["a"])["a"].to_pylist() == [str(x) for x in range(1000, 1300)]
    content = bytearray((tmp_path / "f.parquet").read_bytes())
    content[200] ^= 0x40
    (tmp_path / "f.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"^f\.parquet: the checksum of a page does not match its content"):
        read(tmp_path, ["a"])


def test_a_key_must_not_be_stored_as_doubles(tmp_path):
    stored(tmp_path, a=pa.array([1.0]), b=pa.array([1.0]))
    with pytest.raises(InputError, match=r"f\.parquet, column `a`: a key must not be stored as floating point numbers"):
        read(tmp_path, keys=["a"])
    assert read(tmp_path).to_pylist() == [{"a": "1", "b": "1"}]


def test_a_truncated_file_and_a_missing_column_are_refused(tmp_path):
    whole = stored(tmp_path, a=pa.array(["x"] * 1000)) / "f.parquet"
    with pytest.raises(InputError, match=r"f\.parquet: the file has no column `b`"):
        read(tmp_path)
    content = whole.read_bytes()
    for spoilt in (content[:-1], content[: len(content) // 2], b"", b"a,b\n1,x\n"):
        whole.write_bytes(spoilt)
        with pytest.raises(InputError, match=r"f\.parquet: the file is not a complete Parquet file. Write it again"):
            read(tmp_path, ["a"])


def spoilt(*cells):
    """Text whose bytes are not UTF-8, as programs write it that do not look."""
    return pa.array(cells, pa.binary()).view(pa.string())


NOT_UTF_8 = [
    ("text", spoilt(b"x", None, b"\xe9", b"\xe9"), "row 3, column `a`"),
    ("long text", pa.array([b"x", None, b"\xe9"], pa.large_binary()).view(pa.large_string()), "row 3, column `a`"),
    ("categories", pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), spoilt(b"x", b"\xe9")),
     "a column of categories"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "column", "where"), NOT_UTF_8, ids=[case[0] for case in NOT_UTF_8])
@pytest.mark.parametrize("keys", [(), ("a",)], ids=["values", "keys"])
def test_text_that_is_not_utf_8_is_refused_with_its_place(tmp_path, monkeypatch, sentence, column, where, keys):
    monkeypatch.setattr(parquet, "BATCH", 2)
    stored(tmp_path, a=column)
    with pytest.raises(InputError) as caught:
        read(tmp_path, ["a"], keys)
    assert str(caught.value) == (
        f"f.parquet, {where}: the text is not UTF-8. Write the file again with the correct encoding."
    )
