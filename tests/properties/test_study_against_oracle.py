"""The library's steps give what the brute-force oracle gives, on random small studies with every option."""

from unittest.mock import patch

from hypothesis import assume, given
from hypothesis import strategies as st
from making.examples import examples
from oracles.checks import check_ambiguous, check_limit, check_study, rounding_splits_a_tie
from oracles.strategies import studies
from oracles.study import METRICS
from oracles.study import run as judge
from reident.linkage import batches, quantiles, record_keys
from workflow.library_run import run

# One shard, a few, more than there are pairs: the packing must not show.
SHARDS = st.sampled_from([1, 2, 7, 40])
# Rows of a batch, records whose keys are in memory, and records of a scope whose values are sorted with others.
SIZES = st.sampled_from([(1, 1, 0), (2, 1, 2), (3, 2, 10**3), (2**20, 2**24, 2**10)])


@examples(50)
@given(drawn=studies(fewest=1), n_shards=SHARDS, sizes=SIZES, data=st.data())
def test_a_study_is_what_the_oracle_says(drawn, n_shards, sizes, data):
    """All results of all metrics, and the counts at another rank limit than the study's."""
    study, *rows = drawn
    with (
        patch.object(batches, "ROWS", sizes[0]),
        patch.object(record_keys, "RANGE", sizes[1]),
        patch.object(quantiles, "MAX_TOGETHER", sizes[2]),
    ):
        tables = run(study, *rows, n_shards=n_shards)
    oracle = judge(study, *rows)
    assume(not rounding_splits_a_tie(oracle, tables))  # rare: it takes a score within 1e-16 of a half
    check_study(oracle, tables)
    keep = tables.study.rank_filter.keep
    limit = data.draw(st.sampled_from([1, keep]) | st.integers(1, keep))
    at_limit, at_keep = (
        judge({**study, "rank_filter": {"max_pairs": str(most), "keep": str(most)}}, *rows)
        for most in (limit, keep)
    )
    for metric in METRICS:
        if metric != "unicity":
            check_limit(limit, at_limit.metrics[metric], tables.metrics[metric], tables)
            check_ambiguous(at_keep.metrics[metric], tables.metrics[metric], tables)
