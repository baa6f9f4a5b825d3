"""Dates are the numbers of their days, in whatever format they are written (METHODS §1)."""

from datetime import date, datetime, timedelta
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases, examples
from making.studies import study
from pydantic import ValidationError
from reident import attack
from reident.errors import InputError
from reident.intake.coarsening import coarsen
from reident.intake.undeclared import NumberCounts, look_missing_dates
from reident.intake.values import typed_key
from reident.plausibility import numbers
from reident.plausibility.links import Trial
from reident.sections.coarsening import Coarsening
from reident.sections.days import DateForm, day_text
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable

FORMATS = {
    "YYYY-MM-DD": "%Y-%m-%d", "DD.MM.YYYY": "%d.%m.%Y", "MM/DD/YYYY": "%m/%d/%Y", "YYYYMMDD": "%Y%m%d",
    "DDMMMYYYY": "%d%b%Y", "DD-MMM-YYYY": "%d-%b-%Y", "YYYY/MM/DD": "%Y/%m/%d",
}  # fmt: skip
DAYS = st.dates(date(1000, 1, 1))


def days(cells, form="YYYY-MM-DD", **fields):
    """The typed values of a column of dates."""
    shape = {} if form == "YYYY-MM-DD" else {"format": form}
    variable = KeyVariable.model_validate({"name": "v", "type": "date", **shape, **fields})
    return typed_key(variable, SourceFile(path="f.csv"), pa.array(cells)).to_pylist()


@examples(200)
@given(cells=st.lists(st.one_of(DAYS, st.none()), min_size=1), form=st.sampled_from(list(FORMATS)))
def test_a_date_is_the_number_of_its_day(cells, form):
    texts = ["none" if day is None else day.strftime(FORMATS[form]) for day in cells]
    assert days(texts, form, missing=["none"]) == [None if day is None else float(day.toordinal()) for day in cells]


@examples(100)
@given(moments=st.lists(st.datetimes(datetime(1000, 1, 1)), min_size=1))  # noqa: DTZ001 - as files have them
def test_a_time_is_a_fraction_of_its_day(moments):
    texts = [moment.strftime("%Y-%m-%d %H:%M:%S.%f") for moment in moments]
    start = datetime(1, 1, 1)  # noqa: DTZ001
    expected = [1 + (moment - start) / timedelta(days=1) for moment in moments]
    assert days(texts, "YYYY-MM-DD hh:mm:ss") == pytest.approx(expected, abs=1e-9)


TEXTS = [
    ("one digit", "DD.MM.YYYY", "1.3.2024", date(2024, 3, 1)),
    ("a leap day", "DD.MM.YYYY", "29.02.2024", date(2024, 2, 29)),
    ("a leap day that is none", "DD.MM.YYYY", "29.02.1900", None),
    ("the first day", "YYYY-MM-DD", "0001-01-01", date(1, 1, 1)),
    ("the year 0", "YYYY-MM-DD", "0000-01-01", None),
    ("before 1970", "YYYY-MM-DD", "1899-12-31", date(1899, 12, 31)),
    ("an unknown day", "YYYY-MM-DD", "1945-06-00", None),
    ("an unambiguous day in another format", "DD.MM.YYYY", "2024-03-31", date(2024, 3, 31)),
    ("a day as programs write it", "YYYY-MM-DD", "2024-03-31T00:00:00", date(2024, 3, 31)),
    ("a time where there is none", "YYYY-MM-DD", "2024-03-31 12:00:00", None),
    ("no time where there is one", "YYYY-MM-DD hh:mm", "2024-03-31", None),
    ("months before days", "DD/MM/YYYY", "03/31/2024", None),
    ("two digits up to the latest year", "DD.MM.YY", "31.12.26", date(2026, 12, 31)),
    ("two digits after it", "DD.MM.YY", "1.1.27", date(1927, 1, 1)),
    ("a month", "YYYY-MM", "2024-03", date(2024, 3, 1)),
    ("a number", "YYYY-MM-DD", "738976", None),
    ("a week", "YYYY-MM-DD", "2024-W13-7", None),
    ("other digits", "YYYY-MM-DD", "２０２４-03-31", None),
    ("the month of a SAS date", "DDMMMYYYY", "31MAR2024", date(2024, 3, 31)),
    ("a word", "DD.MM.YYYY", "unknown", None),
]


