"""Padding with zeros: what is padded, what stays, and what a study may pad."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import cases
from making.studies import files, study
from pydantic import ValidationError
from reident.reading import padded

CELLS = st.one_of(st.text("0123456789", max_size=8), st.text(" 01a-.é٣", max_size=6))


@given(st.lists(CELLS, min_size=1), st.integers(1, 6))
def test_digits_are_filled_with_zeros_and_all_else_stays(cells, width):
    batch = pa.record_batch({"a": pa.array(cells, pa.string()), "b": pa.array(cells, pa.string())})
    found = padded(batch, {"a": width, "absent": 3})
    digits = [cell.strip() if set(cell.strip()) <= set("0123456789") else "" for cell in cells]
    assert found["a"].to_pylist() == [
        own.zfill(width) if own else cell for own, cell in zip(digits, cells, strict=True)
    ]
    assert found["b"].to_pylist() == cells


def padding(pad, **column):
    return study(
        files=files(puf={"path": "puf.csv", "id": "p", "pad": pad}),
        linking_variables=[{"name": "c", "type": "categorical", **column}],
    )


REFUSED = [
    ("a column that is not read", {"q": 3}, {}, r"`.files.puf.pad` must name columns that the study reads, and `q`"),
    ("a missing code that is shorter", {"c": 2}, {"missing": ["9"]}, r"`9` has fewer than 2 digits. Write `09`"),
    ("a recoded code", {"c": 3}, {"recode": {"puf": {"12": "a"}}}, r"`12` has fewer than 3 digits. Write `012`"),
    ("a width of nothing", {"c": 0}, {}, "greater than or equal to 1"),
]  # fmt: skip


@pytest.mark.parametrize(("pad", "column", "says"), cases(REFUSED))
def test_what_a_study_may_not_pad(pad, column, says):
    with pytest.raises(ValidationError, match=says):
        padding(pad, **column)


ACCEPTED = [
    ("codes as they are padded", {"missing": ["09"], "recode": {"puf": {"01": "a", "2-3": "b", "otherwise": "c"}}}),
    ("codes of the other file", {"missing": {"puf": [], "eif": ["9"]}, "recode": {"eif": {"1": "01"}}}),
    ("codes that are no digits", {"missing": ["-9", ""]}),
    ("codes that are numbers", {"missing": ["9"], "integer_coded": True}),
]  # fmt: skip


@pytest.mark.parametrize("column", cases(ACCEPTED))
def test_what_a_study_may_pad(column):
    assert padding({"c": 2, "p": 4}, **column).linked_files.puf.pad == {"c": 2, "p": 4}
