"""The numbers of a file in the unit of the study, and numbers with separated thousands (METHODS §1)."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases, examples
from making.studies import study, table
from reident.errors import InputError
from reident.intake import prepare as intake
from reident.intake import step as intake_step
from reident.intake.values import typed_key
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable


def prepared(puf, eif, files=None, **fields):
    """The values of a numeric variable v in both files, and the warnings."""
    declared = {"puf": {"path": "puf.csv", "id": "p"}, "eif": {"path": "eif.csv", "id": "e"}}
    declared = {side: {**declared[side], **(files or {}).get(side, {})} for side in declared}
    iuf = {"path": "iuf.csv", "puf_id": "p", "eif_id": "e"}
    model = study(files={**declared, "iuf": iuf}, linking_variables=[{"name": "v", "type": "numeric", **fields}])
    sides = [
        pa.table({key: [f"{at:03}" for at in range(len(cells))], "v": cells}) for key, cells in (("p", puf), ("e", eif))
    ]
    pairs = (f"{at:03} {at:03}" for at in range(min(len(puf), len(eif))))
    found = intake.prepare(intake_step.preparing(model), *sides, table("p e", *pairs))
    return found.puf["v"].to_pylist(), found.eif["v"].to_pylist(), found.warnings


NUMBERS = st.decimals(-(10**9), 10**9, allow_nan=False, places=3).map(lambda value: f"{value:f}")


@examples(200)
@given(
    cells=st.lists(st.one_of(NUMBERS, st.just("-9")), min_size=1, max_size=8),
    times=st.sampled_from(["1000", "0.01", "-1", "12", "0.1", "2.2046"]),
    plus=st.sampled_from(["0", "2026", "-0.3"]),
)
def test_numbers_are_converted_as_decimals_once_missing_codes_are_out(cells, times, plus):
    """Python's decimals give the number, and its text the nearest double."""
    convert = {"eif": {"times": times, "plus": plus}}
    _, found, _ = prepared(["1"] * len(cells), cells, missing=["-9"], convert=convert)
    for cell, value in zip(cells, found, strict=True):
        exact = None if Decimal(cell) == -9 else Decimal(cell) * Decimal(times) + Decimal(plus)
        assert value == (None if exact is None else float(str(exact)))


CONVERTED = [
    ("tenths have no binary error", ["0.1", "0.7", "1.1"], {"times": 3}, [0.3, 2.1, 3.3]),
    ("implied decimals", ["1999", "5"], {"times": "0.01"}, [19.99, 0.05]),
    ("a year of birth", ["1980", "2026"], {"times": -1, "plus": 2026}, [46.0, 0.0]),
    ("a fraction", ["36", "7"], {"times": "1/12"}, [3.0, 7 / 12]),
    ("an offset alone", ["80", "5"], {"plus": 1900}, [1980.0, 1905.0]),
]


@pytest.mark.parametrize(("cells", "convert", "expected"), cases(CONVERTED))
def test_a_number_is_that_of_the_study(cells, convert, expected):
    assert prepared(cells, cells, convert={"puf": convert})[:2] == (expected, [float(cell) for cell in cells])


def test_a_conversion_comes_after_recoding_and_before_coarsening():
    fields = {"recode": {"eif": {"x": "2"}}, "convert": {"eif": {"times": 10}}, "coarsen": {"top": 25}}
    assert prepared(["1", "30", "3"], ["x", "3", "1"], **fields)[:2] == ([1.0, 25.0, 3.0], [20.0, 25.0, 10.0])


def test_a_missing_code_is_seen_in_the_unit_of_the_file():
    """Times 1000 it would be -9000, a number like any other; its links are those of its records."""
    cells = [*(str(20 + at % 40) for at in range(97)), "-9", "-9", "-9"]
    _, _, warnings = prepared(cells[:50], cells, convert={"eif": {"times": 1000}}, coarsen={"top": 50_000})
    (line,) = warnings[warnings["code"] == "undeclared_missing"].itertuples()
    assert (line.affected, line.codes) == (3, "-9")
    assert "0 of 50 true links" in line.warning


