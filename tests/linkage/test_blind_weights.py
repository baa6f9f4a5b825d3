"""Weights of an intruder who knows no link equal a second EM, over all pairs one by one (METHODS §4.6)."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles import blind as oracle
from reident.linkage import weights
from reident.linkage.settings import OrderedVariable, WeighingSettings


@st.composite
def drawn(draw):
    """Draw strata with records that are in both files, missing values, and variables with partial agreement."""
    v = draw(st.integers(1, 4))
    near = draw(st.lists(st.booleans(), min_size=v, max_size=v))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing, changed = draw(st.sampled_from([0, 0.1, 0.4])), draw(st.sampled_from([0, 0.1, 0.3]))
    strata = []
    for _ in range(draw(st.integers(1, 3))):
        puf, eif = (generator.integers(0, 5, (n, v)) for n in generator.integers(2, 25, 2))
        same = generator.integers(1, min(len(puf), len(eif)) + 1)
        eif[:same] = puf[:same] + (generator.random((same, v)) < changed)
        for table in (puf, eif):
            table[generator.random(table.shape) < missing] = -1
        strata.append((puf, eif))
    return strata, near


def computed(strata, near):
    names = [f"x{j}" for j in range(len(near))]
    variables = tuple(OrderedVariable(name, "numeric") for name in names)
    settings = WeighingSettings(variables, 0.5, None, False, tuple(np.array(names)[near].tolist()))
    files, stratum = {}, {}
    for at, side in enumerate(("puf", "eif")):
        codes = np.concatenate([pair[at] for pair in strata])
        columns = [pa.array(own, pa.int32(), mask=own < 0) for own in codes.astype(np.int32).T]
        files[side] = pa.table(columns, names=names)
        sizes = [len(pair[at]) for pair in strata]
        stratum[side] = pa.table({"stratum": np.repeat(np.arange(len(strata), dtype=np.int32), sizes)})
    sizes = np.array([[len(puf), len(eif)] for puf, eif in strata])
    manifest = pd.DataFrame({"stratum": [f"s{at}" for at in range(len(strata))], "n_puf": sizes[:, 0]})
    manifest = manifest.assign(n_eif=sizes[:, 1], pairs=sizes.prod(axis=1))
    return weights.estimate(settings, files, stratum, manifest)


@examples(60)
@given(case=drawn())
def test_blind_weights_are_those_of_a_second_em(case):
    strata, near = case
    expected, prior, largest, rounds = oracle.estimate(strata, near)
    assume(0 < prior < 1)
    found = computed(strata, near)
    model = found.model.iloc[0]
    assert (model["converged"] == "yes") == (rounds < 10_000)
    assert model["largest_prior"] == pytest.approx(largest, rel=1e-11)
    assert model["prior"] == pytest.approx(max(prior, 0.5 / (model["n_pairs"] + 1)), rel=1e-6)
    lines = found.levels.set_index(["variable", "level"])["weight"]
    for j, own in enumerate(expected):
        for level, weight in own.items():
            assert lines[f"x{j}", level] == pytest.approx(weight, abs=1e-6), (j, level)
