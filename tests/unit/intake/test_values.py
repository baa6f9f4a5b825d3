"""A number means the same however it is written, whether it is converted by itself or with all others."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from reident.errors import InputError
from reident.intake.values import Place, typed
from reident.sections.codes import Coding, clean, number

PLACE = Place("f.csv", "x", "X")
PLAIN = st.from_regex(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", fullmatch=True)
OTHER = st.sampled_from(
    [" 7", "+7", "7.", ".7", "7e2", "-0", "-0.0", "1E-400", "-9", "-9.00", " -9 ", "007", "x"]
)


@examples(300)
@given(
    texts=st.lists(PLAIN | OTHER, min_size=1, max_size=12),
    codes=st.sampled_from([(), ("-9",), ("x", "-9.0"), ("7", "")]),
)
def test_numbers_are_those_of_python_one_by_one(texts, codes):
    missing = {number(code) if number(code) is not None else code for code in codes}
    expected = [number(clean(text)) if number(clean(text)) is not None else clean(text) for text in texts]
    expected = [None if value in missing else value for value in expected]
    wrong = next((row for row, value in enumerate(expected) if isinstance(value, str)), None)
    if wrong is not None:
        with pytest.raises(
            InputError, match=rf"f\.csv, row {wrong + 2}, column `x`: the value of `X` is not a number"
        ):
            typed(pa.array(texts), Coding("numeric", missing=codes), PLACE)
        return
    found = typed(pa.array(texts), Coding("numeric", missing=codes), PLACE).to_pylist()
    assert [repr(value) for value in found] == [repr(value) for value in expected]
