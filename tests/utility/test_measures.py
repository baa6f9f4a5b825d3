"""Measures of utility equal their definitions on random files (METHODS §13)."""

import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import utility as oracle
from reident.linkage.bins import cut_points
from reident.linkage.settings import Variable
from reident.utility import estimates
from reident.utility.measure import measure
from reident.utility.section import Utility
from reident.utility.settings import UtilitySettings

CATEGORIES = st.sampled_from(["a", "b", "c", None])
NUMBERS = st.sampled_from([None, -2.0, -0.5, 0.0, 1.0, 1.5, 30.0])
KINDS = {"numeric": NUMBERS, "categorical": CATEGORIES}


@st.composite
def files(draw):
    """Variables as (type, original, released) of a few records, and the keys of the records."""
    n = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    values = {kind: st.lists(KINDS[kind], min_size=n, max_size=n) for kind in KINDS}
    same = draw(st.booleans())
    variables = []
    for kind in kinds:
        original = draw(values[kind])
        variables.append((kind, original, original if same else draw(values[kind])))
    return variables, draw(st.permutations([f"{at:02d}" for at in range(n)]))


def table(keys, variables, side):
    columns = {
        f"v{at}": pa.array(own[side], pa.float64() if own[0] == "numeric" else pa.string())
        for at, own in enumerate(variables)
    }
    made = pa.table({"pufid": pa.array(keys), **columns})
    return made.take(pa.array(np.argsort(keys)))


def measured(variables, keys=None, original_keys=None, **options):
    keys = keys or [f"{at:02d}" for at in range(len(variables[0][1]))]
    names = tuple(Variable(f"v{at}", own[0]) for at, own in enumerate(variables))
    settings = UtilitySettings(("pufid",), names, 3, None, 0.95, Utility(**options))
    return measure(settings, table(original_keys or keys, variables, 1), table(keys, variables, 2))


@given(files())
def test_distances_equal_their_definitions(made):
    variables, keys = made
    found = measured(variables, keys)
    cells = []
    for (kind, original, released), line in zip(variables, found.variables.itertuples(), strict=True):
        assert line.n_changed == oracle.changed(original, released)
        if kind == "numeric":
            assert line.distance == float(oracle.kolmogorov_smirnov(original, released))
            known = np.array([np.nan if value is None else value for value in original])
            cuts = cut_points(known, 3)
            cells.append((oracle.cut(original, cuts), oracle.cut(released, cuts)))
        else:
            assert line.distance == float(oracle.total_variation(original, released))
            assert line.hellinger == pytest.approx(oracle.hellinger(original, released), abs=1e-9)
            cells.append((original, released))
    expected = [float(oracle.pairwise(one, other)) for one, other in combinations(cells, 2)]
    assert found.pairs["distance"].tolist() == expected
    summary = found.summary.iloc[0]
    assert summary["pairwise_worst"] == max(expected, default=None)
    n = len(keys)
    assert summary["values_changed"] == sum(oracle.changed(*own[1:]) for own in variables) / (n * len(variables))
    assert summary["n_records_changed"] == sum(any(own[1][at] != own[2][at] for own in variables) for at in range(n))


@given(files(), st.sampled_from([1, 2]))
def test_pmse_equals_that_of_a_general_minimiser(made, interactions):
    variables, keys = made
    summary = measured(variables, keys, interactions=interactions).summary.iloc[0]
    pmse, expected = oracle.pmse(variables, interactions)
    assert summary["pmse"] == pytest.approx(pmse, abs=2e-6)
    assert summary["pmse_expected"] == pytest.approx(expected, rel=1e-8)


@given(files())
def test_overlaps_equal_their_definition(made):
    variables, keys = made
    found = measured(variables, keys).estimates
    for at, (kind, original, released) in enumerate(variables):
        own = found[found["variable"] == f"v{at}"]
        if kind == "categorical":
            values = sorted({*original, *released}, key=lambda value: (value is not None, value or ""))
            assert own["level"].tolist() == [value or "(missing)" for value in values]
            overlaps = [
                oracle.overlap(*(oracle.share_interval(side, value) for side in (original, released)))
                for value in values
            ]
            assert own["overlap"].tolist() == pytest.approx(overlaps, abs=1e-8)
        elif min(sum(value is not None for value in side) for side in (original, released)) > 1:
            expected = oracle.overlap(*map(oracle.mean_interval, (original, released)))
            # Where intervals barely touch, or are a point, the last digits decide.
            assert own["overlap"].iloc[0] == pytest.approx(expected, abs=1e-6) or not all(
                len({value for value in side if value is not None}) > 1 for side in (original, released)
            )


