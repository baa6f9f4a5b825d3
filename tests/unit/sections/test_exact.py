"""Exact rationals: how they are read and written."""

import pytest
from pydantic import TypeAdapter, ValidationError
from reident.sections.exact import Rational, rational_text

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
