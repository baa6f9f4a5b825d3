"""The rank filter: distinct scores, best first, as long as their pairs together are few enough."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from making.studies import gathered, in_strata, manifest
from reident.linkage import ranking
from reident.linkage.metrics import REGISTRY

STRATA, MANIFEST = in_strata(0, 1, 0), manifest(("s0001", 2, 9, 0), ("s0002", 1, 9, 0))
RECORDS = {"a": 0, "b": 1, "c": 2}


def scored(*groups):
    """Pairs of records: ``(record, score, number of pairs of that score)``, best first within each record.

    A score of None is that of a crowded record, which has no EIF record.
    """
    rows = [(RECORDS[record], score) for record, score, n in groups for _ in range(n)]
    scores = pa.array([score for _, score in rows], pa.float64())
    eif = pa.array([None if score is None else at for at, (_, score) in enumerate(rows)], pa.int32())
    return pa.table(
        {"puf": pa.array([record for record, _ in rows], pa.int32()), "eif": eif, "score": scores}
    )


def ranked(*shards, metric="taxicab"):
    """The ranked pairs and their distribution."""
    return gathered(ranking.rank, REGISTRY[metric], shards, STRATA, MANIFEST)


FILTERED = [
    ("one pair", [("a", 0, 1)], 5, [("a", 1, 1)]),
    ("exactly the limit at the first rank", [("a", 0, 5)], 5, [("a", 1, 5)]),
    ("one above the limit at the first rank: nothing", [("a", 0, 6)], 5, []),
    ("exactly the limit over ranks", [("a", 0.1, 2), ("a", 0.2, 3)], 5, [("a", 1, 2), ("a", 2, 3)]),
    ("the rank that exceeds is dropped whole", [("a", 0.1, 2), ("a", 0.2, 4)], 5, [("a", 1, 2)]),
    ("all worse ranks go with it", [("a", 0.1, 2), ("a", 0.2, 4), ("a", 0.3, 1)], 5, [("a", 1, 2)]),
    ("nothing fits behind a crowded first rank", [("a", 0.1, 6), ("a", 0.2, 1)], 5, []),
    ("a limit of one", [("a", 0.1, 1), ("a", 0.2, 1)], 1, [("a", 1, 1)]),
    ("ties at a limit of one", [("a", 0.1, 2)], 1, []),
    ("each record by itself", [("a", 0.1, 6), ("b", 0.3, 1)], 5, [("b", 1, 1)]),
    (
        "equal scores of different records are no ties",
        [("a", 0.1, 3), ("b", 0.1, 3)],
        5,
        [("a", 1, 3), ("b", 1, 3)],
    ),
    ("no pair", [], 5, []),
]


@pytest.mark.parametrize(
    ("sentence", "groups", "limit", "kept"), FILTERED, ids=[case[0] for case in FILTERED]
)
def test_ranks_are_kept_while_their_pairs_together_are_within_the_limit(sentence, groups, limit, kept):
    suspected, _ = ranked(scored(*groups))
    rows = suspected.filter(pc.less_equal(suspected["max_pairs"], limit)).to_pandas()
    counts = rows.groupby(["puf", "rank"]).size()
    assert [(record, rank, n) for (record, rank), n in counts.items()] == [
        (RECORDS[record], rank, n) for record, rank, n in kept
    ]


def test_best_is_high_where_the_table_says_so():
    """Scoring hands on best first, whichever end that is."""
    suspected, _ = ranked(scored(("a", 9, 1), ("a", 8, 2), ("a", 7, 3)), metric="adhoc")
    assert suspected["rank"].to_pylist() == [1, 2, 2, 3, 3, 3]


def test_ranks_and_the_limits_that_pairs_need():
    record = np.array([0, 0, 0, 0, 3, 3, 5])
    score = np.array([0.1, 0.1, 0.3, 0.4, 0.2, 0.2, 0.1])
    ranks = ranking.ranks(record, score)
    assert ranks.rank.tolist() == [1, 1, 2, 3, 1, 1, 1]
    assert ranks.max_pairs.tolist() == [2, 2, 3, 4, 2, 2, 1]
    assert ranks.rank.dtype == ranks.max_pairs.dtype == np.int32
    assert [values.tolist() for values in ranking.ranks(np.array([], int), np.array([]))] == [[], []]


def test_all_shards_come_in_the_order_of_records():
    suspected, _ = ranked(scored(("a", 0.1, 1), ("c", 0.1, 1)), scored(("b", 0.1, 2), ("b", 0.2, 1)))
    assert suspected["puf"].to_pylist() == [0, 1, 1, 1, 2]
    assert suspected["rank"].to_pylist() == [1, 1, 1, 2, 1]
    assert suspected["max_pairs"].to_pylist() == [1, 2, 2, 3, 1]


def test_a_crowded_record_has_a_row_without_rank_and_is_not_in_the_distribution():
    suspected, distribution = ranked(scored(("a", 0.1, 1), ("c", None, 1)), scored(("b", None, 1)))
    assert suspected.to_pylist() == [
        {"puf": 0, "eif": 0, "score": 0.1, "rank": 1, "max_pairs": 1},
        {"puf": 1, "eif": None, "score": None, "rank": None, "max_pairs": None},
        {"puf": 2, "eif": None, "score": None, "rank": None, "max_pairs": None},
    ]
    assert distribution.to_numpy().tolist() == [["ALL", 1, 1, 1], ["s0001", 1, 1, 1]]


def test_the_distribution_counts_all_that_scoring_kept_whole_study_first():
    shards = [scored(("a", 0.1, 1), ("a", 0.2, 6)), scored(("b", 0.1, 6))]
    suspected, distribution = ranked(*shards)
    expected = pd.DataFrame(
        [("ALL", 1, 2, 7), ("ALL", 2, 1, 6), ("s0001", 1, 1, 1), ("s0001", 2, 1, 6), ("s0002", 1, 1, 6)],
        columns=["stratum", "rank", "n_pufids", "n_pairs"],
    )
    pd.testing.assert_frame_equal(distribution, expected, check_dtype=False)
    assert suspected.num_rows == 13


def test_without_a_pair_the_tables_keep_their_columns():
    suspected, distribution = ranked(scored(), scored())
    assert suspected.column_names == ["puf", "eif", "score", "rank", "max_pairs"]
    assert suspected.schema.field("rank").type == suspected.schema.field("max_pairs").type == pa.int32()
    assert list(distribution.columns) == ["stratum", "rank", "n_pufids", "n_pairs"]
    assert distribution.empty


def test_unicity_has_no_rank_filter():
    pairs = scored(("a", 2, 9)).rename_columns(["puf", "eif", "order"])
    pairs = pairs.set_column(2, "order", pairs["order"].cast(pa.int32()))
    pairs = pairs.append_column("variables", pa.array([3] * 9, pa.uint64()))
    suspected, distribution = ranked(pairs, metric="unicity")
    assert suspected == pairs.drop_columns(["variables"])
    assert distribution.to_numpy().tolist() == [["ALL", 2, 1, 9], ["s0001", 2, 1, 9]]
