"""Risks of records beside thresholds, k-map and δ-presence against their definitions (METHODS §7.6)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import thresholds as oracle
from reident.filerisk import thresholds
from reident.filerisk.prepare import STRATUM, WEIGHT
from reident.filerisk.settings import RISKS, ThresholdSettings

NAMES = ("a", "b", "c")


@st.composite
def files(draw):
    """A file with ties and missing values, perhaps with its population, of which it is a part or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, levels = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    missing = draw(st.sampled_from([0.0, 0.2, 1.0]))
    wildcard, weighted = draw(st.booleans()), draw(st.booleans())
    kind = draw(st.sampled_from(["none", "contains the file", "other people"]))
    size = 0 if kind == "none" else draw(st.integers(1, 60))

    def columns(size):
        cells = np.where(rng.random((size, 3)) < missing, -1, rng.integers(0, levels, (size, 3)))
        return cells.astype(np.int32)

    file = columns(n)
    people = np.concatenate([file, columns(size)]) if kind == "contains the file" else columns(size)
    weights = rng.integers(4, 40, n) / 4 if weighted else None
    rules = ThresholdSettings(NAMES, None if weighted else 0.25, wildcard, (*RISKS, 0.25, 1.0))
    return rules, file, people, weights


def tables(file, people, weights, order=None):
    front = {} if weights is None else {WEIGHT: pa.array(weights)}
    table = pa.table(front | {name: pa.array(file[:, at], mask=file[:, at] < 0) for at, name in enumerate(NAMES)})
    stratum = {STRATUM: pa.array(np.zeros(len(people), np.int32))}
    others = {name: pa.array(people[:, at], mask=people[:, at] < 0) for at, name in enumerate(NAMES)}
    categories = pd.DataFrame({"variable": [], "code": [], "missing": np.zeros(0, bool)})
    return table if order is None else table.take(order), pa.table(stratum | others), categories


def same(line, expected):
    for name, value in expected.items():
        own = line[name]
        if value is None:
            assert pd.isna(own), name
        else:
            assert float(own) == pytest.approx(value, rel=5.1e-9, abs=1e-11), name


@examples(300)
@given(file=files())
def test_every_basis_has_the_risks_of_its_definition(file):
    rules, records, people, weights = file
    found = thresholds.measure(rules, *tables(records, people, weights))
    given_weights = [4.0] * len(records) if weights is None else weights.tolist()
    rows = [list(map(tuple, cells.tolist())) for cells in (records, people)]
    expected, sizes, counts = oracle.risks(*rows, given_weights, rules.wildcard)
    assert found.risks["basis"].tolist() == list(expected)
    for line in found.risks.to_dict("records"):
        same(line, oracle.summary(expected[line["basis"]]))
    same(found.risks.iloc[0], {"smallest": min(sizes, default=None), "n_unique": sizes.count(1), "n_beyond": None})
    if counts is not None:
        same(found.risks.iloc[1], oracle.presence(sizes, counts))
    assert len(found.thresholds) == len(expected) * len(rules.risks)
    for line in found.thresholds.to_dict("records"):
        values = expected[line["basis"]]
        n = oracle.above(values, repr(line["risk"]))
        same(line, {"n_above": n, "share_above": n / len(values) if values else None})


@examples(40)
@given(file=files(), seed=st.integers(0, 1000))
def test_the_order_of_records_and_people_does_not_count(file, seed):
    rules, records, people, weights = file
    rng = np.random.default_rng(seed)
    other = thresholds.measure(rules, *tables(records, rng.permutation(people), weights, rng.permutation(len(records))))
    for one, two in zip(thresholds.measure(rules, *tables(records, people, weights)), other, strict=True):
        assert one.equals(two)


def test_a_risk_that_is_the_threshold_in_decimals_is_not_above_it():
    """Cells of 1 to 200 records, of all of which 1/f has a decimal of at most six places."""
    for f in (2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 125, 160, 200):
        codes = np.zeros((f, 3), np.int32)
        rules = ThresholdSettings(NAMES, 0.5, False, (1 / f - 1e-9, float(f"{1 / f:.9f}")))
        found = thresholds.measure(rules, *tables(codes, codes[:0], None)).thresholds
        assert found.loc[found["basis"] == "sample", "n_above"].tolist() == [f, 0]