BAD = [
    ("no file", {}, "must have `puf` or `eif`"),
    ("a factor of 0", {"eif": {"times": 0}}, "must not be 0"),
    ("nothing", {"eif": {}}, "must change numbers"),
    ("a word", {"eif": {"times": "thousand"}}, "must be a number"),
]


@pytest.mark.parametrize(("convert", "says"), cases(BAD))
def test_a_conversion_that_is_none_is_refused(convert, says):
    with pytest.raises(ValueError, match=says):
        study(linking_variables=[{"name": "v", "type": "numeric", "convert": convert}])


def test_codes_are_not_converted():
    for make in (
        lambda: study(linking_variables=[{"name": "v", "type": "categorical", "convert": {"puf": {"times": 2}}}]),
        lambda: KeyVariable.model_validate({"name": "v", "convert": {"times": 2}}),
    ):
        with pytest.raises(ValueError, match="without `type: numeric`"):
            make()


def test_a_number_beyond_the_range_is_refused():
    with pytest.raises(InputError, match=r"eif.csv, column `v`: `convert` of `v` gives a number beyond"):
        prepared(["1"], ["1e300"], convert={"eif": {"times": 10**12}})


def test_a_key_variable_is_converted():
    variable = KeyVariable.model_validate(
        {"name": "v", "type": "numeric", "missing": "-9", "convert": {"times": "0.1"}}
    )
    found = typed_key(variable, SourceFile(path="a.csv", thousands=","), pa.array(["-9", "3", "1,001"]))
    assert found.to_pylist() == [None, 0.3, 100.1]


THOUSANDS = [
    ("a comma", {"thousands": ","}, ["25,661", "1,234,567.5", "950", "-1,000"], [25661.0, 1234567.5, 950.0, -1000.0]),
    ("a point", {"thousands": ".", "decimal": ","}, ["25.661", "1.234,5", "9,5"], [25661.0, 1234.5, 9.5]),
    ("blanks of any width", {"thousands": " "}, ["25 661", "1\u202f234", "9\u00a0999"], [25661.0, 1234.0, 9999.0]),
    ("apostrophes", {"thousands": "'"}, ["25'661", "1’234.5"], [25661.0, 1234.5]),
]


@pytest.mark.parametrize(("options", "cells", "expected"), cases(THOUSANDS))
def test_thousands_may_be_apart(options, cells, expected):
    assert prepared(cells, ["1"] * len(cells), {"puf": options})[0] == expected


WRONG = [
    ("two digits", {"thousands": ","}, "25,66"),
    ("decimals with a comma", {"thousands": ","}, "1,5"),
    ("four digits in front", {"thousands": ","}, "2566,100"),
    ("two marks", {"thousands": " "}, "1 234\u00a0567"),
    ("a point that separates no thousands", {"thousands": ".", "decimal": ","}, "1.5"),
]


@pytest.mark.parametrize(("options", "cell"), cases(WRONG))
def test_other_texts_are_no_numbers(options, cell):
    with pytest.raises(InputError, match=r"puf.csv, row 3, column `v`: the value of `v` is not a number"):
        prepared(["1", cell], ["1", "2"], {"puf": options})


def test_a_missing_code_may_be_written_with_or_without_its_separator():
    for code in ("9999", "9,999"):
        puf, _, _ = prepared(["9,999", "9999", "1,000"], ["1"] * 3, {"puf": {"thousands": ","}}, missing=[code])
        assert puf == [None, None, 1000.0]


def test_the_separators_must_differ():
    with pytest.raises(ValueError, match="must not be the decimal separator"):
        SourceFile(path="a.csv", decimal=",", thousands=",")


def test_old_studies_keep_their_digest():
    """Without the options nothing of them is in the settings of a step."""
    model = study(linking_variables=[{"name": "v", "type": "numeric"}])
    assert "convert" not in model.model_dump_json()
    assert "thousands" not in model.model_dump_json()


@pytest.mark.parametrize(("top", "single"), [(5, True), (25, False)])
def test_numbers_that_coarsening_makes_one_are_a_warning(top, single):
    _, _, warnings = prepared(["10", "20", "30"], ["10", "20", "30"], coarsen={"top": top})
    assert (warnings["code"] == "single_value").any() == single
