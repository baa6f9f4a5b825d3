"""Each guess of a draft: names, missing codes, types, keys, links, counterparts, recodes, strata."""

from random import Random

import numpy as np
import pytest
from making import drafting
from reident.drafting import codes, counterparts, keys, links, recodes, strata, types
from reident.drafting.profile import DraftColumn, File, profile
from reident.drafting.source import describe


def file(path, columns: dict[str, list]) -> File:
    rows = zip(*columns.values(), strict=True)
    saved = drafting.saved(path, [list(columns), *rows])
    return profile(describe(saved, saved.with_name("study.yaml")))


def column(tmp_path, values: list, name: str = "x") -> DraftColumn:
    padding = [f"k{at}" for at in range(len(values))]
    return file(tmp_path / f"{name}.csv", {"pid": padding, name: values}).columns[name]


@pytest.mark.parametrize(
    ("counts", "certain", "uncertain"),
    [
        ({"1": 9, "2": 9, "-9": 2}, ["-9"], []),
        ({"1": 9, "2": 9, "": 2, ".": 1}, ["", "."], []),
        ({"1": 9, "2": 9, "3": 4, "9": 2}, [], ["9"]),
        ({"1": 9, "2": 9, "3": 4, "4": 2}, [], []),
        ({"7": 9, "8": 9, "9": 4}, [], []),
        ({"18": 9, "20": 9, "31": 4, "99": 2}, ["99"], []),
        ({"18": 9, "20": 9, "81": 4, "99": 2}, [], ["99"]),
        ({"M": 9, "F": 9, "U": 2}, [], ["U"]),
        ({"NA": 9, "DE": 9, "FR": 2}, [], ["NA"]),
        ({"NA": 9, "12": 9, "13": 2}, ["NA"], []),
        ({"low": 9, "high": 9, "Don't know": 2, "k.A.": 1}, ["Don't know", "k.A."], []),
        ({"-1": 9, "-9": 9, "4": 2}, ["-9"], []),
        ({"-1": 3, "1": 9, "4": 9, "5": 2}, [], ["-1"]),
        ({".A": 9, "1": 9, "4": 2}, [".A"], []),
        ({"1": 9, "16": 9, "98": 3}, [], ["98"]),
        ({"1": 9, "16": 9, "98": 9}, [], []),
        ({"1": 9, "16": 9, "98": 3, "99": 2}, ["99"], ["98"]),
        ({"1": 9, "16": 9, "99": 9}, ["99"], []),
        ({"1": 9, "2": 9, "9": 9}, [], ["9"]),
        ({"1": 9, "2": 9, "8": 9}, [], []),
        ({"1": 9, "2": 9, "3": 4, "8": 3, "9": 2}, [], ["8", "9"]),
        ({"1": 9, "2": 9, "77": 4, "88": 3}, [], ["77", "88"]),
        ({"18": 9, "60": 9, "97": 3, "98": 3}, [], ["97", "98"]),
        ({"1": 9, "2": 9, "3": 4, "4": 2, "5": 3, "6": 3, "7": 3, "8": 3}, [], []),
    ],
)
def test_codes_that_mean_missing(counts, certain, uncertain):
    missing = codes.certain(counts)
    assert list(missing) == certain
    values = {code: rows for code, rows in counts.items() if code not in missing}
    assert list(codes.uncertain(values)) == uncertain


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("sex", [1, 2] * 50, "categorical"),
        ("age", list(range(18, 68)) * 4, "numeric"),
        ("x", [round(0.5 * at, 1) for at in range(40)] * 3, "numeric"),
        ("x", [f"{at % 20:02d}" for at in range(200)], "categorical"),
        ("x", [at % 20 for at in range(200)], types.TODO),
        ("isco", [110 + 7 * (at % 90) for at in range(2000)], "categorical"),
        ("x", [110 + 7 * (at % 90) for at in range(2000)], types.TODO),
        ("x", [13 * at * at for at in range(100)], "numeric"),
        ("x", ["18-29", "30-64", "65+"] * 30, "categorical"),
        ("x", [*range(1000, 1100), "over"], types.TODO),
        ("born", [f"19{at % 90 + 10}-01-02" for at in range(200)], "date"),
    ],
)
def test_types(name, values, kind, tmp_path):
    assert types.kind([column(tmp_path, values, name)]).kind == kind


