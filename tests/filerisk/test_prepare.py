"""Coding a file and its population: missing values, bins, orders, weights, what does not fit."""

import pytest
from making.filerisk import FILE_RISK, POPULATION, drawn, prepared
from making.studies import as_text, table
from reident.errors import InputError
from reident.filerisk import prepare as intake
from reident.filerisk import step as filerisk_step
from reident.study.model import Study

SEX = {**FILE_RISK, "key_variables": ["sex", {"name": "job", "missing": ["-9"]}]}


def coded(section, file, population=None, **keys):
    spec = Study.model_validate({"id": "risk", "file_risk": section, **keys})
    return intake.prepare(filerisk_step.risk_files(spec), file, population)


FILE = table("pid sex job", "03 m 2", "1 f 10", "2 m -9")


def test_the_order_of_rows_changes_nothing():
    people = drawn(500)
    both = [prepared(POPULATION, file=own)[1] for own in (people, people.sample(frac=1, random_state=2))]
    assert both[0].file.equals(both[1].file)
    assert both[0].categories.equals(both[1].categories)
    spec = Study.model_validate({"id": "risk", "file_risk": POPULATION})
    shuffled = people.sample(frac=1, random_state=3)
    tables = [
        intake.prepare(filerisk_step.risk_files(spec), as_text(people), as_text(own)).population
        for own in (people, shuffled)
    ]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (table("pid sex job"), "survey.csv: the file has a header and no records"),
        (table("pid sex job", "1 m 2", "1 f 2"), "survey.csv, row 3: the key (pid) is not unique"),
        (table("pid sex job", "_ m 2"), "survey.csv, row 2, column `pid`: the key must not be empty"),
    ],
)
def test_files_that_cannot_be(file, sentence):
    with pytest.raises(InputError) as error:
        coded(SEX, file)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (("4", "x"), "row 3, column `w`: the value of `w` is not a number"),
        (("4", "-1"), "row 3, column `w`: the weight must not be negative"),
        (("0.4", "1.2"), "the mean weight must be at least 1"),
    ],
)
def test_weights_that_cannot_be(weights, sentence):
    section = {"file": FILE_RISK["file"], "key_variables": ["sex"], "weight": "w"}
    file = table("pid sex w", *(f"{at} m {weight}" for at, weight in enumerate(weights)))
    with pytest.raises(InputError) as error:
        coded(section, file)
    assert f"survey.csv, {sentence}" in str(error.value) or sentence in str(error.value)


def test_codes_that_the_population_does_not_have():
    section = {**SEX, "key_variables": ["sex"], "population": {"file": {"path": "census.csv"}}}
    found = coded(section, FILE, table("sex", *"m" * 30))
    (warning,) = found.warnings["warning"]
    assert warning.startswith("census.csv: 1 of 2 codes of sex in survey.csv are not in the population. Recode those")
    with pytest.raises(InputError, match="no code of `sex` is in both files"):
        coded(section, FILE, table("sex", "1", "2"))
    with pytest.raises(InputError, match=r"census\.csv: the file has a header and no records"):
        coded(section, FILE, table("sex"))


SKEWED = {"file": FILE_RISK["file"], "key_variables": ["sex"], "weight": "w"}


@pytest.mark.parametrize(
    ("weights", "variation"),
    [((10, 10, 10, 10), None), ((9, 11, 9, 11), None), ((8.9, 11.1, 8.9, 11.1), "11%"), ((1, 39, 1, 39), "95%")],
)
def test_weights_that_vary_by_more_than_a_tenth(weights, variation):
    file = table("pid sex w", *(f"{at} m {weight}" for at, weight in enumerate(weights)))
    warnings = coded(SKEWED, file).warnings["warning"].tolist()
    assert len(warnings) == (variation is not None)
    for warning in warnings:
        assert warning.startswith(f"survey.csv, column w: the weights vary by {variation} of their mean")


PERTURBED = {**SEX, "original": {"path": "before.csv"}}


def with_original(original, file=FILE, section=PERTURBED):
    spec = Study.model_validate({"id": "risk", "file_risk": section})
    return intake.prepare(filerisk_step.risk_files(spec), file, None, original)


def test_a_wrong_value_of_the_original_is_named_with_its_row_there():
    section = {**PERTURBED, "key_variables": ["sex", {"name": "age", "type": "numeric"}]}
    file = table("pid sex age", "1 f 10", "2 m 20", "3 f 30")
    with pytest.raises(InputError, match=r"^before\.csv, row 2, column `age`"):
        with_original(table("pid sex age", "3 f x", "2 m 20", "1 f 10"), file, section)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (("2 f 2", "03 m 10"), "but 1 are not in it, the first in row 3 of survey.csv"),
        (("2 f 2", "03 m 10", "1 f 2", "4 f 2"), "must have the records of survey.csv and no others, but has 1 more"),
        (("2 f 2", "03 m 10", "03 f 2"), "before.csv, row 4: the key (pid) is not unique"),
        (("2 x 2", "03 y 10", "1 x 2"), "survey.csv and before.csv, column `sex`: no code of `sex` is in both"),
        (("3 f 2", "03 m 10", "1 f 2"), "before.csv: the file must have the records of survey.csv"),
    ],
)  # fmt: skip
def test_an_original_of_other_records_is_refused(rows, sentence):
    with pytest.raises(InputError) as error:
        with_original(table("pid sex job", *rows))
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("missing", "effect"),
    [
        ("excluded", ["No record is in a cell of the whole key. Check the column"]),
        ("wildcard", ["It distinguishes no records."]),
        ("category", []),
    ],
)
def test_a_variable_that_is_missing_throughout_is_named(missing, effect):
    found = coded({**SEX, "missing": missing}, table("pid sex job", "1 f -9", "2 m -9"))
    expected = [f"survey.csv: job is missing in every record. {one}" for one in effect]
    for warning, start in zip(found.warnings["warning"], expected, strict=True):
        assert warning.startswith(start)


IN_UNITS = {**SEX, "units": "hh"}


def test_rows_of_a_unit_may_have_one_key():
    """As those of an attack on units; the order of rows changes nothing, nor does a unit that is the key itself."""
    rows = ["1 a m 2", "1 a f 3", "2 a m 2", "3 b f 10", "3 b f 2"]
    files = [coded(IN_UNITS, table("pid hh sex job", *own)).file for own in (rows, rows[::-1])]
    assert files[0].equals(files[1])
    assert files[0]["pid"].to_pylist() == ["1", "1", "2", "3", "3"]
    keyed = coded({**IN_UNITS, "units": "pid"}, table("pid hh sex job", *rows)).file
    assert sorted(keyed[".household"].to_pylist()) == [0, 0, 1, 2, 2]
    assert "pid" not in keyed.column_names


def test_a_key_of_several_units_is_refused():
    with pytest.raises(InputError, match=r"survey.csv, row 3: the key \(pid\) is that of rows of several units"):
        coded(IN_UNITS, table("pid hh sex job", "1 a m 2", "1 b f 3"))


def test_a_key_variable_that_is_a_number_of_records_is_told():
    people = drawn(100).assign(sex=[f"s{at}" for at in range(100)])
    assert "identifying" in coded(SEX, as_text(people)).warnings["code"].tolist()
    assert "identifying" not in coded(SEX, as_text(people.assign(sex=people["sex"].str[:2]))).warnings["code"].tolist()
