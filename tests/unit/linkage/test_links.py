"""True links in memory and in step with the pairs are those of a set of pairs."""

import pytest
from making.studies import pairs
from reident.linkage.links import Links, LinksInStep

LINKS = [
    ("a link", ["1 1"], ["1 1"], [True]),
    ("a pair of linked records that are not linked with each other", ["1 2"], ["1 1", "2 2"], [False]),
    ("many to many", ["1 1", "1 2", "2 1", "2 2"], ["1 1", "1 2", "2 1"], [True, True, True, False]),
    ("the records the other way round", ["1 2", "2 1"], ["1 2"], [True, False]),
    ("beyond the last link", ["1 1", "3 0"], ["1 1"], [True, False]),
    ("large row numbers", ["2147483647 2147483647"], ["2147483647 2147483647"], [True]),
    ("no link", ["1 1"], [], [False]),
    ("no pair", [], ["1 1"], []),
]


@pytest.mark.parametrize(("sentence", "rows", "links", "held"), LINKS, ids=[case[0] for case in LINKS])
def test_a_pair_is_a_link_where_both_records_are(sentence, rows, links, held):
    assert Links(pairs(*links)).hold(pairs(*rows)).tolist() == held


