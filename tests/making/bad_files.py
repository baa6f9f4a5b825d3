"""Bad files: incomplete, irregular or missing files, and the messages that they must give."""

import gzip
import os
import re
from pathlib import Path

import pyarrow as pa
from making.fixture_files import COMPLETE, EIF, PUF, Fixture, eif, parquet, puf, source, unreadable

FILES_OF_RECORDS = [
    # Incomplete and irregular files, and files that are not text
    Fixture("unchanged files", {}, account=COMPLETE),
    Fixture("one field more in one row", eif("7050.125,", "7050,125,"),
            ("eif.csv, row 3: the row must have as many fields as the header (4), but has 5", "Quote fields")),
    Fixture("a delimiter at the end of every record", {"puf.csv": re.sub(r"(TRADE-\w)", r"\1,", PUF)},
            ("puf.csv, row 2: the row must have as many fields as the header (4), but has 5",)),
    Fixture("a short row", eif("7063.375,", ""),
            ("eif.csv, row 4: the row must have as many fields as the header (4), but has 3",)),
    Fixture("a file truncated in the middle of a row", {"puf.csv": PUF[:-9]},
            ("puf.csv, row 5: the row must have as many fields as the header (4), but has 3",)),
    Fixture("a bare carriage return in a field", puf("TRADE-b", "TRADE\r-b"),
            ("puf.csv, row 4: the row must have as many fields as the header (4), but has 1",)),
    Fixture("carriage returns as line ends throughout", {"puf.csv": PUF.replace("\n", "\r")}, account=COMPLETE),
    Fixture("line ends of Windows", {"puf.csv": PUF.replace("\n", "\r\n")}, account=COMPLETE),
    Fixture("line ends of Windows, converted twice", {"puf.csv": PUF.replace("\n", "\r\r\n")},
            ("puf.csv, row 2: the row must have as many fields as the header (4), but has 0",)),
    Fixture("a quote is never closed", puf("TRADE-b", '"TRADE-b'),
            ("puf.csv, line 3: a quote is never closed", "Close it")),
    Fixture("two open quotes", {"puf.csv": PUF.replace("TRADE-a", '"TRADE-a')}, ("puf.csv, line 2: a quote", "Quote")),
    Fixture("text after a closing quote", eif("TRADE-b", '"TRADE"-b'),
            ("eif.csv, line 3: a quote is in the middle of a field", "double the quotes")),
    Fixture("UTF-16, undeclared", {"puf.csv": PUF.encode("utf-16")},
            ("puf.csv, line 1: the text is not utf-8", "Declare the `encoding`")),
    Fixture("UTF-16 without its mark, undeclared", {"puf.csv": PUF.encode("utf-16-le")},
            ("puf.csv, line 1: the line contains a NUL byte",)),
    Fixture("a byte order mark", {"puf.csv": PUF.encode("utf-8-sig")}, account=COMPLETE),
    Fixture("gzip with the name of a CSV file", {"puf.csv": gzip.compress(PUF.encode())}, account=COMPLETE),
    Fixture("a workbook with the name of a CSV file", {"puf.csv": b"PK\x03\x04" + bytes(300)},
            ("puf.csv: the file is not a `csv` file; it is a spreadsheet", "Save the sheet as CSV")),
    Fixture("an old workbook", {"puf.csv": b"\xd0\xcf\x11\xe0" + bytes(300)},
            ("puf.csv: the file is not a `csv` file; it is an old Excel workbook", "Save the sheet as CSV")),
    # Headers
    Fixture("an empty file", {"eif.csv": ""}, ("eif.csv: the file is empty", "header row")),
    Fixture("an empty file of links", {"iuf.csv": ""}, ("iuf.csv: the file is empty", "header row")),
    Fixture("links without a record", {"iuf.csv": "pufid,eifid\n"}, account={"iuf in": 0, "iuf used": 0},
            warnings=("iuf.csv: no link joins records",)),
    Fixture("no header", {"puf.csv": PUF.split("\n", 1)[1]},
            ("puf.csv, row 1: the file has no column `pufid`", "Correct the name")),
    Fixture("a column name given twice", puf("age,trade", "age,age"),
            ("puf.csv, row 1, column 4: the column name is given twice", "Rename one")),
    Fixture("a missing column", eif("age,trade", "years,trade"),
            ("eif.csv, row 1: the file has no column `age`", "Correct the name in the study file")),
    Fixture("a column name with a blank", eif("age,trade", " age,trade"),
            ("eif.csv, row 1: the file has no column `age`",)),
    Fixture("another delimiter and a decimal comma, declared", {"eif.csv": EIF.replace(",", ";").replace(".", ",")},
            account=COMPLETE, values={"eif age": [7041.625, 7050.125, 7063.375, 7074.625]},
            study=source("eif", delimiter=";", decimal=",")),
    # Paths
    Fixture("a missing file", {"puf.csv": lambda _: None},
            ("`files.puf.path`: puf.csv does not exist", "relative to the study file")),
    Fixture("a file that is a folder", {"puf.csv": Path.mkdir},
            ("`files.puf.path`: puf.csv is a folder", "Name a file in it")),
    Fixture("a symlink loop", {"puf.csv": lambda path: path.symlink_to(path.name)},
            ("`files.puf.path`: puf.csv is a broken link", "Correct the link")),
    Fixture("a pipe", {"puf.csv": os.mkfifo},
            ("`files.puf.path`: puf.csv is a pipe or a device", "Write its content to a file")),
    Fixture("a file without read permission", {"puf.csv": unreadable},
            ("`files.puf.path`: puf.csv cannot be read", "Change its permissions")),
    Fixture(
        "one field more in every row",
        {"puf.csv": PUF.replace("\nKEY", "\n1,KEY")},
        ("puf.csv, row 2: the row must have as many fields as the header (4), but has 5", "Quote fields"),
    ),
    Fixture(
        "a blank line",
        puf("\nKEY-P3", "\n\nKEY-P3"),
        (
            "puf.csv, row 4: the row must have as many fields as the header (4), but has 0",
            "remove blank lines",
        ),
    ),
    Fixture(
        "a NUL byte",
        puf("7052.875", "70\x0052.875"),
        ("puf.csv, line 3: the line contains a NUL byte", "Export the file again"),
    ),
    Fixture(
        "an undeclared encoding",
        {"eif.csv": EIF.replace("TRADE-b", "TRADE-é").encode("cp1252")},
        ("eif.csv, line 3: the text is not utf-8", "Declare the `encoding`"),
    ),
    Fixture(
        "the same encoding, declared",
        {"eif.csv": EIF.replace("TRADE-b", "TRADE-é").encode("cp1252"), **puf("TRADE-b", "TRADE-é")},
        account=COMPLETE,
        study=source("eif", encoding="cp1252"),
    ),
    Fixture(
        "UTF-16, declared",
        {"puf.csv": PUF.encode("utf-16")},
        account=COMPLETE,
        study=source("puf", encoding="utf-16"),
    ),
    Fixture(
        "a byte order mark that contradicts the declared encoding",
        {"puf.csv": PUF.encode("utf-8-sig")},
        ("puf.csv: the file has the byte order mark of UTF-8", "Correct the `encoding`"),
        study=source("puf", encoding="cp1252"),
    ),
    Fixture(
        "a truncated gzip file",
        {"puf.csv": gzip.compress(PUF.encode())[:-12]},
        ("puf.csv: the gzip file is truncated or damaged", "Copy the file again"),
    ),
    Fixture(
        "a workbook with its own name",
        {"puf.xlsx": b"PK\x03\x04"},
        ("`files.puf.path`", "must not be a spreadsheet", "Save the sheet as CSV"),
        study=source("puf", path="puf.xlsx"),
    ),
    Fixture(
        "Parquet with the name of a CSV file",
        {"puf.csv": parquet(pufid=pa.array(["KEY-P1"]))},
        ("puf.csv: the file is not a `csv` file; it is a Parquet file", "Declare `format: parquet`"),
    ),
    Fixture(
        "a header without a record",
        {"puf.csv": "pufid,region,age,trade\n"},
        ("puf.csv: the file has a header and no records", "Check the export"),
    ),
    Fixture(
        "another delimiter, undeclared",
        {"eif.csv": EIF.replace(",", ";")},
        ("eif.csv, row 1: the file has no column `eifid`", "delimiter"),
    ),
    Fixture(
        "a decimal comma, undeclared",
        {"eif.csv": EIF.replace(",", ";").replace(".", ",")},
        ("eif.csv, row 2, column `age`: the value of `age` is not a number",),
        study=source("eif", delimiter=";"),
    ),
]  # fmt: skip
