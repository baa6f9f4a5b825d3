"""One-to-one assignment against all choices of pairs, and against SciPy's solver (METHODS §4.6)."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import assignment as oracle
from reident.linkage import assignment, batches
from reident.linkage.assignment import assign, assigned
from reident.linkage.ranking import rank
from reident.linkage.settings import AssignmentSettings

PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(-2, 6).map(lambda x: x * 10**12 + x % 2), max_size=10
)


@examples(80)
@given(drawn=PAIRS)
def test_the_assignment_has_the_largest_sum(drawn):
    pairs = [(puf, eif, weight) for (puf, eif), weight in sorted(drawn.items())]
    columns = [np.array([pair[at] for pair in pairs], np.int64) for at in range(3)]
    chosen = assign(*columns)
    assert (np.diff(chosen) > 0).all()
    for records in columns[:2]:
        assert len(np.unique(records[chosen])) == len(chosen)
    assert int(columns[2][chosen].sum()) == oracle.best_total(pairs)


def columns_of(pairs):
    return [np.array([pair[at] for pair in pairs], np.int64) for at in range(3)]


@st.composite
def many_pairs(draw):
    """More pairs than can be tried: few different weights, so that many choices are equally good."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_puf, n_eif, n = draw(st.integers(1, 40)), draw(st.integers(1, 40)), draw(st.integers(1, 160))
    highest = draw(st.sampled_from([1, 2, 5, 10**13]))
    drawn = {(int(rng.integers(n_puf)), int(rng.integers(n_eif))): 0 for _ in range(n)}
    return [(*pair, int(rng.integers(-1, highest + 1))) for pair in sorted(drawn)]


@given(pairs=many_pairs())
def test_of_several_best_choices_it_is_that_of_the_solver(pairs):
    assert assign(*columns_of(pairs)).tolist() == oracle.solved(pairs)


def test_a_chain_of_any_length_gives_way():
    """The last record wants what the first one has, which takes what the second one has, and so on to the end."""
    n = 100_000
    puf = np.append(np.repeat(np.arange(n), 2), n)
    eif = np.append(np.stack([np.arange(n), np.arange(1, n + 1)], axis=1).reshape(-1), 0)
    weight = np.append(np.full(2 * n, 1000), 3000)
    assert (assign(puf[:-1], eif[:-1], weight[:-1]) == np.arange(0, 2 * n, 2)).all()
    assert (assign(puf, eif, weight) == np.append(np.arange(1, 2 * n, 2), 2 * n)).all()


@given(pairs=many_pairs(), rows=st.integers(1, 12), ambiguous=st.sets(st.integers(0, 50)))
def test_the_size_of_batches_changes_nothing(pairs, rows, ambiguous):
    pairs = [pair for pair in pairs if pair[0] not in ambiguous]
    lines = sorted(
        [(puf, eif, float(weight)) for puf, eif, weight in pairs] + [(puf, None, None) for puf in ambiguous],
        key=lambda line: line[0],
    )
    table = scores(*lines)
    with patch.object(assignment, "SCALE", 1):
        found = pa.concat_tables(assigned(batches.merge([table], rows))).to_pylist()
    expected = [pairs[at] for at in oracle.solved(pairs)] + [(puf, None, None) for puf in ambiguous]
    assert [tuple(row.values()) for row in found] == sorted(expected, key=lambda pair: pair[0])


def test_weights_beyond_exact_sums_are_refused():
    with pytest.raises(ValueError, match="added up exactly"):
        assign(np.array([0]), np.array([0]), np.array([2**60]))


def scores(*rows):
    columns = {"puf": pa.int32(), "eif": pa.int32(), "score": pa.float64()}
    return pa.table(
        {name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(columns.items())}
    )


def test_only_pairs_within_the_rank_limit_are_assigned_and_records_without_any_are_ambiguous():
    shards = [
        # Both 0 and 1 have 5 as their best; 0 gives way. 2 has too many of equal score. 4 is ambiguous already.
        scores((0, 5, 9.0), (0, 6, 8.5), (2, 1, 3.0), (2, 2, 3.0), (2, 3, 3.0)),
        scores((1, 5, 9.0), (3, 5, 1.0), (4, None, None)),
    ]
    strata = pa.table({"stratum": pa.array([0] * 5, pa.int32())})
    manifest, out = pd.DataFrame({"stratum": ["s0001"]}), []
    counts = rank(shards, strata, manifest, out.append, AssignmentSettings(2))
    assert pa.concat_tables(out).select(["puf", "eif", "score", "rank", "max_pairs"]).to_pylist() == [
        {"puf": 0, "eif": 6, "score": 8.5, "rank": 1, "max_pairs": 1},
        {"puf": 1, "eif": 5, "score": 9.0, "rank": 1, "max_pairs": 1},
        {"puf": 2, "eif": None, "score": None, "rank": None, "max_pairs": None},
        {"puf": 4, "eif": None, "score": None, "rank": None, "max_pairs": None},
    ]
    assert counts.iloc[0][["rank", "n_pufids", "n_pairs"]].tolist() == [1, 2, 2]