def test_one_record_and_a_column_without_a_value(tmp_path):
    own = file(tmp_path / "f.csv", {"pid": ["p1"], "sex": ["M"], "none": [""]}).columns
    assert types.kind([own["none"]]).kind == types.TODO
    assert types.obstacle(own["none"]) == "no values"
    assert types.codes_to_show(own["sex"]) == {}


def test_codes_that_a_draft_may_show(tmp_path):
    assert types.codes_to_show(column(tmp_path, ["a"] * 9 + ["b"] * 9 + ["c"] * 2)) == {"a": 9, "b": 9}
    assert types.codes_to_show(column(tmp_path, [f"a{at // 4}" for at in range(400)], "many")) == {}
    assert types.codes_to_show(column(tmp_path, ["x" * 50, "y" * 50] * 9, "long")) == {}


def test_keys_alone_and_together(tmp_path):
    draw = Random(1)  # noqa: S311 - made-up people
    house, person = [f"{at // 3:03d}" for at in range(90)], [str(at % 3) for at in range(90)]
    own = file(tmp_path / "f.csv", {"house_id": house, "person_no": person, "income": [at * 7 for at in range(90)],
                                    "a": [draw.randint(0, 9) for _ in house]})  # fmt: skip
    assert keys.single(own) == []
    assert keys.composite(own)[0] == ("house_id", "person_no")
    assert links.alone(own).columns == ("house_id", "person_no")


def test_two_columns_that_may_be_the_key_are_to_be_decided(tmp_path):
    own = file(tmp_path / "f.csv", {"case_id": [f"c{at}" for at in range(9)], "uid": [f"u{at}" for at in range(9)]})
    key = links.alone(own)
    assert key.columns == ()
    assert "`case_id`, `uid`" in key.reason


def attack(tmp_path, n=60, **other):
    """Two files of the same numbers as keys, and links whose columns have other names."""
    draw = Random(4)  # noqa: S311 - made-up people
    puf = {"id": list(range(n)), "sex": [draw.choice("12") for _ in range(n)], "size": [at % 7 for at in range(n)]}
    turned = list(reversed(range(n)))
    eif = {"id": turned, "sex": [puf["sex"][at] for at in range(n)], "size": [puf["size"][at] for at in range(n)]}
    # the record with the key `at` in the PUF has the key n − 1 − at in the EIF
    first, second = file(tmp_path / "p.csv", puf), file(tmp_path / "e.csv", eif)
    return first, second, file(tmp_path / "l.csv", {"a": [*range(n)], "b": turned, **other})


def test_keys_that_both_fit_are_told_apart_by_linked_records(tmp_path):
    puf, eif, iuf = attack(tmp_path)
    found = links.find(puf, eif, iuf)
    # both assignments agree on every variable of this mirror image, so that nothing tells them apart
    assert found.puf.linked == ()
    assert "write which belongs to which" in found.puf.reason


def pair(tmp_path, ours: list, theirs: list, name: str = "x") -> counterparts.Pair:
    one, other = column(tmp_path, ours, name), column(tmp_path, theirs, f"{name}_est")
    return counterparts.Pair(one, other, sure=True, reason="")


def linked(ours: list, theirs: list) -> tuple[np.ndarray, np.ndarray]:
    return np.array(ours, object), np.array(theirs, object)


def test_a_name_that_the_links_contradict_is_not_sure(tmp_path):
    draw = Random(3)  # noqa: S311 - made-up people
    one = [draw.choice("abcd") for _ in range(300)]
    other = [draw.choice("abcd") for _ in range(300)]
    first = file(tmp_path / "one.csv", {"pid": [f"p{at}" for at in range(300)], "area": one})
    second = file(tmp_path / "two.csv", {"key": [f"k{at}" for at in range(300)], "area": other})
    iuf = file(tmp_path / "l.csv", {"pid": [f"p{at}" for at in range(300)], "key": [f"k{at}" for at in range(300)]})
    found = links.find(first, second, iuf)
    (own,) = counterparts.pairs([first.columns["area"]], [second.columns["area"]], found)
    assert not own.sure
    assert "against it" in own.reason


