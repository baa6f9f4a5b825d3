"""What limits on one file are compared with where records miss a value, against sets (METHODS §7.8)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import judged as oracle
from reident.filerisk import judged, profiles
from reident.filerisk.prepare import HOUSEHOLD, STRATUM, WEIGHT
from reident.filerisk.settings import PLACE, LimitSettings, ThresholdSettings

NAMES = ("a", "b", "c")
SETS = (("a",), ("a", "b"), ("b", "c"), NAMES)


@st.composite
def files(draw):
    """A file with ties and missing values, perhaps throughout, with weights or units, or with a population."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, levels = draw(st.integers(1, 18)), draw(st.integers(1, 3))
    missing = draw(st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]))
    category = draw(st.booleans())

    def columns(size, share):
        cells = np.where(rng.random((size, 3)) < share, -1, rng.integers(0, levels, (size, 3)))
        return cells.astype(np.int32)

    file = columns(n, missing)
    kind = draw(st.sampled_from(["none", "contains the file", "other people", "lacks values too"]))
    people = columns(0 if kind == "none" else draw(st.integers(1, 40)), missing if kind == "lacks values too" else 0.0)
    if kind == "contains the file":
        people = np.concatenate([file, people])
    weights = rng.integers(4, 40, n) / 4 if draw(st.booleans()) else None
    unit = np.unique(rng.integers(0, max(1, n // 2), n), return_inverse=True)[1]
    target = rng.integers(-1, 3, n)
    place = np.where(target < 0, -1, 2 * target + rng.integers(0, 2, n))
    return file, people, weights, unit, target, place, levels if category else None


def tables(case, order=None):
    """The prepared tables; with a category, a missing value has a code of its own."""
    file, people, weights, unit, target, place, category = case

    def key(cells):
        coded = cells if category is None else np.where(cells < 0, category, cells)
        return {name: pa.array(coded[:, at].astype(np.int32), mask=coded[:, at] < 0) for at, name in enumerate(NAMES)}

    columns = {HOUSEHOLD: pa.array(unit.astype(np.int32)), **key(file)}
    columns |= {
        name: pa.array(own.astype(np.int32), mask=own < 0) for name, own in (("t", target), (PLACE + "t", place))
    }
    columns |= {} if weights is None else {WEIGHT: pa.array(weights)}
    table = pa.table(columns)
    population = pa.table({STRATUM: pa.array(np.zeros(len(people), np.int32)), **key(people)})
    lines = pd.DataFrame({"variable": NAMES, "code": category or 0, "missing": category is not None})
    return table if order is None else table.take(order), population, lines


def settings(case):
    limits = LimitSettings(3, 0.4, (("one", SETS[0]), ("two", SETS[1])), SETS, ("t",), ("t",), units=True)
    return ThresholdSettings(NAMES, 0.25 if case[2] is None else None, False, (0.4,), limits)


def of_risks(risks, metric, basis):
    n = len(risks)
    return {
        ("largest_risk_at_most", metric, basis): float(max(risks)),
        ("average_risk_at_most", metric, basis): float(sum(risks) / n),
        ("expected_reidentifications_at_most", metric, basis): float(sum(risks)),
        ("share_above", metric, basis): sum(round(float(one), 12) > 0.4 for one in risks) / n,
    }


def of_sizes(sizes, metric, basis):
    return {
        **of_risks([1 / f for f in sizes], metric, basis),
        ("population_uniques_at_most", metric, basis): sizes.count(1),
        ("k_map_at_least", metric, basis): min(sizes),
        ("k_anonymity_at_least", metric, ""): min(sizes),
        ("records_below_k_at_most", metric, ""): sum(f < 3 for f in sizes) / len(sizes),
    }


def expected(case, column):
    """Every value of a column of the table."""
    file, people, weights, unit, target, place, _ = case
    rows, persons = ([tuple(row) for row in cells.tolist()] for cells in (file, people))
    weights = [4.0] * len(rows) if weights is None else weights.tolist()
    match = {"wildcard": oracle.possible, "sure": oracle.sure}[column]
    values = {}

    def units(names):
        at = [NAMES.index(name) for name in names]
        members = [[tuple(rows[i][k] for k in at) for i in np.flatnonzero(unit == u)] for u in range(unit.max() + 1)]
        return oracle.sizes(members, lambda one, other: oracle.units_match(one, other, match))

    lacks = (file < 0).any()
    if lacks or (people < 0).any():
        risks, f, counts = oracle.risks(rows, persons, weights, column)
        values |= of_sizes(f, "", "sample")
        if persons:
            values |= of_risks(risks["population"], "", "population")
            alone = sum(own == n == 1 for own, n in zip(f, counts, strict=True))
            values["population_uniques_at_most", "", "population"] = alone
            values["k_map_at_least", "", "population"] = min(counts)
            values["delta_presence_at_most", "", "population"] = oracle.presence(rows, counts)
            values["n_beyond", "", "population"] = oracle.beyond(rows, persons)
        else:
            values |= of_risks(risks["individual"], "", "individual")
            alone = sum(own == 1 and min(row) < 0 for own, row in zip(f, rows, strict=True))
            values["population_uniques_at_most", "", "incomplete"] = alone
    if lacks:
        values |= of_sizes(units(NAMES), "units", "")
    for name, keys in (("one", SETS[0]), ("two", SETS[1])):
        own = [tuple(row[NAMES.index(key)] for key in keys) for row in rows]
        if min(min(row) for row in own) < 0:
            sizes = oracle.sizes(own, match)
            values["unique_share_at_most", name, ""] = sizes.count(1) / len(sizes)
            of_units = units(keys)
            values["unique_share_at_most", f"units: {name}", ""] = of_units.count(1) / len(of_units)
    lines = []
    for keys in SETS:
        own = [tuple(row[NAMES.index(key)] for key in keys) for row in rows]
        if min(min(row) for row in own) < 0 and max(target) >= 0:
            least, _ = oracle.diversity(own, target.tolist(), match)
            t = oracle.diversity(own, place.tolist(), match, ordered=True)[1]
            lines.append((least, t))
    if lines:
        values["l_diversity_at_least", "t", ""] = min(least for least, _ in lines)
        values["t_closeness_at_most", "t", ""] = max(t for _, t in lines)
    return values


def found(case, order=None):
    table = judged.judged(settings(case), *tables(case, order)).set_index(["limit", "metric", "basis"])
    return {column: table[column].dropna().to_dict() for column in ("wildcard", "sure")}


@examples(300)
@given(case=files())
def test_every_value_is_that_of_its_definition(case):
    values = found(case)
    for column, own in values.items():
        exact = expected(case, column)
        assert set(own) == set(exact)
        for key, value in exact.items():
            assert own[key] == pytest.approx(value, rel=5.1e-9, abs=1e-11), (column, key)


@examples(60)
@given(case=files(), seed=st.integers(0, 1000))
def test_the_sure_matches_are_never_more_and_the_order_of_records_does_not_count(case, seed):
    values = found(case)
    for key, sure in values["sure"].items():
        possible = values["wildcard"][key]
        if key[0] in ("k_anonymity_at_least", "k_map_at_least"):
            assert sure <= possible
        elif key[0] in ("largest_risk_at_most", "average_risk_at_most", "records_below_k_at_most", "share_above"):
            assert sure >= possible - 1e-12
    order = np.random.default_rng(seed).permutation(len(case[0]))
    assert found(case, order) == values


def test_units_beyond_the_bound_of_the_search_match_nobody_else(monkeypatch):
    codes = np.array([[0, 0], [0, -1], [0, 0], [1, 1]], np.int32)
    unit = np.arange(4)
    assert profiles.matching_units(codes, unit, "either").tolist() == [3, 3, 3, 1]
    monkeypatch.setattr(profiles, "MAX_PAIRS", 1)
    assert profiles.matching_units(codes, unit, "either").tolist() == [2, 1, 2, 1]