@given(files(), st.randoms())
def test_nothing_depends_on_keys_or_the_order_of_records(made, random):
    variables, keys = made
    options = {"regression": {"response": "v0", "predictors": [f"v{len(variables) - 1}"]}}
    if variables[0][0] != "numeric" or len(variables) == 1:
        options = {}
    order = list(range(len(keys)))
    random.shuffle(order)
    shuffled = [
        (kind, *([side[at] for at in order] for side in (original, released))) for kind, original, released in variables
    ]
    one, other = (measured(variables, keys, **options), measured(shuffled, [keys[at] for at in order], **options))
    for name in one._fields:
        assert getattr(one, name).equals(getattr(other, name))


@given(files())
def test_without_a_change_nothing_is_lost(made):
    variables, keys = made
    same = [(kind, original, original) for kind, original, _ in variables]
    found = measured(same, keys)
    summary = found.summary.iloc[0]
    for name in ("values_changed", "univariate", "univariate_worst", "pmse", "loss"):
        assert summary[name] == 0
    assert (found.estimates["overlap"].dropna() == 1).all()


@given(st.lists(st.tuples(NUMBERS, CATEGORIES, NUMBERS), min_size=5, max_size=15))
def test_coefficients_are_those_of_least_squares(rows):
    y, group, x = zip(*rows, strict=True)
    variables = [
        ("numeric", list(y), list(y)),
        ("categorical", list(group), list(group)),
        ("numeric", list(x), list(x)),
    ]
    options = {"response": "v0", "predictors": ["v1", "v2"]}
    found = measured(variables, regression=options).estimates.query("estimate == 'coefficient'")
    complete = [row for row in rows if None not in row]
    levels = [line.level for line in found.itertuples() if line.variable == "v1"]
    design = np.array([[1, *(row[1] == level for level in levels), row[2]] for row in complete], float)
    if not complete or np.linalg.matrix_rank(design) < design.shape[1]:
        return
    target = np.array([row[0] for row in complete])
    values, *_ = np.linalg.lstsq(design, target)
    assert found["original"].tolist() == pytest.approx(values.tolist(), rel=1e-6, abs=1e-6)
    free = len(complete) - design.shape[1]
    if free:
        variance = np.square(target - design @ values).sum() / free
        errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
        reach = found["original_high"] - found["original"]
        assert reach.tolist() == pytest.approx((1.959963985 * errors).tolist(), rel=1e-6, abs=1e-6)


def test_records_of_one_file_are_counted_and_not_compared():
    variables = [("categorical", ["a", "b", "a"], ["b", "b", "a"])]
    found = measured(variables, ["1", "2", "3"], ["2", "3", "4"]).summary.iloc[0]
    assert (found["n_records"], found["n_original_only"], found["n_released_only"]) == (2, 1, 1)
    assert found["n_records_changed"] == 2, "record 2 was a and is b; record 3 was b and is a"


@given(files())
def test_a_variable_that_is_left_out_is_one_less_its_missing_share_away(made):
    variables, keys = made
    left_out = [(kind, original, [None] * len(original)) for kind, original, _ in variables]
    for (_, original, _), line in zip(left_out, measured(left_out, keys).variables.itertuples(), strict=True):
        assert line.distance == pytest.approx(1 - original.count(None) / len(original))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 2), (1, 3), 0.5),
        ((0, 4), (1, 2), 0.625),
        ((0, 1), (1, 2), 0),
        ((1, 1), (1, 1), 1),
        ((0, 2), (1, 1), 1),
        ((0, 0), (0, 1), 1),
        ((0, 0), (-1, 1), 1),
        ((0, 0), (1, 2), 0),
        ((1, 1), (2, 2), 0),
    ],
)
def test_overlap_of_two_intervals(one, other, expected):
    intervals = [estimates.Interval(math.nan, *map(float, ends)) for ends in (one, other)]
    assert estimates.overlap(*intervals) == expected == oracle.overlap(one, other)


def test_overlap_where_an_estimate_is_undefined():
    one = estimates.Interval(1.0, 0.0, 2.0)
    assert estimates.overlap(None, None) is None
    assert estimates.overlap(one, None) == 0
    assert estimates.overlap(one, estimates.Interval(1.0, None, None)) is None
