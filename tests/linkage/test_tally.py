"""Sums by combination are those of a counter, whatever is added at a time."""

from collections import Counter
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from reident.linkage import batches
from reident.linkage.tally import Tally, cases

LARGE = st.integers(0, 3) | st.sampled_from([2**31 - 1, 2**30])
LINE = st.tuples(LARGE, st.integers(0, 2), LARGE, st.integers(-5, 2**40), st.booleans())


@given(st.lists(st.lists(LINE, max_size=8), min_size=1, max_size=8), st.sampled_from([1, 2, 3, 100]))
def test_a_tally_is_a_counter(drawn, rows):
    amounts, chosen = Counter(), Counter()
    with patch.object(batches, "ROWS", rows):
        tally = Tally(["a", "b", "c"])
        for lines in drawn:
            for *key, amount, which in lines:
                amounts[tuple(key)] += amount
                chosen[tuple(key)] += which
            columns = [np.array([line[at] for line in lines], np.int64) for at in range(4)]
            tally.add(
                {
                    **dict(zip(("a", "b", "c", "amount"), columns, strict=True)),
                    "chosen": np.array([line[4] for line in lines], bool),
                }
            )
        table = tally.table()
    assert list(table.columns) == ["a", "b", "c", "amount", "chosen"]
    assert {str(kind) for kind in table.dtypes} == {"int64"}
    assert table.to_numpy().tolist() == [[*key, amounts[key], chosen[key]] for key in sorted(amounts)]


@given(st.lists(st.tuples(LARGE, LARGE, LARGE, LARGE), max_size=30))
def test_cases_are_the_distinct_combinations_in_the_order_in_which_they_come(lines):
    first, case = cases(*(np.array([line[at] for line in lines], np.int64) for at in range(4)))
    distinct = list(dict.fromkeys(lines))
    assert [lines[at] for at in first.tolist()] == distinct
    assert first.tolist() == [lines.index(line) for line in distinct]
    assert [distinct[at] for at in case.tolist()] == lines
