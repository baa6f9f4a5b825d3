"""The rank filter: distinct scores, best first, as long as their pairs together are few enough."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from making.studies import gathered, study
from reident.linkage import ranking
from reident.linkage.metrics import REGISTRY


def scored(*groups, stratum="s0001"):
    """Pairs of records: ``(key, score, number of pairs of that score)``, best first within each record."""
    rows = [(key, score) for key, score, n in groups for _ in range(n)]
    return pa.table(
        {
            "p": pa.array([key for key, _ in rows], pa.string()),
            "e": pa.array([str(at) for at in range(len(rows))], pa.string()),
            "stratum": pa.array([stratum] * len(rows), pa.string()),
            "score": pa.array([float(score) for _, score in rows], pa.float64()),
        }
    )


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
    model = study(rank_filter={"max_pairs": limit})
    found = gathered(ranking.rank, model, REGISTRY["taxicab"], [scored(*groups)])[0].to_pandas()
    counts = found.groupby(["p", "rank"]).size()
    assert [(key, rank, n) for (key, rank), n in counts.items()] == kept


def test_best_is_high_where_the_table_says_so():
    """Scoring hands on best first, whichever end that is."""
    shards = [scored(("a", 9, 1), ("a", 8, 2), ("a", 7, 3))]
    suspected, _ = gathered(ranking.rank, study(), REGISTRY["adhoc"], shards)
    assert suspected["rank"].to_pylist() == [1, 2, 2]


def test_ranks_and_what_limit_they_need():
    record = np.array([0, 0, 0, 0, 3, 3, 5])
    score = np.array([0.1, 0.1, 0.3, 0.4, 0.2, 0.2, 0.1])
    found = ranking.ranks(record, score)
    assert found.record.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert found.rank.tolist() == [1, 1, 2, 3, 1, 1, 1]
    assert found.needs.tolist() == [2, 2, 3, 4, 2, 2, 1]
    assert [part.tolist() for part in ranking.ranks(np.array([], int), np.array([]))] == [[], [], []]


def test_the_distribution_counts_all_that_scoring_kept_whole_study_first():
    shards = [scored(("a", 0.1, 1), ("a", 0.2, 6)), scored(("b", 0.1, 6), stratum="s0002")]
    suspected, distribution = gathered(ranking.rank, study(), REGISTRY["taxicab"], shards)
    expected = pd.DataFrame(
        [("ALL", 1, 2, 7), ("ALL", 2, 1, 6), ("s0001", 1, 1, 1), ("s0001", 2, 1, 6), ("s0002", 1, 1, 6)],
        columns=["stratum", "rank", "n_pufids", "n_pairs"],
    )
    pd.testing.assert_frame_equal(distribution, expected, check_dtype=False)
    assert suspected["rank"].to_pylist() == [1]


def test_without_a_pair_the_tables_keep_their_columns():
    suspected, distribution = gathered(ranking.rank, study(), REGISTRY["taxicab"], [scored(), scored()])
    assert suspected.column_names == ["p", "e", "stratum", "score", "rank"]
    assert suspected.schema.field("rank").type == pa.int64()
    assert list(distribution.columns) == ["stratum", "rank", "n_pufids", "n_pairs"]
    assert distribution.empty


def test_unicity_has_no_rank_filter():
    pairs = scored(("a", 2, 9)).rename_columns(["p", "e", "stratum", "order"])
    pairs = pairs.set_column(3, "order", pairs["order"].cast(pa.int64()))
    model = study(rank_filter={"max_pairs": 1})
    suspected, distribution = gathered(ranking.rank, model, REGISTRY["unicity"], [pairs])
    assert suspected.num_rows == 9
    assert suspected.column_names == ["p", "e", "stratum", "order"]
    assert distribution.to_numpy().tolist() == [["ALL", 2, 1, 9], ["s0001", 2, 1, 9]]
