"""True links in memory and in step with the pairs are those of a set of pairs."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.studies import pairs
from reident.linkage import batches
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


@pytest.mark.parametrize(("sentence", "rows", "links", "held"), LINKS, ids=[case[0] for case in LINKS])
def test_links_in_step_are_those_in_memory(sentence, rows, links, held):
    assert LinksInStep(pairs(*links)).hold(pairs(*rows)).tolist() == held


RECORD = st.integers(0, 6) | st.sampled_from([2**31 - 1])
PAIRS = st.sets(st.tuples(RECORD, RECORD), max_size=25)
ROWS = st.sampled_from([1, 2, 3, 100])


@given(PAIRS, st.lists(PAIRS, max_size=4), ROWS)
def test_links_in_step_are_those_of_a_set(links, drawn, rows):
    """The pairs of a record may be spread over calls, and are in any order within it."""
    table = _table(sorted(links))
    wanted = sorted(((puf, -eif) for own in drawn for puf, eif in own), key=lambda pair: pair[0])
    with patch.object(batches, "ROWS", rows):
        own = LinksInStep(table)
        for batch in drawn:
            part = [(puf, -eif) for puf, eif in wanted[: len(batch)]]
            wanted = wanted[len(batch) :]
            assert own.hold(_table(part)).tolist() == [pair in links for pair in part]


@given(PAIRS, st.lists(st.sets(RECORD), max_size=4), ROWS)
def test_each_record_comes_once_with_all_its_links(links, drawn, rows):
    records = sorted({record for own in drawn for record in own})
    with patch.object(batches, "ROWS", rows):
        own = LinksInStep(_table(sorted(links)))
        for batch in drawn:
            part, records = records[: len(batch)], records[len(batch) :]
            seen = []
            for at, puf, eif in own.of(np.array(part, np.int32)):
                seen += (piece := part[at])
                found = set(zip(puf.tolist(), eif.tolist(), strict=True))
                assert {pair for pair in found if pair[0] in piece} == {
                    pair for pair in links if pair[0] in piece
                }
            assert seen == part


def test_links_of_a_file(tmp_path):
    links = [(at // 3, at % 5) for at in range(100)]
    pq.write_table(_table(links), tmp_path / "iuf.parquet", row_group_size=7)
    with patch.object(batches, "ROWS", 10):
        held = LinksInStep(pq.ParquetFile(tmp_path / "iuf.parquet")).hold(
            _table([(2, 1), (2, 9), (30, 0), (33, 4)])
        )
    assert held.tolist() == [True, False, True, True]


def _table(rows):
    columns = [[row[at] for row in rows] for at in (0, 1)]
    return pa.table(dict(zip(("puf", "eif"), (pa.array(own, pa.int32()) for own in columns), strict=True)))
