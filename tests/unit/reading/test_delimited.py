"""CSV files are read as text, field by field; an incomplete or irregular file is an error with its place."""

import gzip
import re

import pyarrow as pa
import pytest
from reident import reading
from reident.errors import InputError
from reident.reading import blocks, delimited
from reident.sections.files import SourceFile


def read(folder, content, columns=("a", "b"), name="f.csv", keys=(), **source):
    path = folder / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return reading.read(path, SourceFile(path=name, **source), columns, keys)


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


AS_IT_STANDS = [
    ("two rows", "a,b\n1,x\n2,y\n", {}, [("1", "x"), ("2", "y")]),
    ("columns in another order, and others beside", "z,b,a\n0,x,1\n", {}, [("1", "x")]),
    ("no line end at the end", "a,b\n1,x", {}, [("1", "x")]),
    ("line ends of Windows", "a,b\r\n1,x\r\n", {}, [("1", "x")]),
    ("nothing is missing and nothing is a number", "a,b\nNA,\nNULL,1.0\n", {}, [("NA", ""), ("NULL", "1.0")]),
    ("blanks and zeros stay", "a,b\n 01 ,1e3\n", {}, [(" 01 ", "1e3")]),
    ("numbers beyond 2^64 stay", "a,b\n18446744073709551617,1\n", {}, [("18446744073709551617", "1")]),
    ("quoted delimiters and quotes", 'a,b\n"1,5","say ""x"""\n', {}, [("1,5", 'say "x"')]),
    ("a quote in the middle of a field is part of it", "a,b\n5'10\",x\n", {}, [("5'10\"", "x")]),
    ("a line end inside quotes", 'a,b\n"1\n2",x\n3,y\n', {}, [("1\n2", "x"), ("3", "y")]),
    ("a byte order mark", b"\xef\xbb\xbfa,b\n1,x\n", {}, [("1", "x")]),
    ("semicolons, declared", "a;b\n1,5;x\n", {"delimiter": ";"}, [("1,5", "x")]),
    ("another quote, declared", "a,b\n'1,5',\"x\n", {"quote": "'"}, [("1,5", '"x')]),
    ("no quote, declared", 'a,b\n"1,5"\n', {"quote": ""}, [('"1', '5"')]),
    ("tabs, declared", "a\tb\n1\tx\n", {"delimiter": "\t"}, [("1", "x")]),
    (
        "Latin letters of Windows, declared",
        "a,b\nß,€\n".encode("cp1252"),
        {"encoding": "cp1252"},
        [("ß", "€")],
    ),
    ("UTF-16, declared", "a,b\nß,x\n".encode("utf-16"), {"encoding": "utf-16"}, [("ß", "x")]),
    (
        "UTF-16 of a declared order with its mark",
        "\ufeffa,b\nß,x\n".encode("utf-16-le"),
        {"encoding": "utf-16-le"},
        [("ß", "x")],
    ),
    (
        "UTF-16 of the other order with its mark, packed",
        gzip.compress("\ufeffa,b\nß,x\n".encode("utf-16-be")),
        {"encoding": "UTF-16BE"},
        [("ß", "x")],
    ),
    (
        "UTF-16 of a declared order without a mark",
        "a,b\nß,x\n".encode("utf-16-be"),
        {"encoding": "utf-16-be"},
        [("ß", "x")],
    ),
    (
        "UTF-32 of a declared order with its mark",
        "\ufeffa,b\nß,x\n".encode("utf-32-le"),
        {"encoding": "utf-32-le"},
        [("ß", "x")],
    ),
    ("gzip, whatever the name", gzip.compress(b"a,b\n1,x\n"), {}, [("1", "x")]),
    (
        "gzip in two members",
        gzip.compress(b"a,b\n1,x\n") + gzip.compress(b"2,y\n"),
        {},
        [("1", "x"), ("2", "y")],
    ),
    ("a header alone", "a,b\n", {}, []),
    ("composed and decomposed letters stay apart", "a,b\né,e\u0301\n", {}, [("é", "e\u0301")]),
]


@pytest.mark.parametrize(
    ("sentence", "content", "source", "found"), AS_IT_STANDS, ids=[case[0] for case in AS_IT_STANDS]
)
def test_fields_are_read_as_written(tmp_path, sentence, content, source, found):
    table = read(tmp_path, content, **source)
    assert rows(table) == found
    assert [field.type for field in table.schema] == [pa.string()] * 2


