"""The rank filter: distinct scores, best first, as long as their pairs together are few enough."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from reident import ranking
from reident.metrics import REGISTRY
from unit.making import keyed, study


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
    found = ranking.rank(model, REGISTRY["taxicab"], [scored(*groups)]).suspected.to_pandas()
    counts = found.groupby(["p", "rank"]).size()
    assert [(key, rank, n) for (key, rank), n in counts.items()] == kept


def test_best_is_high_where_the_table_says_so():
    """Scoring hands on best first, whichever end that is."""
    found = ranking.rank(study(), REGISTRY["adhoc"], [scored(("a", 9, 1), ("a", 8, 2), ("a", 7, 3))])
    assert found.suspected["rank"].to_pylist() == [1, 2, 2]


def test_ranks_and_what_limit_they_need():
    record = np.array([0, 0, 0, 0, 3, 3, 5])
    score = np.array([0.1, 0.1, 0.3, 0.4, 0.2, 0.2, 0.1])
    found = ranking.ranks(record, score)
    assert found.record.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert found.rank.tolist() == [1, 1, 2, 3, 1, 1, 1]
    assert found.needs.tolist() == [2, 2, 3, 4, 2, 2, 1]
    assert [part.tolist() for part in ranking.ranks(np.array([], int), np.array([]))] == [[], [], []]


def test_shards_are_merged_in_the_order_of_keys_and_the_packing_does_not_show():
    one, two, none = scored(("b", 0.1, 2), ("d", 0.2, 1)), scored(("a", 0.3, 1), ("c", 0.1, 1)), scored()
    merged = ranking.merge([one, none, two], ("p",))
    assert merged["p"].to_pylist() == ["a", "b", "b", "c", "d"]
    assert merged.equals(ranking.merge([two, one, none], ("p",)))
    assert merged["e"].to_pylist()[1:3] == ["0", "1"], "the order within a record stays"


def test_composite_keys_are_sorted_by_their_parts():
    table = pa.table({"p1": ["2", "10", "10"], "p2": ["1", "2", "1"], "score": [0.0, 0.0, 0.0]})
    found = ranking.merge([table], keyed(2).keys["puf"])
    assert found.select(["p1", "p2"]).to_pylist() == [
        {"p1": "10", "p2": "1"}, {"p1": "10", "p2": "2"}, {"p1": "2", "p2": "1"},
    ]  # fmt: skip


def test_the_distribution_counts_all_that_scoring_kept_whole_study_first():
    shards = [scored(("a", 0.1, 1), ("a", 0.2, 6)), scored(("b", 0.1, 6), stratum="s0002")]
    found = ranking.rank(study(), REGISTRY["taxicab"], shards)
    expected = pd.DataFrame(
        [("ALL", 1, 2, 7), ("ALL", 2, 1, 6), ("s0001", 1, 1, 1), ("s0001", 2, 1, 6), ("s0002", 1, 1, 6)],
        columns=["stratum", "rank", "n_pufids", "n_pairs"],
    )
    pd.testing.assert_frame_equal(found.distribution, expected, check_dtype=False)
    assert found.suspected["rank"].to_pylist() == [1]


def test_without_a_pair_the_tables_keep_their_columns():
    found = ranking.rank(study(), REGISTRY["taxicab"], [scored(), scored()])
    assert found.suspected.column_names == ["p", "e", "stratum", "score", "rank"]
    assert found.suspected.schema.field("rank").type == pa.int64()
    assert list(found.distribution.columns) == ["stratum", "rank", "n_pufids", "n_pairs"]
    assert found.distribution.empty


def test_unicity_has_no_rank_filter():
    pairs = scored(("a", 2, 9)).rename_columns(["p", "e", "stratum", "order"])
    pairs = pairs.set_column(3, "order", pairs["order"].cast(pa.int64()))
    found = ranking.rank(study(rank_filter={"max_pairs": 1}), REGISTRY["unicity"], [pairs])
    assert found.suspected.num_rows == 9
    assert found.suspected.column_names == ["p", "e", "stratum", "order"]
    assert found.distribution.to_numpy().tolist() == [["ALL", 2, 1, 9], ["s0001", 2, 1, 9]]
