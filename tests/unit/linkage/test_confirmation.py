"""A suspected pair is confirmed where it is a true link; and what every rank limit would have found."""

import pyarrow as pa
import pytest
from making.studies import gathered, in_strata, keyed, manifest, pairs, study, table
from reident.linkage import confirmation
from reident.linkage.metrics import REGISTRY
from reident.pipeline import parts

# PUF records a, b and d are in stratum s1, c is in s2.
PUF = table("p", "a", "b", "c", "d")
EIF = table("e", *(str(at) for at in range(10)))
STRATA, MANIFEST = in_strata(0, 0, 1, 0), manifest(*((f"s{at}", 0, 0, 0) for at in (1, 2, 3)))


def ranked(*rows):
    """Ranked pairs ``(puf, eif, score, rank, max_pairs)``, as the rank filter leaves them."""
    columns = list(zip(*rows, strict=True)) or [()] * 5
    kinds = {
        "puf": pa.int32(),
        "eif": pa.int32(),
        "score": pa.float64(),
        "rank": pa.int32(),
        "max_pairs": pa.int32(),
    }
    arrays = (pa.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True))
    return pa.table(dict(zip(kinds, arrays, strict=True)))


SUSPECTED = ranked(
    (0, 1, 0.0, 1, 1), (0, 2, 0.1, 2, 3), (0, 3, 0.1, 2, 3), (1, 1, 0.2, 1, 1),
    (2, 4, 0.0, 1, 2), (2, 5, 0.0, 1, 2), (2, 6, 0.3, 2, 3),
    (3, None, None, None, None),
)  # fmt: skip


def confirmed(suspected, links, max_pairs=1, keep=3, metric="taxicab"):
    """The confirmed pairs by key and by row number, and the limits."""
    part = parts.confirming(study(rank_filter={"max_pairs": max_pairs, "keep": keep}))
    files = {"puf": PUF, "eif": EIF}
    inputs = part, REGISTRY[metric], suspected, files, pairs(*links), STRATA, MANIFEST
    return gathered(confirmation.confirm, *inputs, sinks=2)


def limits_at(max_pairs, links):
    limits = confirmed(SUSPECTED, links)[2]
    assert list(limits.columns) == confirmation.LIMITS
    rows = limits[limits["max_pairs"] == max_pairs].set_index("stratum")
    rows = rows.drop(columns=["max_pairs", "expected_correct"])
    return {stratum: tuple(int(value) for value in row) for stratum, row in rows.iterrows()}


LIMITS = [
    (
        "one: the tie of c and the crowded d are ambiguous",
        1,
        {"ALL": (2, 1, 2, 2, 1), "s1": (2, 1, 1, 2, 1), "s2": (0, 0, 1, 0, 0), "s3": (0, 0, 0, 0, 0)},
    ),
    (
        "two: the tie of c fits, the second rank of a does not",
        2,
        {"ALL": (3, 2, 1, 4, 2), "s1": (2, 1, 1, 2, 1), "s2": (1, 1, 0, 2, 1), "s3": (0, 0, 0, 0, 0)},
    ),
    (
        "three: all that was kept; a second link of a adds a pair and no record",
        3,
        {"ALL": (3, 2, 1, 7, 3), "s1": (2, 1, 1, 4, 2), "s2": (1, 1, 0, 3, 1), "s3": (0, 0, 0, 0, 0)},
    ),
]


@pytest.mark.parametrize(("sentence", "most", "counts"), LIMITS, ids=[case[0] for case in LIMITS])
def test_counts_at_every_rank_limit_are_of_distinct_records(sentence, most, counts):
    """n_suspected, n_confirmed, n_ambiguous, n_pairs, n_confirmed_pairs."""
    assert limits_at(most, ["0 1", "0 3", "2 5", "3 9"]) == counts


def test_a_link_at_a_later_rank_confirms_from_the_limit_on_that_lets_it_in():
    assert [limits_at(most, ["0 3"])["ALL"][1] for most in (1, 2, 3)] == [0, 0, 1]


