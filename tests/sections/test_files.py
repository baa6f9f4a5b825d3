"""The description of a source file: its format, and the options that a format accepts."""

import pytest
from making.examples import cases
from reident.sections.files import SourceFile

SAID = [
    ("a portable file of SPSS", {"path": "f.POR"}, "`.path` must not be an SPSS portable file. Save it as .sav"),
    ("a packed file of Stata", {"path": "f.dta.gz"},
     "`.path` must not be a gzip file unless the format is CSV or fixed width. Decompress"),
    ("a tab outside of quotes", {"path": "f.csv", "delimiter": "\\t"}, "in double quotes, for a tab."),
    *[
        (
            f"an encoding of no files: {name}",
            {"path": "f.csv", "encoding": name},
            "`.encoding` is not an encoding of text files",
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
    ("a workbook", {"path": "f.xlsx"}, "`.path` must not be a spreadsheet"),
    ("a workbook of another program", {"path": "F.ODS"}, "Save the sheet as CSV"),
    ("a delimiter of Parquet", {"path": "f.parquet", "delimiter": ";"},
     "`.delimiter` does not apply to `parquet` files"),
    ("a decimal comma of Stata", {"path": "f.dta", "decimal": ","}, "`.decimal` does not apply to `stata` files"),
    ("an encoding of Parquet", {"path": "f.parquet", "encoding": "cp1252"},
     "`.encoding` does not apply to `parquet` files"),
    ("a layout of CSV", {"path": "f.csv", "format": "csv", "layout": {"a": "1"}},
     "`.layout` does not apply to `csv` files"),
    ("fixed width without a layout", {"path": "f.txt", "format": "fixed-width"}, "`.layout` is missing"),
    ("positions backwards", {"path": "f.txt", "layout": {"a": "5-3"}}, "`.layout.a` must not end before it begins"),
    ("positions from 0", {"path": "f.txt", "layout": {"a": "0-3"}}, "must be a position"),
    ("a delimiter that is the quote", {"path": "f.csv", "delimiter": "'", "quote": "'"},
     "`.delimiter` must not be a line end or the same as `quote`"),
    ("an unknown format", {"path": "f.csv", "format": "excel"}, "'csv', 'fixed-width'"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "says"), cases(SAID))
def test_invalid_descriptions_of_a_file_are_refused(source, says):
    with pytest.raises(ValueError, match=says):
        SourceFile(**source)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("a.csv", "csv"), ("a.csv.gz", "csv"), ("a", "csv"), ("a.PARQUET", "parquet"), ("b/a.sas7bdat", "sas7bdat"),
     ("a.xpt", "xport"), ("a.dta", "stata"), ("a.sav", "spss"), ("a.zsav", "spss"), ("a.txt", "csv")],
)  # fmt: skip
def test_the_format_follows_from_the_file_name(path, kind):
    assert SourceFile(path=path).kind == kind
