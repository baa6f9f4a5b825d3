"""The files of a study of micro-aggregation, its options, and what is refused (METHODS §9)."""

import copy
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from making.examples import cases
from pydantic import ValidationError
from reident.errors import InputError
from reident.microaggregation import masking as files
from reident.microaggregation import step as microaggregation_step
from reident.simulation import draw_skewed, treatments
from reident.simulation.section import SkewedAmounts
from reident.study.model import Study

BASE = {
    "id": "firms",
    "microaggregate": {"path": "firms.csv", "id": ["firm"], "variables": ["a", "b"], "k": 2, "missing": ["NA"]},
    "strata": ["area"],
    "linking_variables": [
        {"name": "a", "type": "numeric", "missing": ["NA"]},
        {"name": "b", "type": "numeric"},
        {"name": "trade", "type": "categorical"},
    ],
    "metrics": {"winkler": {}},
}
HEADER = ("firm", "area", "trade", "a", "b")
ROWS = [
    ("f5", "N", "x", "1", "10"), ("f1", "N", "y", "NA", "10"), ("f2", "S", "x", "2", "30"),
    ("f4", "S", "y", "4", "30"), ("f3", "N", "x", "09", "20.5"),
]  # fmt: skip


def study(simulated=False, **options) -> Study:
    content = copy.deepcopy(BASE)
    content["microaggregate"] |= options
    if simulated:
        del content["microaggregate"]["path"], content["microaggregate"]["id"]
    return Study.model_validate(content)


def table(rows=ROWS, header=HEADER) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return pa.table(dict(zip(header, (pa.array(column, pa.string()) for column in columns), strict=True)))


def make(model, text):
    return files.make(microaggregation_step.masking(model), text)


def by_firm(made: files.Made) -> dict[str, tuple]:
    """The masked records by the firm that they truly are."""
    return {
        row.firm: row[4:]
        for row in made.iuf.merge(made.puf, on="pufid")[["pufid", "firm", "area", "trade", "a", "b"]].itertuples()
    }


def test_the_three_files_by_hand():
    """a: 1 2 | 4 9, means 1.5 and 6.5; b: equal values are dealt out by key: f1 f5 | f3 f2 f4."""
    made = make(study(), table())
    assert list(made.puf) == ["pufid", "a", "b", "area", "trade"]
    assert by_firm(made) == {
        "f1": ("y", "NA", "10.0"),
        "f2": ("x", "1.5", repr(80.5 / 3)),
        "f3": ("x", "6.5", repr(80.5 / 3)),
        "f4": ("y", "6.5", repr(80.5 / 3)),
        "f5": ("x", "1.5", "10.0"),
    }
    held = {row.firm: (row.area, row.trade, row.a, row.b) for row in made.eif.itertuples()}
    assert held == {firm: tuple(rest) for firm, *rest in ROWS}
    assert list(made.eif["firm"]) == ["f1", "f2", "f3", "f4", "f5"]
    assert list(made.puf["pufid"]) == sorted(made.puf["pufid"])
    assert list(made.iuf["pufid"]) == list(made.puf["pufid"])
    assert made.account["rows"].tolist() == [5, 0, 5]
    first = made.variables.iloc[0]
    counts = ["n_records", "n_missing", "n_distinct", "n_masked", "n_groups", "n_smallest", "n_largest"]
    assert first[counts].tolist() == [5, 1, 4, 2, 2, 2, 2]
    # variances of 1.5 1.5 6.5 6.5 and of 1 2 4 9
    assert first["variance_kept"] == f"{6.25 / 9.5:.6f}"
    # f2 f3 f4 f5: a 2 9 4 1, b 30 20.5 30 10
    assert first["largest_r2"] == f"{np.corrcoef([2, 9, 4, 1], [30, 20.5, 30, 10])[0, 1] ** 2:.6f}"


def test_the_order_of_rows_does_not_matter():
    one, other = make(study(), table()), make(study(), table(ROWS[::-1]))
    for ours, theirs in zip(one, other, strict=True):
        pd.testing.assert_frame_equal(ours, theirs)


def test_a_sample_of_the_masked_file():
    """The whole file is masked, and then sampled; the intruder holds all of it."""
    whole, made = make(study(), table()), make(study(sampling_fraction="0.4"), table())
    assert len(made.puf) == len(made.iuf) == 2
    assert by_firm(made).items() <= by_firm(whole).items()
    pd.testing.assert_frame_equal(made.eif, whole.eif)
    assert made.account["rows"].tolist() == [5, 3, 2]


@pytest.mark.parametrize(
    ("n", "fraction", "size"),
    [(5, "0.5", 3), (5, "0.49", 2), (5, "0.01", 1), (5, "1", 5), (100_000, "0.01", 1000), (3, "1/3", 1)],
)
def test_the_size_of_a_sample(n, fraction, size):
    assert files.sample_size(n, Fraction(fraction)) == size


def test_deviations_of_the_intruders_file():
    rows = [(f"f{at:04d}", "N", "x", "100", "200") for at in range(3000)]
    made = make(study(corresponding={"deviating": "1", "by": "0.3"}), table(rows))
    shares = made.eif[["a", "b"]].astype(float).to_numpy() / [100, 200] - 1
    far = np.abs(shares) > 0.03
    assert far.sum(axis=1).max() == 1
    assert 0.4 < far.any(axis=1).mean() < 0.5  # half of them, less those that deviate by up to 3 % by chance
    assert np.abs(shares).max() <= 0.3
    assert (np.abs(shares[~far.any(axis=1)]).max(axis=1) >= 0.01).all()
    assert (shares > 0).mean() == pytest.approx(0.5, abs=0.03)
    assert set(made.puf["a"]) == {"100.0"}