def test_a_column_may_be_requested_twice(tmp_path):
    assert read(tmp_path, "a,b\n1,x\n", columns=["b", "a", "b"]).column_names == ["b", "a"]


def test_rows_are_counted_across_batches(tmp_path):
    many = reading.BATCH + 10
    good = "a,b\n" + "1,x\n" * many
    assert read(tmp_path, good).num_rows == many
    with pytest.raises(
        InputError,
        match=rf"f\.csv, row {many + 2}: the row must have as many fields as the header \(2\), but has 1",
    ):
        read(tmp_path, good + "1\n")


TRUNCATED = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (at, at * 7919 % 1000) for at in range(2000)))[
    :-200
]
REFUSED = [
    (
        "a field more",
        "a,b\n1,x\n2,y,z\n",
        {},
        "f.csv, row 3: the row must have as many fields as the header (2), but has 3. Quote fields",
    ),
    (
        "a field less",
        "a,b\n1\n",
        {},
        "f.csv, row 2: the row must have as many fields as the header (2), but has 1",
    ),
    (
        "a field more in every row",
        "a,b\n1,x,\n2,y,\n",
        {},
        "f.csv, row 2: the row must have as many fields as the header (2), but has 3",
    ),
    (
        "a blank line",
        "a,b\n1,x\n\n2,y\n",
        {},
        "f.csv, row 3: the row must have as many fields as the header (2), but has 0",
    ),
    (
        "a blank line at the end",
        "a,b\n1,x\n\n",
        {},
        "f.csv, row 3: the row must have as many fields as the header (2), but has 0",
    ),
    (
        "a carriage return in a field",
        "a,b\n1\r2,x\n",
        {},
        "f.csv, row 2: the row must have as many fields as the header (2), but has 1",
    ),
    (
        "a column name given twice",
        "a,b,a\n1,x,2\n",
        {},
        "f.csv, row 1, column 3: the column name is given twice. Rename one",
    ),
    (
        "a column name given twice that the study does not use",
        "a,b,z,z\n1,x,2,3\n",
        {},
        "column 4: the column name is given twice",
    ),
    (
        "two columns without a name",
        "a,b,,\n1,x,2,3\n",
        {},
        "f.csv, row 1, column 4: the column name is given twice",
    ),
    (
        "a missing column",
        "a,c\n1,x\n",
        {},
        "f.csv, row 1: the file has no column `b`. Correct the name",
    ),
    (
        "a column name that is not composed",
        "a,u\u0308\n1,x\n",
        {"columns": ("a", "ü")},
        "f.csv, row 1: the column `ü` is written with letters that look the same but are stored differently",
    ),
    (
        "a column name that is composed",
        "a,ü\n1,x\n",
        {"columns": ("a", "u\u0308")},
        "Copy the name from the file into the study file.",
    ),
    ("a column name in another case", "a,B\n1,x\n", {}, "the file has no column `b`"),
    (
        "another delimiter",
        "a;b\n1;x\n",
        {},
        "the file has no column `a`. Correct the name in the study file, or the `delimiter`",
    ),
    ("an empty file", "", {}, "f.csv: the file is empty. Write a header row"),
    ("a blank line alone", "\n", {}, "f.csv: the file is empty"),
    (
        "a blank line before the header",
        "\na,b\n1,x\n",
        {},
        "f.csv, row 1: the header row is blank. Remove the blank line.",
    ),
    (
        "the mark of the other order",
        "\ufeffa,b\n1,x\n".encode("utf-16-be"),
        {"encoding": "utf-16-le"},
        "f.csv: the file has the byte order mark of UTF-16-BE, but is declared as utf-16-le. Correct the `encoding`",
    ),
    (
        "the mark of UTF-16 in a file declared otherwise",
        "\ufeffa,b\n1,x\n".encode("utf-16-le"),
        {"encoding": "latin-1"},
        "f.csv: the file has the byte order mark of UTF-16-LE, but is declared as latin-1",
    ),
    (
        "an undecodable byte after the mark of a declared order",
        "\ufeffa,b\n1,x\n".encode("utf-16-le") + b"\x00\xd8\x0a\x00",
        {"encoding": "utf-16-le"},
        "f.csv, line 3: the text is not utf-16-le",
    ),
    (
        "an SPSS portable file",
        b"0" * 40 + b"ASCII SPSS PORT FILE" + b" " * 20,
        {},
        "f.csv: the file is not a `csv` file; it is an SPSS portable file. Save it as .sav",
    ),
    (
        "Stata in gzip",
        gzip.compress(b"<stata_dta><header><release>118"),
        {},
        "f.csv: the file is not a `csv` file; it is a Stata file, compressed with gzip. Decompress it.",
    ),
    (
        "Stata in gzip, declared",
        gzip.compress(b"<stata_dta><header><release>118"),
        {"format": "stata"},
        "f.csv: a `stata` file must not be compressed with gzip. Decompress it.",
    ),
    ("an empty file in gzip", gzip.compress(b""), {}, "f.csv: the file is empty"),
    (
        "an undecodable byte",
        b"a,b\n1,x\n2,\xe9\n",
        {},
        "f.csv, line 3: the text is not utf-8. Declare the `encoding`",
    ),
    ("an undecodable byte in the header", b"a,\xe9\n1,x\n", {}, "f.csv, line 1: the text is not utf-8"),
    (
        "an undecodable byte in gzip",
        gzip.compress(b"a,b\n1,\xe9\n"),
        {},
        "f.csv, line 2: the text is not utf-8",
    ),
    (
        "a byte that the declared encoding does not have",
        b"a,b\n1,\x81\n",
        {"encoding": "cp1252"},
        "line 2: the text is not cp1252",
    ),
    ("UTF-16, undeclared", "a,b\n1,x\n".encode("utf-16"), {}, "f.csv, line 1: the text is not utf-8"),
    (
        "the mark of UTF-8 in a file declared otherwise",
        b"\xef\xbb\xbfa,b\n1,x\n",
        {"encoding": "cp1252"},
        "f.csv: the file has the byte order mark of UTF-8, but is declared as cp1252. Correct the `encoding`",
    ),
    (
        "the mark of UTF-8 in a file declared as UTF-16",
        b"\xef\xbb\xbfa,b\n1,x\n",
        {"encoding": "utf-16"},
        "f.csv: the file has the byte order mark of UTF-8, but is declared as utf-16. Correct the `encoding`",
    ),
    (
        "half a letter of UTF-16 at the end",
        "a,b\n1,x\n2,y\n".encode("utf-16")[:-1],
        {"encoding": "utf-16"},
        "f.csv, line 3: the text is not utf-16",
    ),
    (
        "UTF-16 without its mark, undeclared",
        "a,b\n1,x\n".encode("utf-16-le"),
        {},
        "f.csv, line 1: the line contains a NUL byte",
    ),
    (
        "a NUL byte",
        b"a,b\n1,x\n2,y\n3,\x00\n",
        {},
        "f.csv, line 4: the line contains a NUL byte. Export the file again as plain text",
    ),
    (
        "a quote that is never closed",
        'a,b\n1,x\n2,"y\n3,z\n4,z\n',
        {},
        "f.csv, line 3: a quote is never closed",
    ),
    (
        "a quote before text",
        'a,b\n1,"x"y\n',
        {},
        "f.csv, line 2: a quote is in the middle of a field. Quote the whole field",
    ),
    (
        "two open quotes that meet",
        'a,b\n1,"x\n2,y\n3,"z\n',
        {},
        "f.csv, line 2: a quote is in the middle of a field",
    ),
    (
        "a field longer than any",
        "a,b\n1," + "x" * 1_000_001 + "\n",
        {},
        "f.csv, row 2, column `b`: the field has 1,000,001 characters (limit 1,000,000). Shorten it.",
    ),
    (
        "a quoted field longer than any",
        'a,b\n"1\n2","' + "x" * 1_000_001 + '"\n3,4\n',
        {},
        "f.csv, row 2, column `b`: the field has 1,000,001 characters (limit 1,000,000). Shorten it.",
    ),
    (
        "a quote that is never closed in a long file",
        'a,b\n1,"' + "2\n3,4\n" * 200_000,
        {},
        "f.csv, line 2: a quote is never closed. Close it",
    ),
    (
        "a column name longer than any",
        "a," + "x" * 1_000_001 + "\n1,2\n",
        {},
        "f.csv, row 1: a column name has 1,000,001 characters (limit 1,000,000). Shorten it.",
    ),
    (
        "two files joined, the second with a byte order mark",
        "a,b\n1,2\n\ufeff3,4\n",
        {},
        "f.csv, line 3: the line begins with a byte order mark, as where two files were joined. Remove the mark.",
    ),
    (
        "two byte order marks",
        "\ufeff\ufeffa,b\n1,2\n",
        {},
        "f.csv, line 1: the line begins with a byte order mark, as where two files were joined. Remove the mark.",
    ),
    (
        "a truncated archive",
        TRUNCATED,
        {},
        "f.csv: the gzip file is truncated or damaged. Copy the file again",
    ),
    ("an archive of only its first bytes", b"\x1f\x8b", {}, "f.csv: the gzip file is truncated or damaged"),
    ("a damaged archive", gzip.compress(b"a,b\n1,x\n")[:-6] + b"\0\0\0\0\0\0", {}, "truncated or damaged"),
    ("bytes after an archive", gzip.compress(b"a,b\n1,x\n") + b"rest", {}, "truncated or damaged"),
    (
        "a spreadsheet",
        b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00\xe9",
        {},
        "f.csv: the file is not a `csv` file; it is a spreadsheet or another zip archive. Save the sheet as CSV",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "content", "source", "says"), REFUSED, ids=[case[0] for case in REFUSED]
)
def test_incomplete_or_irregular_files_are_refused_with_their_place(
    tmp_path, sentence, content, source, says
):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, **source)
    message = str(caught.value)
    assert says in message
    assert message.startswith("f.csv")
    assert message.endswith(".")
    assert "\n" not in message
    assert str(tmp_path) not in message
    assert not re.search(r"\b[xyz]\b", message), "a value"


