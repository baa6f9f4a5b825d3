"""What a study file says of a source file: its format, the layout of fixed width, a decimal comma."""

import pyarrow as pa
import pytest
from making.studies import plain, study
from reident import reading
from reident.errors import InputError
from reident.intake import prepare as intake
from reident.sections.files import SourceFile


def read(path, columns, **source):
    return reading.read(path, SourceFile(path=path.name, **source), columns)


# Fixed width

WIDE = "001 7.5Åsa\n002-9  Bo \n"
LAYOUT = {"p": "1-3", "x": "4-7", "name": "8-10"}


@pytest.mark.parametrize(
    ("content", "source"),
    [
        (WIDE, {}),
        (WIDE.replace("\n", "\r\n"), {}),
        (WIDE.encode("cp1252"), {"encoding": "cp1252"}),
        ("\ufeff" + WIDE, {}),
    ],
)
def test_fixed_width_is_read_by_characters_without_padding(tmp_path, content, source):
    path = tmp_path / "f.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = read(path, ["name", "p", "x"], layout=LAYOUT, **source)
    assert [tuple(row.values()) for row in found.to_pylist()] == [("Åsa", "001", "7.5"), ("Bo", "002", "-9")]


UNEVEN = [
    (
        "a line too short",
        "001 7.5Åsa\n002-9  Bo\n",
        "row 2: 9 characters where the layout goes to 10; pad every line",
    ),
    (
        "a line too long",
        "001 7.5Åsa\n0002-9  Bo \n",
        "row 2: 11 characters where row 1 has 10; give every line the same",
    ),
    ("a blank line at the end", WIDE + "\n", "row 3: 0 characters where the layout goes to 10"),
    ("a bare carriage return", WIDE.replace("7.5", "7\r5"), "row 1: a bare carriage return; save the file"),
    ("an empty file", "", "f.txt: the file is empty; it needs records"),
]


@pytest.mark.parametrize(("sentence", "content", "says"), UNEVEN, ids=[case[0] for case in UNEVEN])
def test_fixed_width_that_is_not_even_is_refused(tmp_path, sentence, content, says):
    (tmp_path / "f.txt").write_bytes(content.encode())
    with pytest.raises(InputError) as caught:
        read(tmp_path / "f.txt", ["p"], layout=LAYOUT)
    assert says in str(caught.value)


def test_a_column_that_the_layout_does_not_have(tmp_path):
    (tmp_path / "f.txt").write_text(WIDE, encoding="utf-8")
    with pytest.raises(InputError, match=r"^f\.txt: the `layout` has no column `age`; add its positions\.$"):
        read(tmp_path / "f.txt", ["age"], layout=LAYOUT)


# A decimal comma

COMMAS = [
    ("numbers", ["1,5", " -2 ", "1e3", ",5"], {}, [1.5, -2.0, 1000.0, 0.5]),
    (
        "missing codes in either writing",
        ["-9,5", "-8,0", "1"],
        {"missing": ["-9.5", "-8,0"]},
        [None, None, 1.0],
    ),
    (
        "recodes in either writing",
        ["9,5", "8,5"],
        {"recode": {"puf": {"9.5": "1.5", "8,5": "2,5"}}},
        [1.5, 2.5],
    ),
]


def typed(cells, **fields):
    files = {**plain()["files"], "puf": {"path": "puf.csv", "id": "p", "delimiter": ";", "decimal": ","}}
    model = study(files=files, linking_variables=[{"name": "v", **fields}])
    puf = pa.table({"p": [str(at) for at in range(len(cells))], "v": cells})
    eif = pa.table({"e": ["1"], "v": ["1"]})
    return intake.prepare(model, puf, eif, pa.table({"p": ["0"], "e": ["1"]})).puf["v"].to_pylist()


@pytest.mark.parametrize(("sentence", "cells", "fields", "found"), COMMAS, ids=[case[0] for case in COMMAS])
def test_a_decimal_comma_where_the_file_is_said_to_have_it(sentence, cells, fields, found):
    assert typed(cells, type="numeric", **fields) == found


@pytest.mark.parametrize("cell", ["1.5", "1.500,25", "1,2,3"])
def test_a_point_beside_a_decimal_comma_is_no_number(cell):
    with pytest.raises(InputError, match=r"^puf\.csv, row 3, column `v`: the value of `v` is not a number"):
        typed(["1", cell], type="numeric")


