"""SAS data sets: what the tests write is what two libraries read, and what is regular is read by its layout."""

import itertools
import struct

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from making import sas7bdat
from making.readers import outcome, refuse, unproven
from making.sas7bdat import Form
from reident import reading
from reident.errors import InputError
from reident.reading import layout, sas, statistical
from reident.sections.files import SourceFile

COMPRESSIONS = ["", "SASYZCRL", "SASYZCR2"]
FORMS = list(itertools.product("<>", [False, True], COMPRESSIONS))


def columns(n, n_numbers=3):
    """Texts and numbers, missing ones included."""
    rng = np.random.default_rng(n)
    texts = {"key": [f"P{at:04d}" for at in range(n)], "text": ["é ab" * (at % 7) for at in range(n)]}
    numbers = {
        f"n{at}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(1))
        for at in range(n_numbers)
    }
    return {**texts, **numbers, "short": [float(at) for at in range(n)], "day": [21_915.0] * n}


def form_of(order, wide, compression, **other):
    return Form(order, wide, page_size=4096, compression=compression, widths={"short": 4}, **other)


@pytest.mark.parametrize(("order", "wide", "compression"), FORMS)
@pytest.mark.parametrize(("n", "n_numbers"), [(1, 3), (200, 3), (40, 50)])
def test_two_libraries_read_what_the_tests_write(tmp_path, order, wide, compression, n, n_numbers):
    path, written = tmp_path / "f.sas7bdat", columns(n, n_numbers)
    path.write_bytes(sas7bdat.content(written, {"day": "YYMMDD"}, form_of(order, wide, compression)))
    found, about = pyreadstat.read_sas7bdat(path, output_format="dict", disable_datetime_conversion=True)
    frame = pd.read_sas(path, encoding="utf-8")
    assert about.column_names == list(frame.columns) == list(written)
    assert about.original_variable_types["day"] == "YYMMDD"
    assert frame["day"].tolist() == [pd.Timestamp("2020-01-01")] * n
    for name in list(written)[:-1]:
        for cells in (found[name], frame[name].fillna("" if name in {"key", "text"} else np.nan)):
            expected = np.array(written[name])
            np.testing.assert_array_equal(np.array(cells, expected.dtype), expected)


@pytest.mark.parametrize(("order", "wide", "compression"), FORMS)
def test_regular_files_are_read_by_their_layout(tmp_path, monkeypatch, order, wide, compression):
    path = tmp_path / "f.sas7bdat"
    written = {
        "a": [1.0, 0.5, float("nan"), sas7bdat.special("A"), sas7bdat.special("_")],
        "t": ["x", "é", "", " 01 ", "@@@@@@@@"],
        "short": [1.0, -2.0, 0.25, 4096.0, sas7bdat.special("Z")],
        "d": [0.0, 21_915.0, float("nan"), -1.0, 1.0],
    }
    path.write_bytes(sas7bdat.content(written, {"d": "DATE"}, form_of(order, wide, compression)))
    monkeypatch.setattr(statistical, "_by_library", refuse)
    monkeypatch.setattr(sas, "_MIN_COMPRESSED", 0)
    found = reading.read(path, SourceFile(path=path.name), ["t", "a", "short", "d"])
    assert found.to_pydict() == {
        "t": ["x", "é", "", " 01", "@@@@@@@@"],
        "a": ["1", "0.5", "", ".A", "._"],
        "short": ["1", "-2", "0.25", "4096", ".Z"],
        "d": ["1960-01-01", "2020-01-01", "", "1959-12-31", "1960-01-02"],
    }


@pytest.mark.parametrize("limit", [1, 5000, 1 << 26])
@pytest.mark.parametrize(("order", "wide", "compression"), FORMS)
def test_records_of_many_pages_come_in_parts_and_in_order(
    tmp_path, monkeypatch, order, wide, compression, limit
):
    path, written = tmp_path / "f.sas7bdat", columns(400)
    path.write_bytes(sas7bdat.content(written, None, form_of(order, wide, compression)))
    monkeypatch.setattr(statistical, "_by_library", refuse)
    monkeypatch.setattr(sas, "_MIN_COMPRESSED", 0)
    monkeypatch.setattr(layout, "_BYTES", limit)
    parts = list(reading.batches(path, SourceFile(path=path.name), ["key", "short"]))
    assert [key for part in parts for key in part["key"].to_pylist()] == written["key"]
    assert [number for part in parts for number in part["short"].to_pylist()] == [
        str(at) for at in range(400)
    ]
    if limit == 1 << 26:
        assert len(parts) <= 2
    else:
        assert max(part.num_rows * 60 for part in parts) <= max(limit, 4096)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_file_without_records_has_no_rows(tmp_path, wide, compression):
    path = tmp_path / "f.sas7bdat"
    path.write_bytes(sas7bdat.content(columns(0), None, form_of("<", wide, compression)))
    assert reading.read(path, SourceFile(path=path.name), ["key", "n0"]).num_rows == 0


# What is left to the library