def test_a_quote_that_is_never_closed_is_found_in_a_long_file(tmp_path):
    many = reading.BATCH + 5
    with pytest.raises(InputError, match=f"f.csv, line {many + 2}: a quote is never closed"):
        read(tmp_path, "a,b\n" + "1,x\n" * many + '2,"y\n' + "3,z\n" * 10)


PLACES = [
    ("a missing file", None, "f.csv: the file cannot be read (No such file or directory)"),
    ("a folder", "folder", "f.csv is a folder. Name a file in it"),
    ("a link to itself", "loop", "f.csv: the file cannot be read"),
]


@pytest.mark.parametrize(("sentence", "kind", "says"), PLACES, ids=[case[0] for case in PLACES])
def test_a_path_that_cannot_be_opened_is_refused(tmp_path, sentence, kind, says):
    if kind == "folder":
        (tmp_path / "f.csv").mkdir()
    elif kind == "loop":
        (tmp_path / "f.csv").symlink_to("f.csv")
    with pytest.raises(InputError) as caught:
        read(tmp_path, None)
    assert str(caught.value).startswith(says)


QUOTED = [
    ("a quote in the middle of a field", "5'10\",x\n", ("5'10\"", "x")),
    ("a carriage return inside quotes", '"1\r2",x\n', ("1\r2", "x")),
    ("a field that is a quote", '"""",x\n', ('"', "x")),
]


