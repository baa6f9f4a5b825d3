"""Weights of evidence: counts of levels, EM against its definition pair by pair, smoothing (METHODS §4.6)."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from making.kernels import count_patterns
from making.studies import in_strata, manifest, pairs
from oracles import blind as oracle
from reident.errors import InputError
from reident.linkage import weights
from reident.linkage.metrics.levels import LEVELS
from reident.linkage.pattern_links import maximise
from reident.linkage.settings import OrderedVariable, WeighingSettings

SEEDS = st.integers(0, 2**32 - 1)


@examples(40)
@given(seed=SEEDS)
def test_em_equals_em_over_all_pairs(seed):
    generator = np.random.default_rng(seed)
    v = int(generator.integers(1, 5))
    near = (generator.random(v) < 0.3).tolist()
    n_puf, n_eif = generator.integers(1, 13, 2).tolist()
    puf, eif = (generator.integers(0, 4, (n, v), dtype=np.int32) for n in (n_puf, n_eif))
    same = min(n_puf, n_eif) // 2
    puf[:same] = eif[:same]
    missing = generator.choice([0, 0.1, 0.5])
    for table in (puf, eif):
        table[generator.random(table.shape) < missing] = -1
    incomplete = [bool((puf[:, j] < 0).any() or (eif[:, j] < 0).any()) for j in range(v)]
    counts = count_patterns(puf, eif, near=near, incomplete=incomplete)
    most = min(n_puf, n_eif) / (n_puf * n_eif)
    found = maximise(counts, near, incomplete, most)
    level = oracle.levels(puf, eif, near)
    g, prior, _ = oracle.em(level, near, most, found.rounds, close=-1)
    assert found.prior == pytest.approx(prior, rel=1e-9, abs=1e-12)
    for j, own in enumerate(oracle.levels_used(near)):
        links = [found.links[j, LEVELS.index(oracle.LEVELS[at])] for at in own]
        assert links == pytest.approx(oracle.expected(level[:, j], g, own), rel=1e-9, abs=1e-9)


def files(puf, eif):
    """Binned tables of numeric variables x0, x1 …, None for missing."""
    return {
        side: pa.table({f"x{j}": pa.array([row[j] for row in rows], pa.int32()) for j in range(len((puf + eif)[0]))})
        for side, rows in (("puf", puf), ("eif", eif))
    }


def one_stratum(tables):
    strata = {side: in_strata(*[0] * table.num_rows) for side, table in tables.items()}
    return strata, manifest(("s0001", tables["puf"].num_rows, tables["eif"].num_rows, 0))


def settings_of(v, *, partial=(), informed=False, probability=0.5, weight=None):
    variables = tuple(OrderedVariable(f"x{j}", "numeric") for j in range(v))
    return WeighingSettings(variables, probability, weight, informed, partial)


def test_no_probability_is_0_or_1_without_links_or_with_levels_that_never_occur():
    tables = files([[1], [1]], [[1], [1], [1]])
    for informed, true in ((True, pairs()), (True, pairs("0 0")), (False, None)):
        found = weights.estimate(settings_of(1, informed=informed), tables, *one_stratum(tables), true)
        probabilities = found.levels[["m", "u"]].to_numpy(float)
        assert ((probabilities > 0) & (probabilities < 1)).all()
        assert 0 < found.model["prior"].iloc[0] < 1
        assert np.isfinite(found.levels["weight"]).all()


def test_too_many_patterns_are_an_error_with_a_remedy():
    tables = files([[1] * 23], [[1] * 23])
    with pytest.raises(InputError, match=r"at most 4,194,304 .* Use fewer linking variables, or `m: informed`"):
        weights.estimate(settings_of(23), tables, *one_stratum(tables))
    found = weights.estimate(settings_of(23, informed=True), tables, *one_stratum(tables), pairs("0 0"))
    assert len(found.levels) == 46