REFUSED = [
    ("a repeated key", {}, [*ROWS, ROWS[0]], "firms.csv, row 7: the key (firm) is not unique"),
    ("no record", {}, [], "firms.csv: the file has a header and no records"),
    ("a word", {}, [("f9", "N", "x", "much", "1"), *ROWS], "firms.csv, row 2, column `a`: the value of `a` is not a"),
    ("fewer than k values", {"k": "5"}, ROWS,
     "firms.csv, column `a`: at least k = 5 values must not be missing (4 are not)"),
]  # fmt: skip


def ages(*cells):
    return [(f"f{at}", "N", "x", cell, "1") for at, cell in enumerate(cells)]


AGES = ages("98", "98", "101", "20", "21", "22")
READ_AS_MISSING = [
    ("a mean", {}, AGES, ["99"],
     "3 values equal, after masking, a code that the variable `a` declares missing. Use another"),
    ("a median, by another spelling of its number", {"aggregate": "median"},
     ages("96", "98", "99", "101", "20", "21", "22"), [" 098.50"], "4 values equal, after masking"),
    ("a code of one side alone", {}, AGES, {"puf": ["99"]}, "firms.csv, column `a`: 3 values equal, after masking"),
    ("a mean that is another number", {}, AGES, ["100"], None),
    ("a code that is no number", {}, AGES, ["NA"], None),
    ("a value that micro-aggregation takes for a number", {}, AGES, ["101"],
     "firms.csv, column `a`: 1 values are a code that the variable `a` declares missing and"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "rows", "missing", "said"), cases(READ_AS_MISSING))
def test_no_value_becomes_missing(options, rows, missing, said):
    content = copy.deepcopy(BASE)
    content["microaggregate"] |= {"k": 3, **options}
    content["linking_variables"][0]["missing"] = missing
    model = Study.model_validate(content)
    if said is None:
        assert "99.0" in set(make(model, table(rows)).puf["a"])
        return
    with pytest.raises(InputError, match=said):
        make(model, table(rows))


NOT_MISSING = [
    ("a number that the variable compares", ["-9"], {}, "the code `-9`, but `b` would compare it as a value. Add"),
    ("declared for one file only", ["-9"], {"missing": {"puf": ["-9"]}}, "Add it to the `missing` of `b`"),
    ("a category that is no number", ["NA"], {"type": "categorical"}, "the code `NA`, but `b` would compare"),
    ("in another spelling", ["-9"], {"missing": [" -9.0"]}, None),
    ("no number, which is an error where it occurs", ["NA"], {}, None),
    ("recoded", ["-9"], {"recode": {side: {"-9": "0"} for side in ("puf", "eif")}}, None),
]  # fmt: skip


@pytest.mark.parametrize(("missing", "fields", "said"), cases(NOT_MISSING))
def test_what_is_missing_before_is_missing_after(missing, fields, said):
    content = copy.deepcopy(BASE)
    content["microaggregate"] |= {"missing": missing}
    content["linking_variables"][0]["missing"] = missing
    content["linking_variables"][1] |= fields
    if said is None:
        assert Study.model_validate(content).microaggregate.missing == tuple(missing)
        return
    with pytest.raises(ValidationError, match=said):
        Study.model_validate(content)


@pytest.mark.parametrize(("options", "rows", "said"), cases(REFUSED))
def test_refused_files(options, rows, said):
    with pytest.raises(InputError) as caught:
        make(study(**options), table(rows))
    assert said in str(caught.value)
    assert "much" not in str(caught.value)


OPTIONS = [
    ("a variable twice", {"variables": ["a", "a"]}, "`a` is given twice in `variables`"),
    ("a key", {"variables": ["firm"]}, "`firm` must not be both a key column and a variable"),
    ("the new key", {"id": ["pufid"]}, "`pufid` must not be a column, because it is the key of the masked file"),
    ("no group", {"k": "0"}, "greater than or equal to 1"),
    ("no sample", {"sampling_fraction": "0"}, "greater than 0"),
    ("a key without a file", {"path": ""}, "`.id` must not be given for a simulated file"),
    ("no file", {"path": "", "id": []}, "`.microaggregate` must have exactly one source"),
    ("ends", {"corresponding": {"others_from": "0.5"}}, "`.others_from` must be at most `others_to`"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "said"), cases(OPTIONS))
def test_refused_options(options, said):
    with pytest.raises(ValidationError) as caught:
        study(**options)
    assert said in str(caught.value)


def test_skewed_amounts():
    drawn = draw_skewed(SkewedAmounts(kind="skewed-amounts", records=4000, variables=4))
    assert list(drawn) == ["person", "x1", "x2", "x3", "x4"]
    assert drawn["person"].is_unique
    values = drawn.drop(columns="person").astype(float).to_numpy()
    assert values.min() >= 1
    assert ((values.mean(axis=0) - np.median(values, axis=0)) / values.std(axis=0) > 0.2).all()  # skewed
    r2 = np.corrcoef(values.T) ** 2
    assert 0 < r2[~np.eye(4, dtype=bool)].min() <= r2[~np.eye(4, dtype=bool)].max() <= 0.2
    again = draw_skewed(SkewedAmounts(kind="skewed-amounts", records=4000, variables=2))
    pd.testing.assert_frame_equal(again, drawn[["person", "x1", "x2"]])  # a variable more changes no other


def test_as_a_treatment_of_a_simulated_survey():
    assert treatments.microaggregate(np.array([5, 1, 2, 91, 40, 2, 3]), 3).tolist() == [
        35, 2, 2, 35, 35, 2, 35,
    ]  # fmt: skip