@pytest.mark.parametrize(("form", "text", "day"), cases(TEXTS))
def test_what_is_a_date(form, text, day):
    reader = DateForm(form, 2026)
    assert reader.number(reader.iso(text)) == (None if day is None else day.toordinal())


def test_two_digits_mean_the_latest_year_that_is_allowed():
    reader = DateForm("YY", 2026)
    for digits in range(100):
        year = next(year for year in range(2026, 1926, -1) if year % 100 == digits)
        assert reader.number(reader.iso(f"{digits:02}")) == date(year, 1, 1).toordinal()


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("2023-02-29", "Correct `format`, declare it as a missing code, recode it, or correct the file."),
        ("2023-02-28 10:30", "It has a time of day: add `hh:mm:ss` to `format`, or correct the file."),
        ("2023-02-28T10:30:00+02:00", "It has a time zone: write the times of both files in one zone, without it."),
    ],
)
def test_an_impossible_date_is_an_error_with_its_row_and_without_its_value(text, remedy):
    with pytest.raises(InputError) as error:
        days(["2024-02-29", text])
    problem = f"f.csv, row 3, column `v`: the value of `v` is not a valid date (YYYY-MM-DD). {remedy}"
    assert str(error.value) == problem


@pytest.mark.parametrize(
    ("text", "form"),
    [("1980-11-17", "YYYY"), ("1980-11-17", "MM.YYYY"), ("1980-11-01 00:00:00", "YYYY-MM"), ("1980-01-01", "YYYY")],
)
def test_a_day_is_no_date_of_a_column_of_months_or_years(text, form):
    with pytest.raises(InputError, match=r"row 2, column `v`: .* is not a valid date \("):
        days([text], form)


def test_months_and_years_are_their_first_days():
    assert days(["11.1980", "1980-11"], "MM.YYYY") == [date(1980, 11, 1).toordinal()] * 2
    assert days(["80", "1980"], "YY", latest_year=2026) == [date(1980, 1, 1).toordinal()] * 2


def test_a_date_in_a_column_of_numbers_is_said_to_be_one():
    with pytest.raises(InputError, match=r"row 2, column `v`: .* is not a number, because it is a date\. Set"):
        typed_key(KeyVariable(name="v", type="numeric"), SourceFile(path="f.csv"), pa.array(["2024-02-29"]))


def test_codes_of_a_date_may_be_written_either_way():
    cells = ["31.12.9999", "0.6.1945", "01.07.1945"]
    found = days(cells, "DD.MM.YYYY", missing=["9999-12-31"], recode={"0.6.1945": "15.6.1945"})
    assert found == [None, date(1945, 6, 15).toordinal(), date(1945, 7, 1).toordinal()]


REFUSED = [
    ("another type", {"type": "numeric", "format": "YYYY"}, "must not have `format` or `latest_year` without"),
    ("no year", {"type": "date", "format": "DD.MM"}, "must be a date format"),
    ("days without months", {"type": "date", "format": "YYYY-DD"}, "must be a date format"),
    ("twice", {"type": "date", "format": "DD.MM.YYYY DD"}, "must be a date format"),
    ("a format of Python", {"type": "date", "format": "%Y-%m-%d"}, "must be a date format"),
    ("small letters", {"type": "date", "format": "yyyy-mm-dd"}, "must be a date format"),
    ("two digits alone", {"type": "date", "format": "DD.MM.YY"}, "`.latest_year` is missing"),
    ("a year too many", {"type": "date", "latest_year": 2026}, "`.latest_year` must not be given without `YY`"),
    ("a factor", {"type": "date", "convert": {"eif": {"times": 2}}}, "must have `plus` alone"),
    ("an order", {"type": "date", "order": ["1", "2"]}, "with `type: date`"),
    ("a width", {"type": "date", "coarsen": {"width": 7}}, "must have `to`, `earliest` or `latest`"),
    ("a period of numbers", {"type": "numeric", "coarsen": {"to": "month"}}, "must have `width`, `top` or `bottom`"),
    ("ends", {"type": "date", "coarsen": {"earliest": "2001-01-01", "latest": "2000-01-01"}}, "not be before"),
    ("times in one file", {"type": "date", "format": {"eif": "YYYY-MM-DD hh:mm"}}, "must have `to: day`"),
    ("months alone", {"type": "date", "format": {"puf": "YYYY-MM"}, "coarsen": {"to": "week"}}, "`to: month`"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "message"), cases(REFUSED))