def test_recodes(tmp_path):
    sexes = pair(tmp_path, [1, 2] * 20, ["M", "F"] * 20, "sex")
    together = linked(["1", "2"] * 10, ["M", "F"] * 10)
    found = recodes.recode(sexes, together)
    assert (found.side, found.table) == ("eif", {"F": "2", "M": "1"})
    assert recodes.recode(sexes, None).table is None
    assert recodes.recode(sexes, linked(["1", "2", "2", "1"] * 5, ["M", "M", "F", "F"] * 5)).table is None
    labels = pair(tmp_path, ["Male", "Female"] * 20, ["m", "f"] * 20, "label")
    assert recodes.recode(labels, None).table == {"f": "Female", "m": "Male"}
    padded = pair(tmp_path, ["01", "02"] * 20, ["1", "2.0"] * 20, "padded")
    assert recodes.recode(padded, None)[:3] == ("", {}, True)


def together(tmp_path, table: dict[tuple[str, str], int]) -> recodes.Recode:
    """The recode of two columns, by the number of linked records that have two codes."""
    ours, theirs = zip(*[codes_ for codes_, n in table.items() for _ in range(n)], strict=True)
    return recodes.recode(pair(tmp_path, list(ours), list(theirs)), linked(list(ours), list(theirs)))


MARITAL = {("Married", "M"): 300, ("Divorced", "D"): 90, ("Separated", "X"): 60, ("Widowed", "W"): 50}


def test_a_code_that_looks_missing_is_a_value_if_its_links_have_one_counterpart(tmp_path):
    found = together(tmp_path, MARITAL)
    assert found.table == {"M": "Married", "D": "Divorced", "X": "Separated", "W": "Widowed"}
    assert found.missing == {}
    assert found.values == {"puf": [], "eif": ["X"]}


def test_a_code_that_looks_missing_is_one_if_its_links_have_any_code(tmp_path):
    """The links of U are as those of all records, although most have one code."""
    unknown = {(ours, "U"): n // 10 for (ours, _), n in MARITAL.items()}
    found = together(tmp_path, {at: n for at, n in MARITAL.items() if at[1] != "X"} | unknown)
    assert found.missing == {"eif": ["U"]}
    assert "U" not in found.table
    assert "1 code of puf has no counterpart in eif: Separated" in found.reason


def test_a_common_code_that_looks_missing_is_a_value_if_linked_records_share_it(tmp_path):
    found = together(tmp_path, {("1", "1"): 90, ("2", "2"): 60, ("2", "1"): 3, ("9", "9"): 30})
    assert (found.missing, found.values) == ({}, {"puf": ["9"], "eif": ["9"]})
    apart = {("1", "9"): 20, ("2", "9"): 14, ("9", "1"): 22, ("9", "2"): 12}
    found = together(tmp_path, {("1", "1"): 90, ("2", "2"): 60, **apart})
    assert (found.missing, found.values) == ({"puf": ["9"], "eif": ["9"]}, {"puf": [], "eif": []})


def test_without_links_a_code_is_missing_if_the_other_file_has_none_left_for_it(tmp_path):
    marital = pair(tmp_path, [*"MDXW"] * 10, ["Married", "Divorced", "Separated", "Widowed"] * 10, "marital")
    assert recodes.recode(marital, None).missing == {}
    sexes = pair(tmp_path, ["1"] * 40 + ["2"] * 40 + ["9"] * 5, ["M"] * 40 + ["F"] * 40 + ["U"] * 5, "sex")
    assert recodes.recode(sexes, None).missing == {"puf": ["9"], "eif": ["U"]}


def test_a_table_does_not_result_in_a_missing_code_of_its_file(tmp_path):
    """U is a value of the PUF and means missing in the EIF: only the PUF can be recoded."""
    sexes = {("P", "N"): 90, ("U", "T"): 80, ("P", "U"): 9, ("U", "U"): 8}
    found = together(tmp_path, sexes)
    assert (found.side, found.table) == ("puf", {"P": "N", "U": "T"})
    assert found.missing == {"eif": ["U"]}


def test_an_area_becomes_a_stratum_if_it_loses_no_links():
    none = {"region": strata.Stratum(10, 0, 100), "sex": strata.Stratum(5, 0, 100)}
    assert strata.chosen(none, 100) == "region"
    assert strata.chosen({"region": strata.Stratum(10, 5, 100)}, 100) is None
    assert strata.chosen({"region": strata.Stratum(10, None, 0)}, 100) is None
    assert strata.chosen({"sex": strata.Stratum(5, 0, 100)}, strata.MANY_PAIRS) == "sex"
