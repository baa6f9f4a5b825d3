"""Weights are learnt from some records where pairs are many (METHODS §4.6)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from making.studies import in_strata, manifest
from reident.linkage import weights
from reident.linkage.settings import OrderedVariable, WeighingSettings

N = 400


def _estimated(order, monkeypatch, pairs, first, records):
    """The estimates of a blind intruder for 400 records of five variables, 240 people in both files."""
    generator = np.random.default_rng(0)
    people = generator.integers(0, 12, (2 * N, 5))
    puf, eif = people[:N].copy(), people[160 : 160 + N].copy()
    for file in (puf, eif):
        wrong = generator.random(file.shape) < 0.05
        file[wrong] = generator.integers(0, 12, int(wrong.sum()))
    tables = {
        side: pa.table({f"x{j}": pa.array(column, pa.int32()) for j, column in enumerate(file[order].T)})
        for side, file in (("puf", puf), ("eif", eif))
    }
    strata = {side: in_strata(*[0] * N) for side in tables}
    variables = tuple(OrderedVariable(f"x{j}", "numeric") for j in range(5))
    settings = WeighingSettings(variables, 0.5, None, False, (), competition=True, frequency=True)
    for name, value in (("MAX_PAIRS", pairs), ("FIRST_RECORDS", first), ("RECORDS", records)):
        monkeypatch.setattr(weights, name, value)
    return weights.estimate(settings, tables, strata, manifest(("s0001", N, N, 0)))


def _same(a, b):
    pd.testing.assert_frame_equal(a.levels, b.levels, check_exact=True)
    pd.testing.assert_frame_equal(a.model, b.model, check_exact=True)


def test_as_many_records_as_there_are_give_what_all_pairs_give(monkeypatch):
    order = np.arange(N)
    _same(_estimated(order, monkeypatch, 10**9, 1, 1), _estimated(order, monkeypatch, 0, N, N))


def test_some_records_give_nearly_what_all_pairs_give_in_any_order(monkeypatch):
    order = np.arange(N)
    whole, some = (_estimated(order, monkeypatch, *how) for how in ((10**9, 1, 1), (0, 50, 200)))
    _same(some, _estimated(np.random.default_rng(1).permutation(N), monkeypatch, 0, 50, 200))
    m = [made.levels.loc[made.levels["level"] == "agree", "m"].to_numpy(float) for made in (whole, some)]
    assert m[1] == pytest.approx(m[0], abs=0.05)
    assert some.model["prior"].iloc[0] == pytest.approx(whole.model["prior"].iloc[0], rel=0.2)
    assert not np.array_equal(*m)
