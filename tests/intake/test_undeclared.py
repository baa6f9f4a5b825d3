"""Codes that a study may have forgotten: missing ones, and those that a recode leaves out (METHODS §1)."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases, examples
from making.studies import study, table
from reident.intake import prepare as intake
from reident.intake import step as intake_step
from reident.intake.undeclared import NumberCounts, look_missing

LOOKS = [
    ("words in any case", {"": 1, "na": 2, "N/A": 3, ".": 1, "a": 9}, {"", "na", "N/A", "."}),
    ("a word that only begins like one", {"nap": 1, "none": 2, "0": 3}, set()),
    ("negative codes", {"-9": 1, "-8": 2, "-99": 1, "1": 9}, {"-9", "-8", "-99"}),
    ("negative numbers among others", {-9.0: 1, -3.5: 2, 4.0: 9}, set()),
    ("a negative code of a number", {-9.0: 1, 4.0: 9}, {-9.0}),
    ("-1 may be a value", {"-1": 1, "1": 9}, set()),
    ("nines far above all others", {9999.0: 2, 120.0: 1}, {9999.0}),
    ("nines twice as large as the largest", {99.0: 2, 49.5: 1}, {99.0}),
    ("nines less than twice as large", {99.0: 2, 49.6: 1}, set()),
    ("a single nine may be a code", {"9": 3, "1": 3}, set()),
    ("codes that would hide each other", {"99": 3, "98": 3, "01": 1}, {"99", "98"}),
    ("codes of two digits", {"99": 3, "98": 3, "96": 1}, set()),
    ("two codes of different widths", {9999.0: 40, 7777.0: 5, 700.0: 1, 3.0: 9}, {9999.0, 7777.0}),
    ("an amount of 77 that one person may have", {77.0: 2, 12.0: 3, 3.0: 9}, set()),
    ("three amounts of 77, far above all others", {77.0: 3, 12.0: 3, 3.0: 9}, {77.0}),
    ("-1 below a larger range", {-1.0: 24, 0.0: 3, 40.0: 9}, {-1.0}),
    ("a scale from -2 to 2", {-2.0: 3, -1.0: 3, 0.0: 3, 1.0: 3, 2.0: 3}, set()),
    ("-1 among other negative numbers", {-1.0: 3, -12.0: 3, 40.0: 3}, set()),
    ("99 above ages up to 85", {**dict.fromkeys(map(float, range(18, 86)), 4), 99.0: 14}, {99.0}),
    ("one person of 99 years", {**dict.fromkeys(map(float, range(18, 86)), 4), 99.0: 1}, set()),
    ("ages up to 99", {**dict.fromkeys(map(float, range(18, 100)), 4)}, set()),
    ("a heap within the range", {**dict.fromkeys(map(float, range(9000, 20000, 70)), 2), 9999.0: 30}, {9999.0}),
    ("no heap among amounts as frequent", {**dict.fromkeys(map(float, range(9000, 20000, 70)), 9), 9999.0: 30}, set()),
    ("a gap among categories", {**dict.fromkeys(map(str, range(11, 80)), 4), "99": 14}, set()),
    ("a suppressed value", {"*": 3, "a": 3}, {"*"}),
    ("nines beside words", {"99": 3, "a": 3}, {"99"}),
    ("nines alone", {"99": 3}, set()),
]


@pytest.mark.parametrize(("counts", "expected"), cases(LOOKS))
def test_codes_that_look_like_missing_ones(counts, expected):
    assert look_missing(counts) == {value: counts[value] for value in expected}


def warned(puf, eif, kind="categorical", links=None, **fields):
    """The warnings on a variable v with these values; record i of one file is linked to record i of the other."""
    model = study(linking_variables=[{"name": "v", "type": kind, **fields}])
    own, other = (
        pa.table({key: [str(at) for at in range(len(cells))], "v": cells}) for key, cells in (("p", puf), ("e", eif))
    )
    pairs = range(min(len(puf), len(eif))) if links is None else links
    return intake.prepare(
        intake_step.preparing(model), own, other, table("p e", *(f"{at} {at}" for at in pairs))
    ).warnings


LOOK_MISSING = "a code that looks like a missing value|codes that look like missing values"
A, AB = ["a"] * 98, ["a", "b"] * 49
CASES = [
    ("a blank that is a category in one file", [*AB, "", ""], [*AB, "a", "a"], {}, ("understates", 2, '""')),
    ("exactly one in a hundred", [*AB, "", "a"], [*AB, "a", "a"], {}, ("notable", 1, '""')),
    ("-9 that both files have", [*AB, "-9", "-9"], [*AB, "-9", "-9"], {}, ("notable", 2, "-9")),
    ("declared", [*AB, "-9", "-9"], [*AB, "a", "a"], {"missing": ["-9"]}, None),
    ("declared by an order", [*AB, "-9", "-9"], [*AB, "a", "a"], {"order": ["a", "b", "-9"]}, None),
    ("recoded to itself", [*AB, "-9", "-9"], [*AB, "a", "a"], {"recode": {"puf": {"-9": "-9"}}}, None),
]


@pytest.mark.parametrize(("puf", "eif", "fields", "expected"), cases(CASES))
def test_an_undeclared_missing_code_is_a_warning(puf, eif, fields, expected):
    found = warned(puf, eif, **fields)
    found = found[found["warning"].str.contains("puf.csv") & found["warning"].str.contains(LOOK_MISSING)]
    assert list(found[["severity", "affected", "codes"]].itertuples(index=False, name=None)) == (
        [] if expected is None else [expected]
    )
    if expected:
        assert f"not declared as missing: {expected[2]}. They count as values" in found["warning"].iloc[0]
        assert found["share"].iloc[0] == expected[1] / 100


ONE_FILE = [
    ("two in a hundred", [*A, "x", "y"], {}, ("understates", "2 codes do not occur in eif.csv", "x, y")),
    ("one in a hundred", [*A, "x", "a"], {}, None),
    ("an incomplete recode", [*A, "x", "y"], {"recode": {"puf": {"z": "a"}}},
     ("understates", "`recode` is incomplete. It does not result in a code of eif.csv for 2 codes", "x, y")),
    ("all of them without a true link", [*A, "x", "y"], {"links": range(98)},
     ("notable", "0 of 98 true links", "x, y")),
    ("without any link", [*A, "x", "y"], {"links": ()}, ("understates", "0 of 0 true links", "x, y")),
]  # fmt: skip


@pytest.mark.parametrize(("puf", "fields", "expected"), cases(ONE_FILE))
def test_codes_of_one_file_that_hold_more_than_one_in_a_hundred_records(puf, fields, expected):
    found = warned(puf, ["a"] * 100, **fields)
    found = found[found["warning"].str.contains("never agree")]
    assert len(found) == (expected is not None)
    if expected:
        assert tuple(found[["severity", "codes"]].iloc[0]) == (expected[0], expected[2])
        assert expected[1] in found["warning"].iloc[0]
        assert found["affected"].iloc[0] == 2
        assert not {"x", "y"} & set(found["warning"].iloc[0].split()), "a code is not in the sentence"


RARE = [
    ("a value that one person may have", ["1"] * 98 + ["999"] * 2, "…"),
    ("three persons", ["1"] * 97 + ["999"] * 3, "999"),
    ("words and negative codes", ["1"] * 96 + ["-9", "NA", "999", "999"], "-9, NA, …"),
]


@pytest.mark.parametrize(("puf", "named"), cases(RARE))
def test_a_value_of_fewer_than_three_records_that_looks_missing_is_not_named(puf, named):
    found = warned(puf, ["1"] * 100)
    (warning,) = found[found["warning"].str.contains(LOOK_MISSING)]["warning"]
    assert f"not declared as missing: {named}. They count" in warning


TOP = [*range(900, 998), *[998] * 20]
"""Numbers of which a heap is the largest, next to others."""


@pytest.mark.parametrize(
    ("links", "severity"),
    [(range(118), "notable"), (range(109), "notable"), (range(108), "understates"), ((), "understates")],
)
def test_links_tell_a_top_code_from_a_missing_one(links, severity):
    found = warned(list(map(str, TOP)), list(map(str, range(900, 1018))), kind="numeric", links=links)
    assert list(found[found["code"] == "undeclared_missing"]["severity"]) == [severity]


def test_a_warning_about_a_strata_variable_names_the_strata():
    model = study(strata=["s"], linking_variables=[{"name": "v", "type": "numeric"}])
    sides = table("p s v", "1 A 1", "2 B 2"), table("e s v", "1 A 1", "2 A 2")
    (line,) = intake.prepare(intake_step.preparing(model), *sides, table("p e", "1 1", "2 2")).warnings.itertuples()
    assert "are in strata without a record of the other file, which concerns 1 of 2 true links" in line.warning
    assert line.severity == "understates"


SMALL = [
    0.0, 0.5, 1.0, 7.0, -7.0, 9.0, -9.0, 49.0, 49.5, 99.0, 99.00000000000001, 98.99, -99.0, -98.0, -88.0, -50.0,
]  # fmt: skip
LARGE = [499.0, 999.0, -997.0, -77777.0, 9999999.0, 999999999999999.0, 999999999999998.6, 1e15, 1e300, -1e300]


@examples(500)
@given(batches=st.lists(st.lists(st.sampled_from([*SMALL, *LARGE]), max_size=8), max_size=4))
def test_of_numbers_only_those_that_may_look_missing_are_counted(batches):
    """The ends of all others, and those next to a code, are enough: what looks missing is the same."""
    counts, every = NumberCounts(limit=3), Counter[float]()
    for batch in batches:
        values, rows = np.unique(np.array(batch, np.float64), return_counts=True)
        counts.add(np.append(values, np.nan), np.append(rows, 3))
        every.update(batch)
    found = counts.counts()
    assert look_missing(found) == look_missing(every)
    assert found.items() <= every.items()
    assert (len(found) == 1) == (len(every) == 1)
    assert bool(found) == bool(every)


@examples(100)
@given(
    values=st.lists(st.integers(0, 3000), min_size=1, max_size=400),
    heap=st.tuples(st.sampled_from([99.0, 777.0, 999.0, 9999.0]), st.integers(0, 30)),
    step_settings=st.integers(1, 5),
)
def test_the_number_of_values_that_are_counted_does_not_matter(values, heap, step_settings):
    every = [*map(float, values), *[heap[0]] * heap[1]]
    few, all_ = NumberCounts(limit=10), NumberCounts()
    for at in range(step_settings):
        own = np.unique(np.array(every[at::step_settings]), return_counts=True)
        few.add(*own)
        all_.add(*own)
    looks = look_missing(all_.counts())
    assert look_missing(few.counts()) == looks == look_missing(Counter(every))
    rest = [value for value in every if value not in looks]
    spread = np.std(every), np.std(rest) if rest else 0
    if min(spread) > 1e-6:
        expected = max(spread[0] / spread[1], spread[1] / spread[0])
        assert few.distortion(looks) == pytest.approx(expected, rel=1e-9)


def test_few_codes_that_distort_the_standard_deviation_are_grave():
    """One in 200 records of 9999 makes it 20 times as large; one of 99 among ages does not."""
    ages = [str(18 + at % 68) for at in range(398)]
    for code, severity in (("9999", "understates"), ("99", "notable")):
        cells = [*ages, *[code] * 2] if code == "9999" else [*ages, *[code] * 3]
        found = warned(cells, ages, kind="numeric", missing={"eif": []})
        found = found[found["warning"].str.contains(LOOK_MISSING)]
        assert list(found["severity"]) == [severity]