def test_coded_integers_with_a_decimal_comma():
    assert typed(["1,0", "01", "2,5"], type="categorical", integer_coded=True) == ["1", "1", "2,5"]


# Which row


def test_messages_count_rows_as_the_file_s_own_viewer_does():
    """A CSV file has its header in row 1; where names are kept apart, the first record is row 1."""
    for path, row in (("puf.csv", 3), ("puf.dta", 2), ("puf.parquet", 2), ("puf.xpt", 2)):
        files = {**plain()["files"], "puf": {"path": path, "id": "p"}}
        model = study(files=files, linking_variables=[{"name": "v", "type": "numeric"}])
        puf, eif = pa.table({"p": ["1", "1"], "v": ["1", "1"]}), pa.table({"e": ["1"], "v": ["1"]})
        with pytest.raises(InputError, match=rf"^{path}, row {row}: the key \(p\) repeats"):
            intake.prepare(model, puf, eif, pa.table({"p": ["1"], "e": ["1"]}))
        puf = pa.table({"p": ["1", "2"], "v": ["1", "x"]})
        with pytest.raises(InputError, match=rf"^{path}, row {row}, column `v`"):
            intake.prepare(model, puf, eif, pa.table({"p": ["1"], "e": ["1"]}))


# What a study file may say of a file

SAID = [
    ("a portable file of SPSS", {"path": "f.POR"}, "an SPSS portable file is not read; save it as .sav"),
    (
        "a packed file of Stata",
        {"path": "f.dta.gz"},
        "only CSV and fixed width may be packed by gzip; unpack",
    ),
    (
        "a tab outside of quotes",
        {"path": "f.csv", "delimiter": "\\t"},
        "in double quotes, for a tab.",
    ),
    *[
        (
            f"an encoding of no files: {name}",
            {"path": "f.csv", "encoding": name},
            "`encoding` is not one of text files",
        )
        for name in (
            "unicode_escape",
            "raw-unicode-escape",
            "idna",
            "punycode",
            "undefined",
            "rot13",
            "utf\0",
        )
    ],
    ("a workbook", {"path": "f.xlsx"}, "a spreadsheet keeps numbers, dates and codes"),
    ("a workbook of another program", {"path": "F.ODS"}, "save the sheet as CSV"),
    (
        "a delimiter of Parquet",
        {"path": "f.parquet", "delimiter": ";"},
        "`delimiter` says nothing about a file of the",
    ),
    (
        "a decimal comma of Stata",
        {"path": "f.dta", "decimal": ","},
        "`decimal` says nothing about a file of the format",
    ),
    ("an encoding of Parquet", {"path": "f.parquet", "encoding": "cp1252"}, "`encoding` says nothing"),
    ("a layout of CSV", {"path": "f.csv", "format": "csv", "layout": {"a": "1"}}, "`layout` says nothing"),
    ("fixed width without a layout", {"path": "f.txt", "format": "fixed-width"}, "needs a `layout`"),
    (
        "positions backwards",
        {"path": "f.txt", "layout": {"a": "5-3"}},
        "the last position is before the first",
    ),
    ("positions from 0", {"path": "f.txt", "layout": {"a": "0-3"}}, "pattern"),
    (
        "a delimiter that is the quote",
        {"path": "f.csv", "delimiter": "'", "quote": "'"},
        "`delimiter` is a quote",
    ),
    ("an unknown format", {"path": "f.csv", "format": "excel"}, "'csv', 'fixed-width'"),
]


@pytest.mark.parametrize(("sentence", "source", "says"), SAID, ids=[case[0] for case in SAID])
def test_what_a_study_may_not_say_of_a_file(sentence, source, says):
    with pytest.raises(ValueError, match=says):
        SourceFile(**source)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("a.csv", "csv"), ("a.csv.gz", "csv"), ("a", "csv"), ("a.PARQUET", "parquet"), ("b/a.sas7bdat", "sas7bdat"),
     ("a.xpt", "xport"), ("a.dta", "stata"), ("a.sav", "spss"), ("a.zsav", "spss"), ("a.txt", "csv")],
)  # fmt: skip
def test_the_ending_of_the_name_says_the_format(path, kind):
    assert SourceFile(path=path).kind == kind
