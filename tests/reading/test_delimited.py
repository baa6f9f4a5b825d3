"""CSV files are read as text, field by field; an incomplete or irregular file is an error with its place."""

import gzip
import re
from functools import partial

import pyarrow as pa
import pytest
from making.examples import cases
from reident import reading
from reident.errors import InputError
from reident.reading import delimited
from reident.sections.files import SourceFile

# Without the time of packing: content is part of the names of tests, which every worker must collect alike.
gzipped = partial(gzip.compress, mtime=0)


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
    ("nothing is missing and nothing is a number", "a,b\nNA,\nNULL,1.0\n", {}, [("NA", ""), ("NULL", "1.0")]),
    ("blanks and zeros stay", "a,b\n 01 ,1e3\n", {}, [(" 01 ", "1e3")]),
    ("numbers beyond 2^64 stay", "a,b\n18446744073709551617,1\n", {}, [("18446744073709551617", "1")]),
    ("quoted delimiters and quotes", 'a,b\n"1,5","say ""x"""\n', {}, [("1,5", 'say "x"')]),
    ("a quote in the middle of a field is part of it", "a,b\n5'10\",x\n", {}, [("5'10\"", "x")]),
    ("a line end inside quotes", 'a,b\n"1\n2",x\n3,y\n', {}, [("1\n2", "x"), ("3", "y")]),
    ("semicolons, declared", "a;b\n1,5;x\n", {"delimiter": ";"}, [("1,5", "x")]),
    ("another quote, declared", "a,b\n'1,5',\"x\n", {"quote": "'"}, [("1,5", '"x')]),
    ("no quote, declared", 'a,b\n"1,5"\n', {"quote": ""}, [('"1', '5"')]),
    ("tabs, declared", "a\tb\n1\tx\n", {"delimiter": "\t"}, [("1", "x")]),
    ("Latin letters of Windows, declared", "a,b\nß,€\n".encode("cp1252"), {"encoding": "cp1252"}, [("ß", "€")]),
    ("UTF-16, declared", "a,b\nß,x\n".encode("utf-16"), {"encoding": "utf-16"}, [("ß", "x")]),
    ("UTF-16 of a declared order with its mark", "\ufeffa,b\nß,x\n".encode("utf-16-le"), {"encoding": "utf-16-le"},
     [("ß", "x")]),
    ("UTF-16 of the other order with its mark, packed", gzipped("\ufeffa,b\nß,x\n".encode("utf-16-be")),
     {"encoding": "UTF-16BE"}, [("ß", "x")]),
    ("UTF-16 of a declared order without a mark", "a,b\nß,x\n".encode("utf-16-be"), {"encoding": "utf-16-be"},
     [("ß", "x")]),
    ("UTF-32 of a declared order with its mark", "\ufeffa,b\nß,x\n".encode("utf-32-le"), {"encoding": "utf-32-le"},
     [("ß", "x")]),
    ("gzip in two members", gzipped(b"a,b\n1,x\n") + gzipped(b"2,y\n"), {}, [("1", "x"), ("2", "y")]),
    ("a header alone", "a,b\n", {}, []),
    ("composed and decomposed letters stay apart", "a,b\né,e\u0301\n", {}, [("é", "e\u0301")]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "source", "found"), cases(AS_IT_STANDS))
def test_fields_are_read_as_written(tmp_path, content, source, found):
    table = read(tmp_path, content, **source)
    assert rows(table) == found
    assert [field.type for field in table.schema] == [pa.string()] * 2


