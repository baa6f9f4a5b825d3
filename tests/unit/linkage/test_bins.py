"""Quantile bins: ties stay together, empty bins stay empty, and whose quantiles cut is the study's choice."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.studies import in_strata, manifest, study, table
from oracles.binning import grouped
from pydantic import ValidationError
from reident.linkage import bins
from reident.linkage.pairing import Comparison
from reident.pipeline import parts

NAN = np.nan
CUTS = [
    ("five values: the mean of neighbours where a rank is whole", [1, 2, 3, 4, 5], [1.5, 2.5, 3.5, 4.5]),
    ("six values: one rank in five is whole nowhere", [1, 2, 3, 4, 5, 6], [2, 3, 4, 5]),
    ("ten values in any order", [10, 1, 9, 2, 8, 3, 7, 4, 6, 5], [2.5, 4.5, 6.5, 8.5]),
    ("one value", [7], [7, 7, 7, 7]),
    ("two values", [1, 9], [1, 1, 9, 9]),
    ("constant", [3, 3, 3, 3], [3, 3, 3, 3]),
    ("heavy ties at zero", [0, 0, 0, 0, 0, 0, 0, 1, 2, 3], [0, 0, 0, 1.5]),
    ("missing values do not count", [1, NAN, 2, 3, NAN, 4, 5], [1.5, 2.5, 3.5, 4.5]),
    ("all missing", [NAN, NAN], []),
    ("no value", [], []),
    ("close to the largest double", [1.7e308] * 5, [1.7e308] * 4),
    (
        "of both signs, close to the largest double",
        [-1.7e308, 1.7e308],
        [-1.7e308, -1.7e308, 1.7e308, 1.7e308],
    ),
]


@pytest.mark.parametrize(("sentence", "values", "cuts"), CUTS, ids=[case[0] for case in CUTS])
def test_cut_points_of_quintiles(sentence, values, cuts):
    values = np.array(values, float)
    found = bins.cut_points(values, 5)
    assert found.tolist() == cuts
    present = values[~np.isnan(values)]
    if len(present) and len(set(present)) > 2:
        expected = np.quantile(present, [0.2, 0.4, 0.6, 0.8], method="averaged_inverted_cdf")
        assert found == pytest.approx(expected, rel=1e-15)


# PROC RANK, GROUPS=5: the documented formula FLOOR(rank*k/(n+1)), and bins counted from 1.
GROUPS = [
    ("five values", [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
    ("four values leave the first group empty", [1, 2, 3, 4], [2, 3, 4, 5], [2, 3, 4, 5]),
    ("one value is in the middle, whatever its rank", [7], [3], [3]),
    ("constant: the middle by the mean, the last by the highest rank", [3] * 9, [3] * 9, [5] * 9),
    ("heavy ties", [0, 0, 0, 0, 0, 0, 0, 1, 2, 3], [2] * 7 + [4, 5, 5], [4] * 7 + [4, 5, 5]),
    ("missing values do not count", [NAN, 4, 1, NAN, 2, 3], [-1, 5, 2, -1, 3, 4], [-1, 5, 2, -1, 3, 4]),
    ("all missing", [NAN, NAN], [-1, -1], [-1, -1]),
]


@pytest.mark.parametrize(("sentence", "values", "mean", "high"), GROUPS, ids=[case[0] for case in GROUPS])
def test_groups_of_ranks(sentence, values, mean, high):
    values = np.array(values, float)
    for ranks, expected in (("mean", mean), ("high", high)):
        assert bins.bin_values(values, bins.cut_points(values, 5, ranks)).tolist() == expected


@given(
    st.lists(st.integers(-3, 9) | st.floats(-1e300, 1e300), min_size=1, max_size=30),
    st.lists(st.integers(-4, 10), max_size=5),
    st.integers(2, 12),
    st.sampled_from(["mean", "high"]),
)
def test_groups_of_ranks_and_the_values_between_them(values, others, n_bins, ties):
    cuts = bins.cut_points(np.array(values, float), n_bins, ties)
    assert len(cuts) == n_bins - 1
    assert (np.diff(cuts) >= 0).all()
    every = [*values, *others]
    exact = [Fraction(float(value)) for value in values]
    expected = [grouped(exact, Fraction(float(x)), n_bins, ties) for x in every]
    assert bins.bin_values(np.array(every, float), cuts).tolist() == expected


def test_ties_are_an_option_of_groups():
    assert study(binning={"quantiles": "groups"}).binning.ranks == "mean"
    assert study(binning={"quantiles": "groups", "ties": "high"}).binning.ranks == "high"
    assert study().binning.ranks is None
    with pytest.raises(ValidationError, match=r"`\.ties` must not be given without `quantiles: groups`"):
        study(binning={"ties": "high"})


BINNED = [
    ("a value at a cut point is below it", [1.5, 1.5000001], [1.5, 2.5, 3.5, 4.5], [1, 2]),
    ("far out", [-1e300, 1e300], [1.5, 2.5, 3.5, 4.5], [1, 5]),
    ("ties stay together and bins between are empty", [0, 1, 2], [0, 0, 0, 1.5], [1, 4, 5]),
    ("a constant is all in the first bin", [3, 3], [3, 3, 3, 3], [1, 1]),
    ("what is above a constant is in the last", [2, 4], [3, 3, 3, 3], [1, 5]),
    ("a missing value has no bin", [NAN, 9], [1, 2, 3, 4], [-1, 5]),
    ("without cut points nothing has", [1, 2], [], [-1, -1]),
]


@pytest.mark.parametrize(("sentence", "values", "cuts", "found"), BINNED, ids=[case[0] for case in BINNED])
def test_a_bin_is_one_more_than_the_cut_points_strictly_below(sentence, values, cuts, found):
    assert bins.bin_values(np.array(values, float), np.array(cuts, float)).tolist() == found


def binned(puf, eif, strata=("a",), **binning):
    """Bin ``stratum value`` records (``~`` missing) in two bins; a stratum is its value of s."""
    part = parts.cutting(
        study(linking_variables=[{"name": "v", "type": "numeric"}], binning={"bins": 2, **binning})
    )
    line = {value: at for at, value in enumerate(strata)}
    files, stratum = {}, {}
    for side, rows in (("puf", puf), ("eif", eif)):
        text = table("s v", *rows)
        files[side] = text.select(["v"]).set_column(0, "v", text["v"].cast("float64"))
        stratum[side] = in_strata(*(line.get(value) for value in text["s"].to_pylist()))
    listed = manifest(*((f"s{at:04d}", 0, 0, 0) for at in range(1, len(strata) + 1)))
    return bins.bin_files(part, files, stratum, listed)


PUF, EIF = ["a 1", "a 2", "a 3", "a 4"], ["a 3", "a 5", "a 7", "a 9"]
CUTTERS = [
    ("puf", [1, 1, 2, 2], [2, 2, 2, 2], {"puf": 2.5}),
    ("eif", [1, 1, 1, 1], [1, 1, 2, 2], {"eif": 6.0}),
    ("pooled", [1, 1, 1, 2], [1, 2, 2, 2], {"pooled": 3.5}),
    ("each", [1, 1, 2, 2], [1, 1, 2, 2], {"puf": 2.5, "eif": 6.0}),
]


@pytest.mark.parametrize(("cutpoints", "puf", "eif", "cuts"), CUTTERS, ids=[case[0] for case in CUTTERS])
def test_whose_quantiles_cut(cutpoints, puf, eif, cuts):
    found = binned(PUF, EIF, cutpoints=cutpoints)
    assert found.puf["v"].to_pylist() == puf
    assert found.eif["v"].to_pylist() == eif
    lines = found.cutpoints
    assert {line.file: line.up_to for line in lines[lines["bin"] == 1].itertuples()} == cuts
    assert set(lines["scope"]) == {"s0001"}


def test_counts_of_bins_are_those_of_the_files_that_were_cut():
    found = binned(PUF, [*EIF, "a ~"], cutpoints="puf")
    lines = found.cutpoints
    assert lines[["bin", "n_puf", "n_eif"]].to_numpy().tolist() == [[1, 2, 0], [2, 2, 4]]
    assert found.eif["v"].to_pylist()[-1] is None


SCOPES = [
    ("each stratum by its own quantiles", "stratum", [1, 2, 1, 2], {"s0001": 1.5, "s0002": 15.0}),
    ("the whole file by its own", "study", [1, 1, 2, 2], {"ALL": 6.0}),
]


@pytest.mark.parametrize(("sentence", "scope", "puf", "cuts"), SCOPES, ids=[case[0] for case in SCOPES])
def test_where_quantiles_are_taken(sentence, scope, puf, cuts):
    found = binned(["a 1", "a 2", "b 10", "b 20"], ["a 1", "b 1"], strata=("a", "b"), scope=scope)
    assert found.puf["v"].to_pylist() == puf
    lines = found.cutpoints
    assert {line.scope: line.up_to for line in lines[lines["bin"] == 1].itertuples()} == cuts


def test_records_in_no_stratum_are_cut_by_the_study_alone():
    rows = ["a 1", "a 2", "~ 100", "~ ~"]
    within = binned(rows, ["a 1"])
    assert within.puf["v"].to_pylist() == [1, 2, bins.OUTSIDE, None]
    whole = binned(rows, ["a 1"], scope="study")
    assert whole.puf["v"].to_pylist() == [1, 1, 2, None]


def test_a_scope_whose_cutting_file_has_no_value_has_no_bins():
    found = binned(["a ~", "b 1"], ["a 5", "b 5"], strata=("a", "b"))
    assert found.eif["v"].to_pylist() == [None, 2]
    lines = found.cutpoints.set_index("scope")
    assert bool(np.isnan(lines.at["s0001", "bin"]))
    assert lines.loc[["s0001"], ["n_puf", "n_eif"]].to_numpy().tolist() == [[0, 0]]


@pytest.mark.parametrize("scope", ["stratum", "study"])
def test_a_stratum_of_one_file_alone_makes_no_value_missing(scope):
    of_none = bins.OUTSIDE if scope == "stratum" else 2
    found = binned(["a 1"], ["a 1", "b 7", "b ~"], strata=("a", "b"), scope=scope)
    assert found.eif["v"].to_pylist() == [1, of_none, None]
    found = binned(["a 1", "c 3"], ["a 1"], strata=("a", "c"), cutpoints="eif", scope=scope)
    assert found.puf["v"].to_pylist() == [1, of_none]


def test_without_numeric_variables_there_are_no_cut_points_but_their_columns():
    part = parts.cutting(study(linking_variables=[{"name": "c", "type": "categorical"}]))
    files, stratum = (
        {side: table("k c", "1 x") for side in ("puf", "eif")},
        dict.fromkeys(("puf", "eif"), in_strata(0)),
    )
    found = bins.bin_files(part, files, stratum, manifest(("s0001", 1, 1, 0)))
    assert found.cutpoints.empty
    assert list(found.cutpoints.columns) == bins.COLUMNS
    assert found.puf.to_pydict() == {"c": ["x"]}


def test_binned_codes_are_compared_and_missing_ones_are_missing():
    found = binned(PUF, [*EIF, "a ~"])
    variables = parts.variables(study(linking_variables=[{"name": "v", "type": "numeric"}]))
    stratum = {"puf": in_strata(*[0] * 4), "eif": in_strata(*[0] * 5)}
    pairing = Comparison(variables, {"puf": found.puf, "eif": found.eif}, stratum, 1).pairing(0)
    assert pairing.puf.codes[:, 0].tolist() == [1, 1, 2, 2]
    assert pairing.eif.codes[:, 0].tolist() == [2, 2, 2, 2, -1]


GROUPS = [
    ("in any order", [1, 0, 1, -1, 0], 2, [[1, 4], [0, 2]]),
    ("a group without members", [2, 2], 3, [[], [], [0, 1]]),
    ("no record", [], 2, [[], []]),
    ("all outside", [-1, -1], 1, [[]]),
]


@pytest.mark.parametrize(("sentence", "group", "n", "members"), GROUPS, ids=[case[0] for case in GROUPS])
def test_grouped(sentence, group, n, members):
    found = bins.grouped(np.array(group, int), n)
    assert [found.of(at).tolist() for at in range(n)] == members