def test_declarations_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        study(linking_variables=[{"name": "v", **fields}])


def period(day, to):
    """The first day of the period of a day, and the first day after it."""
    if to in ("day", "week"):
        start = day - timedelta(days=day.weekday() if to == "week" else 0)
        return start, start + timedelta(days=7 if to == "week" else 1)
    months = {"month": 1, "quarter": 3, "year": 12}[to]
    first = (day.month - 1) // months * months + 1
    after = first + months
    return date(day.year, first, 1), date(day.year + (after > 12), after - 12 * (after > 12), 1)


@examples(200)
@given(
    cells=st.lists(st.one_of(st.none(), st.dates(date(1600, 1, 4), date(2400, 12, 31))), min_size=1),
    to=st.sampled_from(["day", "week", "month", "quarter", "year"]),
    ends=st.lists(st.one_of(st.none(), st.dates(date(1900, 1, 1), date(2000, 1, 1))), min_size=2, max_size=2),
)
def test_a_coarser_date_is_the_middle_of_its_period(cells, to, ends):
    earliest, latest = sorted(ends, key=lambda end: end or date(1900, 1, 1)) if all(ends) else ends
    plain = {"to": to, "earliest": earliest, "latest": latest}
    coarser = Coarsening.model_validate({name: str(value) for name, value in plain.items() if value is not None})
    numbers_ = pa.array([None if day is None else float(day.toordinal()) for day in cells], pa.float64())
    expected = []
    for day in cells:
        inside = day if day is None or earliest is None else max(day, earliest)
        inside = inside if inside is None or latest is None else min(inside, latest)
        bounds = None if inside is None else [end.toordinal() for end in period(inside, to)]
        expected.append(None if bounds is None else sum(bounds) / 2)
    assert coarsen(numbers_, coarser).to_pylist() == expected


def frames(seed, n, missing):
    """Two files of births of the same people, some of them a few days off, with ties and missing values."""
    rng = np.random.default_rng(seed)
    born = rng.integers(date(1930, 1, 1).toordinal(), date(1930, 3, 1).toordinal(), n)
    off = np.where(rng.random(n) < 0.3, rng.choice([-7, -1, 1, 7], n), 0)
    gaps, sex = [rng.random(n) < missing for _ in range(2)], rng.choice(["f", "m"], n)
    keys = [f"{at:03}" for at in range(n)]
    files = [
        pd.DataFrame({key: keys, "born": np.where(gap, -1, values), "sex": sex})
        for key, values, gap in (("p", born, gaps[0]), ("e", born + off, gaps[1]))
    ]  # fmt: skip
    return *files, pd.DataFrame({"p": files[0]["p"], "e": files[1]["e"]})


@examples(10)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), missing=st.sampled_from([0.0, 0.2, 1.0]))
def test_an_attack_on_dates_is_one_on_the_numbers_of_days(seed, n, missing):
    puf, eif, links = frames(seed, n, missing)
    metrics = {
        "unicity": {}, "taxicab": {}, "euclidean": {}, "fellegi_sunter": {"bands": {"born": [1, 7]}},
        "adhoc": {"scores": {"born": {"bands": [{"within": 0, "score": 5}, {"within": 7, "score": 4}]}}},
    }  # fmt: skip
    sex = {"name": "sex", "type": "categorical"}
    by_number = attack(
        puf, eif, links, metrics=metrics, variables=[{"name": "born", "type": "numeric", "missing": "-1"}, sex]
    )
    dated = [
        file.assign(born=["00.00.1930" if day < 0 else date.fromordinal(day).strftime(form) for day in file["born"]])
        for file, form in ((puf, "%d.%m.%Y"), (eif, "%Y%m%d"))
    ]
    form = {"puf": "DD.MM.YYYY", "eif": "YYYYMMDD"}
    born = {"name": "born", "type": "date", "format": form, "missing": "00.00.1930"}
    by_date = attack(*dated, links, metrics=metrics, variables=[born, sex])
    pd.testing.assert_frame_equal(by_date.rates, by_number.rates)
    for metric in metrics:
        pd.testing.assert_frame_equal(by_date.confirmed[metric], by_number.confirmed[metric])


