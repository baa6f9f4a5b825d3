"""The categories of a key variable: cut where one file says, in the declared order, the same in all files."""

import pyarrow as pa
from reident.linkage import categories
from reident.sections.keys import KeyVariable


def test_a_numeric_variable_is_cut_where_the_named_file_says_in_whatever_order_the_files_come():
    age = KeyVariable(name="age", type="numeric")
    columns = {"sample": pa.array([100.0, None]), "file": pa.array([1.0, 2.0, 3.0, 4.0])}
    for order in (columns, dict(reversed(columns.items()))):
        codes, labels = categories.coded(age, order, "file", ".", 2, None)
        assert labels == ["up to 2.5", "above 2.5"]
        assert {name: own.tolist() for name, own in codes.items()} == {
            "sample": [1, -1],
            "file": [0, 0, 1, 1],
        }
    assert categories.coded(age, columns, "sample", ".", 2, None)[0]["file"].tolist() == [0, 0, 0, 0]


def test_codes_follow_the_declared_order_and_then_that_of_code_points():
    columns = {"a": pa.array(["low", None, "high"]), "b": pa.array(["high"])}
    declared = KeyVariable(name="v", order=("middle", "low", "high"))
    for variable, labels, codes in (
        (declared, ["middle", "low", "high"], {"a": [1, -1, 2], "b": [2]}),
        (KeyVariable(name="v"), ["high", "low"], {"a": [1, -1, 0], "b": [0]}),
    ):
        found, known = categories.coded(variable, columns, "a", ".", 4, None)
        assert known == labels
        assert {name: own.tolist() for name, own in found.items()} == codes


def test_a_variable_without_a_value_has_no_category():
    nothing = {"a": pa.array([None, None], pa.float64())}
    codes, labels = categories.coded(KeyVariable(name="v", type="numeric"), nothing, "a", ".", 4, None)
    assert (codes["a"].tolist(), labels) == ([-1, -1], [])
