"""Records alone with a value in their cell, in both files, against brute force (METHODS §6.10)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import joins as oracle
from reident.kernels import joins

FILES = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 4)), max_size=12)


def _records(rows):
    """Records as the oracle takes them: a cell, and a value; None for -1."""
    return [dict(zip(("stratum", "x"), (None if one < 0 else one for one in row), strict=True)) for row in rows]


@examples(200)
@given(puf=FILES, eif=FILES, threads=st.integers(1, 3))
def test_pairs_are_those_of_brute_force_on_any_number_of_threads(puf, eif, threads):
    sides = [np.array(rows, np.int64).reshape(-1, 2) for rows in (puf, eif)]
    grouped = [joins.group(side[:, 0], 4) for side in sides]
    codes = tuple(side[:, 1].astype(np.int32) for side in sides)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joins, "MIN_RECORDS", 0)
        ours, theirs = joins.single_pairs(*grouped, codes, threads)
    pairs = list(zip(ours.tolist(), theirs.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    claims, right = oracle.joined(*map(_records, (puf, eif)), set(pairs), ["x"])
    assert claims == right == len(pairs)