@pytest.mark.parametrize(("sentence", "line", "found"), QUOTED, ids=[case[0] for case in QUOTED])
def test_what_the_fast_reader_leaves_to_the_exact_one_is_read_once(
    tmp_path, sentence, line, found, monkeypatch
):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    many = 1000
    table = read(tmp_path, "a,b\n" + "1,x\n" * many + line + "2,y\n" * many)
    assert rows(table) == [("1", "x")] * many + [found] + [("2", "y")] * many


def test_a_regular_file_is_read_by_the_fast_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "exact_batches", None)
    monkeypatch.setattr(blocks, "BLOCK", 64)
    line = '"1\n2","say ""é"""\r\n'
    assert rows(read(tmp_path, "a,b\r\n" + line * 100)) == [("1\n2", 'say "é"')] * 100
    assert rows(read(tmp_path, ("a,b\n" + "1,é\n" * 99 + "2,é").encode("cp1252"), encoding="cp1252"))[-1] == (
        "2",
        "é",
    )


def test_a_field_may_have_as_many_characters_as_the_limit_says(tmp_path):
    longest = "é" * delimited.MAX_FIELD
    assert rows(read(tmp_path, f"a,b\n1,x\n2,{longest}\n")) == [("1", "x"), ("2", longest)]


def test_a_damaged_archive_of_text_that_cannot_be_decoded_is_refused(tmp_path):
    with pytest.raises(InputError, match="the gzip file is truncated or damaged"):
        read(tmp_path, gzip.compress(b"a,b\n1,\xff\n")[:-8])
