"""Recode tables: single codes, ranges, and `otherwise`, against a reading of the table code by code."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases
from making.studies import study
from pydantic import ValidationError
from reident.sections.codes import Coding
from reident.sections.recodes import Recoding, check_recodes, span

CODES = st.one_of(
    st.integers(-20, 120).map(str),
    st.sampled_from(["a", "", "x-1", "1.5", "18-29", "007", "1E1", "65-", "otherwise", "30-"]),
)


@st.composite
def tables(draw):
    """A recode table whose ranges do not overlap."""
    ends = sorted(draw(st.sets(st.integers(-20, 120), max_size=6)))
    ranges = [f"{first}-{last}" for first, last in zip(ends[::2], ends[1::2], strict=False)]
    if ends and draw(st.booleans()):
        ranges.append(f"{ends[-1] + 1}-")
    single = draw(st.lists(CODES.filter(lambda code: code != "otherwise" and span(code) is None), max_size=5))
    table = {code: f"to {at}" for at, code in enumerate(draw(st.permutations([*ranges, *dict.fromkeys(single)])))}
    return table | draw(st.sampled_from([{}, {"otherwise": "rest"}]))


def recoded(table, code):
    """What becomes of a code, by looking at every entry in turn."""
    if code in table and code != "otherwise":
        return table[code]
    for entry, target in table.items():
        match = re.fullmatch(r"(-?\d+)-(-?\d+)?", entry)
        number = int(code) if re.fullmatch(r"[+-]?\d+", code) else None
        if match and number is not None and int(match[1]) <= number <= int(match[2] or 10**9):
            return target
    return table.get("otherwise", code)


@given(tables(), CODES)
def test_a_code_comes_before_a_range_and_a_range_before_otherwise(table, code):
    assert Recoding(Coding("categorical", recode=table))(code) == recoded(table, code)


NUMBERS = [
    ("both ends are in a range", "18", "1"),
    ("the last one too", "29", "1"),
    ("a number with zeros in front", "018", "1"),
    ("decimals inside", "18.5", "1"),
    ("decimals outside", "29.5", "29.5"),
    ("an open range", "1000", "2"),
]


@pytest.mark.parametrize(("text", "value"), cases(NUMBERS))
def test_a_range_of_a_numeric_variable_has_all_numbers_between_its_ends(text, value):
    recode = Recoding(Coding("numeric", recode={"18-29": "1", "65-": "2"}))
    assert float(recode(repr(float(text)))) == float(value)


REFUSED = [
    ("ranges that overlap", {"18-29": "a", "29-40": "b"}, r"ranges that overlap, but `18-29` and `29-40` do"),
    ("an open range over another", {"18-": "a", "29-40": "b"}, r"ranges that overlap, but `18-` and `29-40`"),
    ("a range that ends before it begins", {"29-18": "a"}, r"`.recode.29-18` must not end before it begins"),
    ("otherwise a missing code", {"otherwise": "-9"}, r"must not map a code to `-9`.*Choose another code"),
    ("a range onto a missing code", {"1-2": "-9"}, r"must not map a code to `-9`.*Choose another code"),
    ("a missing code", {"a": "1", " -9": "1"}, r"must not have ` -9`, which is in `missing` too"),
    ("a missing code onto itself", {"-9": "-9"}, r"must not have `-9`, which is in `missing` too.*never"),
    ("a range of a missing code", {"-9--9": "1"}, r"must not have `-9--9`, .* from `recode`, otherwise"),
]


@pytest.mark.parametrize(("table", "says"), cases(REFUSED))
def test_tables_that_cannot_be_meant_are_refused(table, says):
    with pytest.raises(ValueError, match=says):
        check_recodes(Coding("categorical", ["-9"], table), "recode")


COVERED = [
    ("a range that has it among others", Coding("categorical", ["-9"], {"-9--1": "a"})),
    ("an open range", Coding("numeric", ["99"], {"65-": "70"})),
    ("all others", Coding("categorical", ["-9"], {"1": "a", "otherwise": "b"})),
    ("the word of all others", Coding("categorical", ["otherwise"], {"1": "a", "otherwise": "b"})),
    ("another spelling of a category", Coding("categorical", ["9"], {"09": "a"})),
    ("a range of no category", Coding("categorical", ["9.0"], {"9-9": "a"})),
]


@pytest.mark.parametrize("coding", cases(COVERED))
def test_an_entry_may_cover_a_missing_code(coding):
    check_recodes(coding, "recode")


NAMED = [
    ("an integer with zeros", Coding("categorical", ["9"], {"09": "a"}, integer_coded=True)),
    ("a number in another spelling", Coding("numeric", ["9"], {"9.0": "1"})),
    ("a code that is written like a range", Coding("categorical", ["18-29"], {"18-29": "a"})),
    ("a range of one number", Coding("numeric", ["9.0"], {"9-9": "1"})),
]


@pytest.mark.parametrize("coding", cases(NAMED))
def test_a_missing_code_cannot_be_recoded_however_it_is_written(coding):
    with pytest.raises(ValueError, match=r"which is in `missing` too"):
        check_recodes(coding, "recode")


@pytest.mark.parametrize("section", ["linking_variables", "strata"])
def test_a_code_in_both_lists_of_one_file_is_refused(section):
    variable = {"name": "v", "missing": {"eif": ["X"]}, "recode": {"eif": {"X": "Separated"}}}
    kind = {"type": "categorical"} if section == "linking_variables" else {}
    says = r"`\.recode\.eif` must not have `X`, which is in `missing\.eif` too: .* from `recode\.eif`"
    with pytest.raises(ValidationError, match=says):
        study(**{section: [variable | kind]})
    variable["missing"] = {"puf": ["X"]}
    study(**{section: [variable | kind]})
