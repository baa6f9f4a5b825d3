"""One-to-one assignment against all choices of pairs (METHODS §4.6)."""

from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from reident.linkage.assignment import assign
from reident.linkage.metrics import REGISTRY
from reident.linkage.parts import Assigning
from reident.linkage.ranking import rank


def best_total(pairs):
    """The largest sum of weights of any choice of pairs without a common record."""
    best = 0
    for size in range(1, len(pairs) + 1):
        for chosen in combinations(pairs, size):
            pufs, eifs, weights = zip(*chosen, strict=True)
            if len(set(pufs)) == len(set(eifs)) == size:
                best = max(best, sum(weights))
    return best


PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.integers(-2, 6).map(lambda x: x * 10**12 + x % 2),
    max_size=10,
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
    assert int(columns[2][chosen].sum()) == best_total(pairs)


def test_weights_beyond_exact_sums_are_refused():
    with pytest.raises(ValueError, match="added up exactly"):
        assign(np.array([0]), np.array([0]), np.array([2**52]))


def scores(*rows):
    columns = {"puf": pa.int32(), "eif": pa.int32(), "score": pa.float64()}
    return pa.table(
        {name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(columns.items())}
    )


def test_only_pairs_within_the_rank_limit_are_assigned_and_records_without_any_are_crowded():
    shards = [
        # Both 0 and 1 have 5 as their best; 0 gives way. 2 has too many of equal score. 4 is crowded already.
        scores((0, 5, 9.0), (0, 6, 8.5), (2, 1, 3.0), (2, 2, 3.0), (2, 3, 3.0)),
        scores((1, 5, 9.0), (3, 5, 1.0), (4, None, None)),
    ]
    strata = pa.table({"stratum": pa.array([0] * 5, pa.int32())})
    manifest, out = pd.DataFrame({"stratum": ["s0001"]}), []
    counts = rank(REGISTRY["fellegi_sunter"], shards, strata, manifest, out.append, Assigning(2))
    assert pa.concat_tables(out).select(["puf", "eif", "score", "rank", "max_pairs"]).to_pylist() == [
        {"puf": 0, "eif": 6, "score": 8.5, "rank": 1, "max_pairs": 1},
        {"puf": 1, "eif": 5, "score": 9.0, "rank": 1, "max_pairs": 1},
        {"puf": 2, "eif": None, "score": None, "rank": None, "max_pairs": None},
        {"puf": 4, "eif": None, "score": None, "rank": None, "max_pairs": None},
    ]
    assert counts.iloc[0][["rank", "n_pufids", "n_pairs"]].tolist() == [1, 2, 2]
