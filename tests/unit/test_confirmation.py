"""A suspected pair is confirmed where it is a true link; and what every rank limit would have found."""

import pyarrow as pa
import pytest
from making.studies import gathered, keyed, study, table
from reident.linkage import confirmation
from reident.linkage.metrics import REGISTRY

LINKS = [
    ("a link", ["1 1"], ["1 1"], [True]),
    ("a pair of linked records that are not linked with each other", ["1 2"], ["1 1", "2 2"], [False]),
    ("many to many", ["1 1", "1 2", "2 1", "2 2"], ["1 1", "1 2", "2 1"], [True, True, True, False]),
    ("zeros in front", ["01 1", "1 01"], ["1 1"], [False, False]),
    ("no link", ["1 1"], [], [False]),
    ("no pair", [], ["1 1"], []),
]


@pytest.mark.parametrize(("sentence", "pairs", "links", "found"), LINKS, ids=[case[0] for case in LINKS])
def test_a_pair_is_a_link_where_both_keys_are(sentence, pairs, links, found):
    assert confirmation.Links(study(), table("p e", *links)).hold(table("p e", *pairs)).tolist() == found


def test_composite_keys_are_compared_as_tuples():
    pairs, links = table("p1 p2 e1 e2", "1 23 4 5", "12 3 4 5", "1 2 34 5"), table("p1 p2 e1 e2", "12 3 4 5")
    assert confirmation.Links(keyed(2), links).hold(pairs).tolist() == [False, True, False]


def kept(*rows):
    """Scored pairs ``(pufid, eifid, stratum, score)``, sorted as scoring leaves them."""
    columns = list(zip(*rows, strict=True)) or [()] * 4
    kinds = (pa.string(), pa.string(), pa.string(), pa.float64())
    arrays = (pa.array(own, kind) for own, kind in zip(columns, kinds, strict=True))
    return pa.table(dict(zip(("p", "e", "stratum", "score"), arrays, strict=True)))


SCORES = [
    kept(("a", "1", "s1", 0.0), ("a", "2", "s1", 0.1), ("a", "3", "s1", 0.1), ("b", "1", "s1", 0.2)),
    kept(("c", "4", "s2", 0.0), ("c", "5", "s2", 0.0), ("c", "6", "s2", 0.3)),
]
CROWDED = [table("p stratum", "d s1"), table("p stratum")]


def limits_at(most, links, keep=3):
    model = study(rank_filter={"max_pairs": 1, "keep": keep})
    _, found = gathered(
        confirmation.confirm,
        model,
        REGISTRY["taxicab"],
        SCORES[0].slice(0, 1),
        SCORES,
        CROWDED,
        table("p e", *links),
        ["s1", "s2", "s3"],
    )
    assert list(found.columns) == confirmation.LIMITS
    rows = found[found["max_pairs"] == most].set_index("stratum").drop(columns="max_pairs")
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
    assert limits_at(most, ["a 1", "a 3", "c 5", "d 9"]) == counts


def test_a_link_at_a_later_rank_confirms_from_the_limit_on_that_lets_it_in():
    assert [limits_at(most, ["a 3"])["ALL"][1] for most in (1, 2, 3)] == [0, 0, 1]


def test_the_limits_tell_whole_study_first_and_each_limit_in_turn():
    model = study(rank_filter={"max_pairs": 1, "keep": 2})
    nothing = kept(), [kept()], [table("p stratum")], table("p e")
    _, found = gathered(confirmation.confirm, model, REGISTRY["taxicab"], *nothing, ["s1"])
    assert found[["stratum", "max_pairs"]].to_numpy().tolist() == [
        ["ALL", 1],
        ["ALL", 2],
        ["s1", 1],
        ["s1", 2],
    ]
    assert found.drop(columns=["stratum", "max_pairs"]).to_numpy().sum() == 0


def test_without_pairs_and_without_links_the_tables_keep_their_columns():
    confirmed, limits = gathered(
        confirmation.confirm,
        study(),
        REGISTRY["taxicab"],
        kept(),
        [kept()],
        [table("p stratum")],
        table("p e"),
        ["s1"],
    )
    assert confirmed.column_names == ["p", "e", "stratum", "score", "confirmed"]
    assert confirmed.schema.field("confirmed").type == pa.bool_()
    assert set(limits["n_pairs"]) == {0}


def test_unicity_has_no_rank_limits():
    pairs = table("p e stratum", "1 1 s1").append_column("order", pa.array([2]))
    confirmed, limits = gathered(
        confirmation.confirm,
        study(),
        REGISTRY["unicity"],
        pairs,
        [pairs],
        [pairs],
        table("p e", "1 1"),
        ["s1"],
    )
    assert confirmed["confirmed"].to_pylist() == [True]
    assert limits.empty
    assert list(limits.columns) == confirmation.LIMITS
