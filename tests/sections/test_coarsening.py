"""Coarser values of a linking variable: what a study may declare, and what becomes of values."""

import numpy as np
import pyarrow as pa
import pytest
from making.studies import plain, study
from pydantic import ValidationError
from reident.intake.coarsening import coarsen, coarser_numbers
from reident.linkage.recodings import changes
from reident.linkage.settings import OrderedVariable
from reident.sections.coarsening import Coarsening
from reident.sections.linkage import coarser_order
from reident.study.model import Study


def variables(**coarsen):
    return [
        {"name": "x", "type": "numeric", **({"coarsen": coarsen["x"]} if "x" in coarsen else {})},
        {"name": "c", "type": "categorical", **({"coarsen": coarsen["c"]} if "c" in coarsen else {})},
    ]


@pytest.mark.parametrize(
    ("values", "how", "expected"),
    [
        ([0, 9, 10, 19.5, -1, -10], {"width": 10}, [5, 5, 15, 15, -5, -5]),
        ([0.3, 0.29, 0.7, 1.1], {"width": "0.1"}, [0.35, 0.25, 0.75, 1.15]),
        ([70, 85, 99], {"top": 85}, [70, 85, 85]),
        ([70, 85, 99], {"bottom": 80}, [80, 85, 99]),
        ([2, 70, 85, 99], {"width": 5, "top": 80, "bottom": 10}, [12.5, 72.5, 82.5, 82.5]),
        ([1, 2], {"width": "1/3"}, [7 / 6, 13 / 6]),
    ],
)
def test_numbers_become_the_middle_of_their_interval(values, how, expected):
    found = coarser_numbers(np.array(values, float), Coarsening.model_validate(how))
    assert found.tolist() == expected


def test_missing_values_stay_missing_and_order_of_records_does_not_matter():
    column = pa.chunked_array([pa.array([3.0, None]), pa.array([12.0])])
    assert coarsen(column, Coarsening(width=10)).to_pylist() == [5.0, None, 15.0]
    nothing = coarsen(pa.array([None, None], pa.string()), Coarsening(recode={"a": "b"}))
    assert nothing.to_pylist() == [None, None]


def test_codes_become_coarser_by_a_recode_table():
    how = Coarsening(recode={"1-3": "low", "9": "high", "otherwise": "middle"})
    assert coarsen(pa.array(["1", "3", None, "9", "x"]), how).to_pylist() == [
        "low", "low", None, "high", "middle",
    ]  # fmt: skip
    assert coarser_order(("1", "2", "5", "9"), how, integer_coded=False) == ("low", "middle", "high")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "must have either `recode`, or at least one of `width`, `top` and `bottom`"),
        ({"width": 1, "recode": {"1": "2"}}, "must have either `recode`, or at least one of"),
        ({"width": 0}, "greater than 0"),
        ({"top": 1, "bottom": 2}, "`.top` must be at least `bottom`"),
        ({"recode": {"3-1": "2"}}, "must not end before it begins"),
        ({"width": "0.0000000000001"}, "must have at most 12 decimal places"),
    ],
)
def test_what_a_coarsening_must_not_be(how, message):
    with pytest.raises(ValidationError, match=message):
        Coarsening.model_validate(how)


@pytest.mark.parametrize("wrong", [{"x": {"recode": {"1": "2"}}}, {"c": {"width": 2}}])
def test_a_coarsening_fits_the_type_of_its_variable(wrong):
    with pytest.raises(ValidationError, match="because the variable is"):
        Study.model_validate(plain(linking_variables=variables(**wrong)))


@pytest.mark.parametrize(
    ("recodings", "message"),
    [
        ([{"variable": "other", "width": 2}], "must be a linking variable"),
        ([{"variable": "c", "width": 2}], "because the variable is categorical"),
        ([{"variable": "x", "width": 2}, {"variable": "x", "width": 2}], "is given twice"),
        ([{"variable": "c", "recode": {"1": "2"}}], "`.name` is missing"),
    ],
)
def test_recodings_of_why_fit_the_study(recodings, message):
    with pytest.raises(ValidationError, match=message):
        study(why={"recodings": recodings})


def test_the_usual_changes_go_from_fine_to_coarse():
    some = [OrderedVariable("x", "numeric"), OrderedVariable("c", "categorical", False, ("1", "2", "3", "4", "5"))]
    table = pa.table({"x": pa.array(np.arange(0.0, 100.0)), "c": pa.array(["1"] * 100)})
    found = changes(some, None, table)
    assert [(one.variable, one.title) for one in found] == [
        ("x", "left out"), ("x", "width 2"), ("x", "width 5"), ("x", "width 10"), ("x", "top 95"),
        ("c", "left out"), ("c", "pairs of neighbours"),
    ]  # fmt: skip
    assert found[-1].coarsening.recode == {"2": "1", "4": "3"}
    assert [one.title for one in changes(some, None, table, ("x", "c"))] == ["left out"] * 2
