"""Composite keys are tuples of text, never joined and never parsed."""

import numpy as np
import pyarrow as pa
import pytest
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


@pytest.mark.parametrize(("sentence", "one", "other"), DIFFERENT, ids=[case[0] for case in DIFFERENT])
def test_keys_differ_where_any_part_differs(sentence, one, other):
    (code,) = keys.codes([table("a b", one, other)], [["a", "b"]])
    assert code[0] != code[1]
    there = keys.positions(table("a b", one), ["a", "b"], table("c d", one, other), ["c", "d"])
    assert there.tolist() == [0, -1]


def test_codes_follow_the_order_of_tuples_by_code_point_over_all_tables():
    left = table("a b", "2 1", "10 1", "_ 9", "1 23")
    right = table("c d", "12 3", "é 0", "1 23", "Z 0")
    found = np.concatenate(keys.codes([left, right], [["a", "b"], ["c", "d"]]))
    tuples = [tuple(row.values()) for row in [*left.to_pylist(), *right.to_pylist()]]
    dense = {key: at for at, key in enumerate(sorted(set(tuples)))}
    assert found.tolist() == [dense[key] for key in tuples]


NULLS = [
    ("a null in the first part", "~ 1", -1),
    ("a null in the last part", "1 ~", -1),
    ("nulls in both parts", "~ ~", -1),
    ("an empty text is no null", "_ _", 0),
]


@pytest.mark.parametrize(("sentence", "row", "code"), NULLS, ids=[case[0] for case in NULLS])
def test_a_null_part_has_no_code_and_no_position(sentence, row, code):
    (found,) = keys.codes([table("a b", row)], [["a", "b"]])
    assert found.tolist() == [code]
    asked = keys.positions(table("a b", "1 1", "_ _"), ["a", "b"], table("a b", row), ["a", "b"])
    assert asked.tolist() == [1 if code == 0 else -1]


def test_no_record_has_no_code():
    none, one = table("a"), table("a", "1")
    assert [code.tolist() for code in keys.codes([none, one, none], [["a"]] * 3)] == [[], [0], []]
    assert keys.positions(none, ["a"], one, ["a"]).tolist() == [-1]
    assert keys.positions(one, ["a"], none, ["a"]).tolist() == []
    assert keys.first_repeat(np.array([], np.int64)) is None


def test_chunks_and_dictionaries_of_the_same_text_are_the_same_keys():
    plain = table("a", "x", "y", "x")
    chunked = pa.table({"a": pa.chunked_array([["x"], [], ["y", "x"]])})
    assert [code.tolist() for code in keys.codes([plain, chunked], [["a"]] * 2)] == [[0, 1, 0]] * 2


REPEATS = [
    ("no repeat", [3, 1, 2], None),
    ("one record", [7], None),
    ("the later of two", [5, 1, 5], 2),
    ("the earliest of all repeats, not that of the smallest key", [9, 9, 1, 1], 1),
    ("all the same", [4, 4, 4], 1),
]


@pytest.mark.parametrize(("sentence", "code", "position"), REPEATS, ids=[case[0] for case in REPEATS])
def test_the_first_repeat(sentence, code, position):
    assert keys.first_repeat(np.array(code)) == position


CHECKED = [
    ("a key that repeats", ["a"], ("1 x", "2 y", "1 z"), "f.csv, row 4: the key (a) is not unique"),
    ("an empty key", ["a"], ("1 x", "_ y"), "f.csv, row 3, column `a`: the key must not be empty"),
    (
        "a composite key with one empty part, twice",
        ["a", "b"],
        ("_ x", "1 x", "_ x"),
        "f.csv, row 4: the key (a, b)",
    ),
    (
        "a composite key whose parts are all empty",
        ["a", "b"],
        ("1 x", "_ x", "_ _"),
        "f.csv, row 4, columns a, b: the key must not be empty",
    ),
]


@pytest.mark.parametrize(("sentence", "names", "rows", "says"), CHECKED, ids=[case[0] for case in CHECKED])
def test_a_key_must_name_one_record(sentence, names, rows, says):
    with pytest.raises(InputError) as caught:
        keys.check(table("a b", *rows), names, "f.csv")
    assert str(caught.value).startswith(says)