TRUNCATED = gzipped(b"a,b\n" + b"".join(b"%d,%d\n" % (at, at * 7919 % 1000) for at in range(2000)))[:-200]
REFUSED = [
    ("a,b\n1,x\n2,y,z\n", {},
     "f.csv, row 3: the row must have as many fields as the header (2), but has 3. Quote fields"),
    ("a,b\n1,x\n\n2,y\n", {},
     "header (2), but has 0. Quote fields that contain the delimiter, and remove blank lines."),
    ("a,b\n1,x\n\n", {}, "f.csv, row 3: the row must have as many fields as the header (2), but has 0"),
    ("a,b,a\n1,x,2\n", {}, "f.csv, row 1, column 3: the column name is given twice. Rename one"),
    ("a,b,z,z\n1,x,2,3\n", {}, "column 4: the column name is given twice"),
    ("a,b,,\n1,x,2,3\n", {}, "f.csv, row 1, column 4: the column name is given twice"),
    ("a,c\n1,x\n", {}, "f.csv, row 1: the file has no column `b`. Correct the name"),
    ("a,u\u0308\n1,x\n", {"columns": ("a", "ü")},
     "f.csv, row 1: the column `ü` is written with letters that look the same but are stored differently"),
    ("a,ü\n1,x\n", {"columns": ("a", "u\u0308")}, "Copy the name from the file into the study file."),
    ("a,B\n1,x\n", {}, "the file has no column `b`"),
    ("a;b\n1;x\n", {}, "the file has no column `a`. Correct the name in the study file, or the `delimiter`"),
    ("\n", {}, "f.csv: the file is empty"),
    ("sep=;\na;b\n1;x\n", {"delimiter": ";"}, "the line, and declare `delimiter: \";\"`."),
    ('"sep=,"\na,b\n1,x\n', {}, "f.csv, line 1: the line tells a spreadsheet the delimiter"),
    ("Survey of 2026\na,b\n1,x\n2,y\n", {}, "f.csv, line 1: the line is above the header, such as a title; the"),
    ("Survey\n\na,b,c\n1,x,y\n2,y,z\n", {}, "f.csv, lines 1 to 2: the lines are above the header"),
    ("Survey,,\na,b,c\n1,x,y\n", {}, "f.csv, line 1: the line is above the header, such as a title; only one of its 3"),
    ("a,b\n0,1,x\n1,2,x\n", {}, "f.csv, row 2: the row must have as many fields as the header (2), but has 3"),
    ("\na,b\n1,x\n", {}, "f.csv, row 1: the header row is blank. Remove the blank line."),
    ("\ufeffa,b\n1,x\n".encode("utf-16-be"), {"encoding": "utf-16-le"},
     "f.csv: the file has the byte order mark of UTF-16-BE, but is declared as utf-16-le. Correct the `encoding`"),
    ("\ufeffa,b\n1,x\n".encode("utf-16-le"), {"encoding": "latin-1"},
     "f.csv: the file has the byte order mark of UTF-16-LE, but is declared as latin-1"),
    ("\ufeffa,b\n1,x\n".encode("utf-16-le") + b"\x00\xd8\x0a\x00", {"encoding": "utf-16-le"},
     "f.csv, line 3: the text is not utf-16-le"),
    (b"0" * 40 + b"ASCII SPSS PORT FILE" + b" " * 20, {},
     "f.csv: the file is not a `csv` file; it is an SPSS portable file. Save it as .sav"),
    (gzipped(b"<stata_dta><header><release>118"), {},
     "f.csv: the file is not a `csv` file; it is a Stata file, compressed with gzip. Decompress it."),
    (gzipped(b"<stata_dta><header><release>118"), {"format": "stata"},
     "f.csv: a `stata` file must not be compressed with gzip. Decompress it."),
    (gzipped(b""), {}, "f.csv: the file is empty"),
    (b"a,b\n1,x\n2,\xe9\n", {}, "f.csv, line 3: the text is not utf-8. Declare the `encoding`"),
    (b"a,\xe9\n1,x\n", {}, "f.csv, line 1: the text is not utf-8"),
    (gzipped(b"a,b\n1,\xe9\n"), {}, "f.csv, line 2: the text is not utf-8"),
    (b"a,b\n1,\x81\n", {"encoding": "cp1252"}, "line 2: the text is not cp1252"),
    (b"\xef\xbb\xbfa,b\n1,x\n", {"encoding": "cp1252"},
     "f.csv: the file has the byte order mark of UTF-8, but is declared as cp1252. Correct the `encoding`"),
    (b"\xef\xbb\xbfa,b\n1,x\n", {"encoding": "utf-16"},
     "f.csv: the file has the byte order mark of UTF-8, but is declared as utf-16. Correct the `encoding`"),
    ("a,b\n1,x\n2,y\n".encode("utf-16")[:-1], {"encoding": "utf-16"}, "f.csv, line 3: the text is not utf-16"),
    (b"a,b\n1,x\n2,y\n3,\x00\n", {},
     "f.csv, line 4: the line contains a NUL byte. Export the file again as plain text"),
    ("a,b\n1," + "x" * 1_000_001 + "\n", {},
     "f.csv, row 2, column `b`: the field has 1,000,001 characters (limit 1,000,000). Shorten it."),
    ('a,b\n"1\n2","' + "x" * 1_000_001 + '"\n3,4\n', {},
     "f.csv, row 2, column `b`: the field has 1,000,001 characters (limit 1,000,000). Shorten it."),
    ('a,b\n1,"' + "2\n3,4\n" * 200_000, {}, "f.csv, line 2: a quote is never closed. Close it"),
    ("a," + "x" * 1_000_001 + "\n1,2\n", {},
     "f.csv, row 1: a column name has 1,000,001 characters (limit 1,000,000). Shorten it."),
    ("a,b\n1,2\n\ufeff3,4\n", {},
     "f.csv, line 3: the line begins with a byte order mark, as where two files were joined. Remove the mark."),
    ("\ufeff\ufeffa,b\n1,2\n", {},
     "f.csv, line 1: the line begins with a byte order mark, as where two files were joined. Remove the mark."),
    (TRUNCATED, {}, "f.csv: the gzip file is truncated or damaged. Copy the file again"),
    (b"\x1f\x8b", {}, "f.csv: the gzip file is truncated or damaged"),
    (gzipped(b"a,b\n1,x\n")[:-6] + b"\0\0\0\0\0\0", {}, "truncated or damaged"),
    (gzipped(b"a,b\n1,x\n") + b"rest", {}, "truncated or damaged"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "source", "says"), REFUSED)
def test_incomplete_or_irregular_files_are_refused_with_their_place(tmp_path, content, source, says):
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


def test_a_field_may_have_as_many_characters_as_the_limit_says(tmp_path):
    longest = "é" * delimited.MAX_FIELD
    assert rows(read(tmp_path, f"a,b\n1,x\n2,{longest}\n")) == [("1", "x"), ("2", longest)]


def test_a_damaged_archive_of_text_that_cannot_be_decoded_is_refused(tmp_path):
    with pytest.raises(InputError, match="the gzip file is truncated or damaged"):
        read(tmp_path, gzipped(b"a,b\n1,\xff\n")[:-8])
