"""Codes, exact numbers and decimal commas; rows are counted as the viewer of a file shows them."""

import pyarrow as pa
import pytest
from making.examples import cases
from making.studies import plain, study
from pydantic import TypeAdapter, ValidationError
from reident.errors import InputError
from reident.intake import prepare as intake
from reident.intake.step import preparing
from reident.sections.base import Rational
from reident.sections.exact import rational_text

# A decimal comma

COMMAS = [
    ("numbers", ["1,5", " -2 ", "1e3", ",5"], {}, [1.5, -2.0, 1000.0, 0.5]),
    ("missing codes in either writing", ["-9,5", "-8,0", "1"], {"missing": ["-9.5", "-8,0"]}, [None, None, 1.0]),
    ("recodes in either writing", ["9,5", "8,5"], {"recode": {"puf": {"9.5": "1.5", "8,5": "2,5"}}}, [1.5, 2.5]),
]  # fmt: skip


def typed(cells, **fields):
    files = {**plain()["files"], "puf": {"path": "puf.csv", "id": "p", "delimiter": ";", "decimal": ","}}
    model = study(files=files, linking_variables=[{"name": "v", **fields}])
    puf = pa.table({"p": [str(at) for at in range(len(cells))], "v": cells})
    eif = pa.table({"e": ["1"], "v": ["1"]})
    return intake.prepare(preparing(model), puf, eif, pa.table({"p": ["0"], "e": ["1"]})).puf["v"].to_pylist()


@pytest.mark.parametrize(("cells", "fields", "found"), cases(COMMAS))
def test_a_declared_decimal_comma(cells, fields, found):
    assert typed(cells, type="numeric", **fields) == found


@pytest.mark.parametrize("cell", ["1.5", "1.500,25", "1,2,3"])
def test_a_decimal_point_is_refused_in_a_file_with_decimal_commas(cell):
    with pytest.raises(InputError, match=r"^puf\.csv, row 3, column `v`: the value of `v` is not a number"):
        typed(["1", cell], type="numeric")


# Which row


def test_messages_count_rows_as_viewers_of_the_file_do():
    """A CSV file has its header in row 1; where names are kept apart, the first record is row 1."""
    for path, row in (("puf.csv", 3), ("puf.dta", 2), ("puf.parquet", 2), ("puf.xpt", 2)):
        files = {**plain()["files"], "puf": {"path": path, "id": "p"}}
        model = study(files=files, linking_variables=[{"name": "v", "type": "numeric"}])
        puf, eif = pa.table({"p": ["1", "1"], "v": ["1", "1"]}), pa.table({"e": ["1"], "v": ["1"]})
        with pytest.raises(InputError, match=rf"^{path}, row {row}: the key \(p\) is not unique"):
            intake.prepare(preparing(model), puf, eif, pa.table({"p": ["1"], "e": ["1"]}))
        puf = pa.table({"p": ["1", "2"], "v": ["1", "x"]})
        with pytest.raises(InputError, match=rf"^{path}, row {row}, column `v`"):
            intake.prepare(preparing(model), puf, eif, pa.table({"p": ["1"], "e": ["1"]}))


RATIONALS = TypeAdapter(Rational)


@pytest.mark.parametrize("text", ["0.5", "1/3", "0", "12", "0.1234567890123456789012345678901234567", "-1/7"])
def test_a_rational_is_written_as_it_was_read(text):
    assert rational_text(RATIONALS.validate_python(text)) == text


@pytest.mark.parametrize("text", ["1e309", "1e-309", "1e9999999", "1E+9999999", "1e9999_999"])
def test_large_exponents_are_refused_before_the_number_is_computed(text):
    with pytest.raises(ValidationError, match="must have an exponent from -308 to 308"):
        RATIONALS.validate_python(text)


@pytest.mark.parametrize("text", ["half", "1/0", "nan", "", "1,5", f"1e{'9' * 5000}", "9" * 5000])
def test_texts_that_are_not_numbers_are_refused(text):
    with pytest.raises(ValidationError, match="must be a number"):
        RATIONALS.validate_python(text)
