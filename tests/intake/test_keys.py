"""Composite keys are tuples of text, never joined and never parsed."""

import pytest
from making.examples import cases
from making.studies import table
from reident.errors import InputError
from reident.intake import keys

DIFFERENT = [
    ("joining would make them one", "1 23", "12 3"),
    ("an empty part stands where the other's is full", "_ 123", "123 _"),
    ("a separator inside a part", "a|b c", "a b|c"),
    ("leading zeros", "01 1", "1 01"),
    ("a decimal point", "1.0 1", "1 1"),
    ("upper and lower case", "A a", "a A"),
    ("beyond 2^53, where doubles are the same", "9007199254740993 1", "9007199254740992 1"),
    ("beyond 2^64", "18446744073709551617 1", "18446744073709551616 1"),
    ("composed and decomposed é, which keys do not normalise", "é 1", "e\u0301 1"),
    ("an exponent", "1e3 1", "1000 1"),
]


@pytest.mark.parametrize(("one", "other"), cases(DIFFERENT))
def test_keys_differ_where_any_part_differs(one, other):
    (code,) = keys.codes([table("a b", one, other)], [["a", "b"]])
    assert code[0] != code[1]
    there = keys.positions(table("a b", one), ["a", "b"], table("c d", one, other), ["c", "d"])
    assert there.tolist() == [0, -1]


CHECKED = [
    ("a key that repeats", ["a"], ("1 x", "2 y", "1 z"), "f.csv, row 4: the key (a) is not unique"),
    ("an empty key", ["a"], ("1 x", "_ y"), "f.csv, row 3, column `a`: the key must not be empty"),
    ("a composite key with one empty part, twice", ["a", "b"], ("_ x", "1 x", "_ x"), "f.csv, row 4: the key (a, b)"),
    ("a composite key whose parts are all empty", ["a", "b"], ("1 x", "_ x", "_ _"),
     "f.csv, row 4, columns a, b: the key must not be empty"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "rows", "says"), cases(CHECKED))
def test_a_key_must_name_one_record(names, rows, says):
    with pytest.raises(InputError) as caught:
        keys.check(table("a b", *rows), names, "f.csv")
    assert str(caught.value).startswith(says)