def test_at_every_limit_one_guess_is_among_all_candidates_that_the_limit_lets_in():
    """Record a: 1 of 1, then 2 of 3; b: 0 of 1; c: nothing, then 1 of 2, then 1 of 3; d is crowded."""
    limits = confirmed(SUSPECTED, ["0 1", "0 3", "2 5", "3 9"])[2].set_index(["stratum", "max_pairs"])
    expected = {
        stratum: limits.loc[stratum, "expected_correct"].tolist() for stratum in ("ALL", "s1", "s2", "s3")
    }
    assert expected == {
        "ALL": [1, 1 + 1 / 2, 2 / 3 + 1 / 3],
        "s1": [1, 1, 2 / 3],
        "s2": [0, 1 / 2, 1 / 3],
        "s3": [0, 0, 0],
    }


def test_the_limits_tell_whole_study_first_and_each_limit_in_turn():
    limits = confirmed(ranked(), [], keep=2)[2]
    assert limits[["stratum", "max_pairs"]].to_numpy().tolist() == [
        [stratum, limit] for stratum in ("ALL", "s1", "s2", "s3") for limit in (1, 2)
    ]
    assert limits.drop(columns=["stratum", "max_pairs"]).to_numpy().sum() == 0


def test_the_pairs_within_the_limit_have_their_keys_and_their_stratum():
    by_key, by_row, _ = confirmed(SUSPECTED, ["0 1", "2 5"], max_pairs=2)
    assert by_key.to_pylist() == [
        {"p": "a", "e": "1", "stratum": "s1", "score": 0.0, "rank": 1, "confirmed": True},
        {"p": "b", "e": "1", "stratum": "s1", "score": 0.2, "rank": 1, "confirmed": False},
        {"p": "c", "e": "4", "stratum": "s2", "score": 0.0, "rank": 1, "confirmed": False},
        {"p": "c", "e": "5", "stratum": "s2", "score": 0.0, "rank": 1, "confirmed": True},
    ]
    assert by_row.to_pylist() == [
        {"puf": 0, "eif": 1, "score": 0.0, "confirmed": True},
        {"puf": 1, "eif": 1, "score": 0.2, "confirmed": False},
        {"puf": 2, "eif": 4, "score": 0.0, "confirmed": False},
        {"puf": 2, "eif": 5, "score": 0.0, "confirmed": True},
    ]


def test_all_parts_of_a_key_are_joined():
    part = parts.confirming(keyed(2))
    files = {"puf": table("p1 p2 v", "01 1 x", "1 23 x"), "eif": table("v e1 e2", "x 4 5")}
    inputs = part, REGISTRY["taxicab"], ranked((1, 0, 0.5, 1, 1)), files, pairs("1 0"), STRATA, MANIFEST
    by_key, _, _ = gathered(confirmation.confirm, *inputs, sinks=2)
    assert by_key.select(["p1", "p2", "e1", "e2"]).to_pylist() == [
        {"p1": "1", "p2": "23", "e1": "4", "e2": "5"}
    ]


def test_without_pairs_and_without_links_the_tables_keep_their_columns():
    by_key, by_row, limits = confirmed(ranked(), [])
    assert by_key.column_names == ["p", "e", "stratum", "score", "rank", "confirmed"]
    text = pa.string()
    assert by_key.schema.types == [text, text, text, pa.float64(), pa.int64(), pa.bool_()]
    assert by_row.column_names == ["puf", "eif", "score", "confirmed"]
    assert by_row.num_rows == 0
    assert set(limits["n_pairs"]) == {0}


def test_unicity_has_no_rank_limits():
    suspected = pairs("0 1").append_column("order", pa.array([2], pa.int32()))
    by_key, by_row, limits = confirmed(suspected, ["0 1"], metric="unicity")
    assert by_key.to_pylist() == [{"p": "a", "e": "1", "stratum": "s1", "order": 2, "confirmed": True}]
    assert by_key.schema.field("order").type == pa.int64()
    assert by_row.to_pylist() == [{"puf": 0, "eif": 1, "order": 2, "confirmed": True}]
    assert limits.empty
    assert list(limits.columns) == confirmation.LIMITS