def test_days_of_data_frames_are_dates():
    born = pd.to_datetime(["1950-01-01", "1960-05-05", "1970-07-07"])
    puf = pd.DataFrame({"p": ["1", "2", "3"], "born": born})
    eif = pd.DataFrame({"e": ["a", "b", "c"], "born": [f"{day:%Y-%m-%d}" for day in born]})
    links = pd.DataFrame({"p": ["1", "2", "3"], "e": ["a", "b", "c"]})
    found = attack(puf, eif, links, variables={"born": "date"}, metrics={"taxicab": {}})
    assert found.rates["n_confirmed"].tolist() == [3] * len(found.rates)


def counted(days_):
    return {float(date.fromisoformat(day).toordinal()): rows for day, rows in days_.items()}


USUAL = {f"19{year}-0{month}-1{day}": 2 for year in range(30, 90) for month in (1, 5) for day in (2, 7)}
LOOKS = [
    ("a day after all others", {**USUAL, "9999-12-31": 1}, {"9999-12-31"}),
    ("a day before all others", {**USUAL, "1900-01-01": 1}, {"1900-01-01"}),
    ("two that would hide each other", {**USUAL, "9999-12-31": 3, "8888-08-08": 1}, {"9999-12-31", "8888-08-08"}),
    ("a heap", {**USUAL, "1960-01-01": 11}, {"1960-01-01"}),
    ("a birthday as others", {**USUAL, "1960-01-01": 10, "1970-01-01": 1}, set()),
    ("a small heap", {"1950-02-01": 1, "1960-01-01": 2, "1970-03-01": 1}, set()),
    ("the oldest of a file of old people", {f"190{at}-01-01": 1 for at in range(10)}, set()),
    ("nothing else", {"9999-12-31": 9}, set()),
]


@pytest.mark.parametrize(("counts", "found"), cases(LOOKS))
def test_days_that_look_like_missing_codes(counts, found):
    looks = look_missing_dates(counted(counts))
    assert {day_text(day) for day in looks} == found
    assert not look_missing_dates(counted(counts), set(looks))


def test_days_that_look_like_missing_codes_are_counted_among_very_many():
    counts = NumberCounts(limit=100, dates=True)
    usual = np.arange(date(1930, 1, 1).toordinal(), date(1990, 1, 1).toordinal()).astype(float)
    counts.add(usual, np.ones(len(usual), np.int64))
    counts.add(np.array([date(9999, 12, 31).toordinal()], float), np.array([7]))
    assert look_missing_dates(counts.counts()) == {float(date(9999, 12, 31).toordinal()): 7}


def test_a_shift_in_days_is_the_only_conversion_of_a_date():
    rng = np.random.default_rng(5)
    puf = rng.integers(date(1930, 1, 1).toordinal(), date(2000, 1, 1).toordinal(), 400).astype(float)
    half, chance = np.arange(400) % 2 == 0, np.full(400, 0.2)
    for eif, proposal in ((puf - 9131, "plus: 9131"), (puf * 1.01, None), (-puf + 1_450_000, None)):
        fifths = np.zeros((2, 400))
        found = {
            x.check: x.proposal for x in numbers.check("v", puf, eif, half, fifths, chance, Mock(Trial), dates=True)
        }
        conversions = {
            check: words for check, words in found.items() if check in ("offset", "scale", "linear", "reversed")
        }
        assert set(conversions) <= {"offset"}
        assert proposal is None or conversions == {"offset": proposal}
