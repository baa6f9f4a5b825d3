"""Parquet columns are read as text, exactly; types without an unambiguous text are refused."""

from decimal import Decimal

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
