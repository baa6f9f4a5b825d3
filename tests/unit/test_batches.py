"""Batches: sorted tables merged in the order of keys, whatever the size of a batch."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import stored
from reident.linkage import batches


@st.composite
def shards(draw):
    """The pairs of records that are dealt to some shards; each shard sorted by key."""
    part = st.sampled_from(["", "0", "1", "10", "2", "é", "\U0001f600", "\uffff"])
    owners = draw(
        st.dictionaries(st.tuples(part, part), st.tuples(st.integers(0, 3), st.integers(1, 9)), max_size=9)
    )
    dealt = [
        sorted(key for key, (owner, _) in owners.items() if owner == shard)
        for shard in range(draw(st.integers(4, 5)))
    ]
    return [[key for key in keys for _ in range(owners[key][1])] for keys in dealt]


def plain(found):
    return list(zip(*(found[name].to_pylist() for name in ("p1", "p2", "place")), strict=True))


def texts(rows):
    columns = list(zip(*rows, strict=True)) or [(), ()]
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.table({"p1": arrays[0], "p2": arrays[1], "place": pa.array(range(len(rows)), pa.int64())})


@given(shards(), st.integers(1, 12))
def test_merging_gives_all_rows_in_the_order_of_keys(dealt, rows):
    found = list(batches.merged([texts(own) for own in dealt], ("p1", "p2"), rows))
    expected = sorted(
        ((*key, place) for own in dealt for place, key in enumerate(own)), key=lambda row: row[:2]
    )
    assert [row for batch in found for row in plain(batch.pairs)] == expected
    assert len(found) >= 1
    seen = [
        set(zip(*(batch.pairs[name].to_pylist() for name in ("p1", "p2")), strict=True)) for batch in found
    ]
    assert sum(map(len, seen)) == len(set().union(*seen)), "the pairs of a record stand in one batch"
    for batch in found:
        keys = [row[:2] for row in plain(batch.pairs)]
        new = [a != b for a, b in zip(keys[1:], keys[:-1], strict=True)]
        assert (np.diff(batch.record) > 0).tolist() == new


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_a_file_comes_in_batches_and_at_least_one(tmp_path, n):
    whole = texts([("a", str(at)) for at in range(n)])
    pq.write_table(whole, tmp_path / "file.parquet", row_group_size=4)
    for source in (whole, pq.ParquetFile(tmp_path / "file.parquet")):
        found = list(batches.of(source, 3))
        assert pa.concat_tables(found) == whole
        assert max(part.num_rows for part in found) <= 3


@pytest.mark.parametrize("size", [1, 7, 10, 11, 100])
def test_a_file_has_the_same_bytes_whatever_the_batches(tmp_path, monkeypatch, size):
    monkeypatch.setattr(stored, "ROW_GROUP", 10)
    whole = texts([("a", str(at % 3)) for at in range(31)])
    contents = []
    for rows in (31, size):
        sink = stored.Sink(tmp_path / "out.parquet")
        for part in batches.of(whole, rows):
            sink(part)
        path, _, n = sink.close()
        assert n == 31
        contents.append(path.read_bytes())
        assert [pq.ParquetFile(path).metadata.row_group(k).num_rows for k in range(4)] == [10, 10, 10, 1]
    assert contents[0] == contents[1]
    assert pq.read_table(path) == whole