def with_deleted(content, row):
    """The file of one page without compression, 32 bits, in which a record is marked as deleted."""
    content = bytearray(content)
    page = 1024
    kind, _, n_pointers = struct.unpack_from("<3H", content, page + 16)
    pointers = [struct.unpack_from("<II", content, page + 24 + 12 * at) for at in range(n_pointers)]
    start, size = pointers[0]
    assert content[page + start : page + start + 4] == b"\xf7" * 4
    assert size == 480
    width, n = struct.unpack_from("<II", content, page + start + 20)
    struct.pack_into("<I", content, page + start + 28, 1)
    struct.pack_into("<H", content, page + 16, kind | 0x80)
    records = page + -(-(24 + 12 * n_pointers) // 8) * 8
    content[records + n * width + row // 8] = 0x80 >> row % 8
    return bytes(content)


def with_page_after(content, kind):
    """The file, 32 bits, with a page of another type behind the others."""
    page_size, pages = struct.unpack_from("<II", content, 200)
    page = bytearray(page_size)
    struct.pack_into("<H", page, 16, kind)
    content = bytearray(content) + page
    struct.pack_into("<I", content, 204, pages + 1)
    return bytes(content)


PLAIN = {"a": [float(at) for at in range(9)], "t": list("abcdefghi")}


def test_deleted_records_are_not_read(tmp_path):
    path = tmp_path / "f.sas7bdat"
    path.write_bytes(with_deleted(sas7bdat.content(PLAIN, None, Form(page_size=4096)), 2))
    assert outcome(path, ["t"]) == [{"t": letter} for letter in "abdefghi"]


@pytest.mark.parametrize("text", ["a\0b", "\0", "\0 b"])
def test_a_byte_of_0_ends_a_text(tmp_path, text):
    path = tmp_path / "f.sas7bdat"
    path.write_bytes(sas7bdat.content({"t": ["xxxx", text]}, None, Form()))
    assert outcome(path, ["t"]) == [{"t": "xxxx"}, {"t": text.partition("\0")[0]}]


@pytest.mark.parametrize("kind", [0x0400, 0x0000, 0x0100, 0x9000])
def test_pages_after_the_last_record_change_nothing(tmp_path, monkeypatch, kind):
    path = tmp_path / "f.sas7bdat"
    written = columns(200)
    path.write_bytes(with_page_after(sas7bdat.content(written, None, Form(page_size=4096)), kind))
    monkeypatch.setattr(statistical, "_by_library", refuse)
    assert [row["key"] for row in outcome(path, ["key"])] == written["key"]


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_few_compressed_records_are_read_without_compiled_code(tmp_path, monkeypatch, compression):
    path, written = tmp_path / "f.sas7bdat", columns(20)
    path.write_bytes(sas7bdat.content(written, None, form_of("<", False, compression)))
    monkeypatch.setattr(sas, "records_on", refuse)
    assert [row["key"] for row in outcome(path, ["key"])] == written["key"]


@pytest.mark.parametrize("gap", [b"\0", b" ", b"\x07"])
@pytest.mark.parametrize("release", [b"9.0000M0", b"9.0401M1"])
def test_records_that_follow_descriptions_are_found(tmp_path, release, gap):
    """Not all programs align them: where bytes other than blanks follow the descriptions, the program decides."""
    path = tmp_path / "f.sas7bdat"
    found = []
    for names in ("ab", "abc"):  # one of them needs alignment
        written = {name: [1.0, 2.0] for name in names}
        path.write_bytes(sas7bdat.content(written, None, Form(release=release, gap=gap)))
        found.append(outcome(path, ["a"]))
        assert found[-1] == outcome(path, ["a"], fast=unproven)
    assert [{"a": "1"}, {"a": "2"}] in found


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("keep", [0.0, 0.1, 0.5, 0.99])
def test_files_that_are_not_whole_are_refused(tmp_path, compression, keep):
    path = tmp_path / "f.sas7bdat"
    content = sas7bdat.content(columns(600), None, form_of("<", False, compression))
    path.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(
        InputError, match=r"^f\.sas7bdat: the file is not a complete SAS data set\. Write it again\.$"
    ):
        reading.read(path, SourceFile(path=path.name), ["key"])


def test_a_file_that_has_lost_the_name_of_a_column_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "f.sas7bdat"
    path.write_bytes(sas7bdat.content({"key": ["a"], "x": [1.0]}, None, Form()))
    read = pyreadstat.read_sas7bdat

    def nameless(*arguments, **how):
        cells, about = read(*arguments, **how)
        about.column_names[1] = None  # as the library has it of some damaged files
        return cells, about

    monkeypatch.setitem(statistical._READERS, "sas7bdat", nameless)
    for wanted in (["key"], ["nothing"]):
        with pytest.raises(
            InputError, match=r"^f\.sas7bdat: the file is not a complete SAS data set\. Write"
        ):
            reading.read(path, SourceFile(path=path.name), wanted)


def test_text_that_is_not_in_the_encoding_is_refused_with_its_row(tmp_path, monkeypatch):
    path = tmp_path / "f.sas7bdat"
    path.write_bytes(sas7bdat.content({"t": ["ab", "é", "é"]}, None, Form(encoding="latin-1")))
    monkeypatch.setattr(statistical, "_by_library", refuse)
    assert outcome(path, ["t"]) == [{"t": "ab"}, {"t": "é"}, {"t": "é"}]
    with pytest.raises(InputError, match=r"^f\.sas7bdat, row 2, column `t`: the text is not utf-8\. Declare"):
        reading.read(path, SourceFile(path=path.name, encoding="utf-8"), ["t"])
