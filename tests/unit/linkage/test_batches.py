"""Batches: sorted tables merged in the order of records, whatever the size of a batch."""

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.ledger import stored
from reident.linkage import batches

SHARDS = 4


@st.composite
def shards(draw):
    """The records of each shard, once for each of their pairs: ascending, no record in two shards."""
    records = draw(
        st.dictionaries(
            st.integers(0, 12) | st.integers(0, 2**31 - 1),
            st.tuples(st.integers(0, SHARDS - 1), st.integers(1, 9)),
            max_size=12,
        )
    )
    return [
        [
            record
            for record in sorted(records)
            for _ in range(records[record][1])
            if records[record][0] == shard
        ]
        for shard in range(draw(st.integers(SHARDS, SHARDS + 1)))
    ]


def rows_of(shard, records):
    """Rows ``puf eif shard``: the EIF records count from 0, every fourth one is null."""
    eif = [at if at % 4 else None for at in range(len(records))]
    columns = {"puf": pa.array(records, pa.int32()), "eif": pa.array(eif, pa.int32())}
    return pa.table(columns | {"shard": pa.array([shard] * len(records), pa.int8())})


def plain(table):
    return list(zip(*table.to_pydict().values(), strict=True))


@given(shards(), st.integers(1, 40))
def test_merging_gives_all_rows_in_the_order_of_records(dealt, rows):
    sources = [rows_of(shard, records) for shard, records in enumerate(dealt)]
    merged = list(batches.merge(sources, rows))
    expected = sorted((row for source in sources for row in plain(source)), key=lambda row: row[0])
    assert [row for batch in merged for row in plain(batch)] == expected
    assert len(merged) >= 1
    seen = [set(batch["puf"].to_pylist()) for batch in merged]
    assert sum(map(len, seen)) == len(set().union(*seen)), "all pairs of a record are in one batch"
    assert all(batch.schema == sources[0].schema for batch in merged)


def test_merging_holds_few_rows_however_many_there_are():
    sources = [rows_of(shard, [3 * at + shard for at in range(1000) for _ in range(4)]) for shard in range(3)]
    sizes = [batch.num_rows for batch in batches.merge(sources, 60)]
    assert sum(sizes) == 12_000
    assert max(sizes) <= 2 * 60
    assert sum(sizes) / len(sizes) >= 60 / 2, "a batch is not a few rows either"


def test_files_are_merged_as_tables_are(tmp_path):
    sources = [rows_of(shard, list(range(shard, 50, 3))) for shard in range(3)]
    for at, source in enumerate(sources):
        pq.write_table(source, tmp_path / f"{at}.parquet", row_group_size=7)
    files = [pq.ParquetFile(tmp_path / f"{at}.parquet") for at in range(3)]
    merged = pa.concat_tables(batches.merge(files, 9))
    assert merged == pa.concat_tables(batches.merge(sources))
    assert all(a <= b for a, b in pairwise(merged["puf"].to_pylist()))


@given(
    st.lists(st.lists(st.integers(0, 11), max_size=6), max_size=4),
    st.integers(1, 15),
    st.sampled_from([1, 2, 3, 40]),
)
def test_rows_in_step_are_those_of_the_records(drawn, n, rows):
    """Records ascend over the calls; the last of a call may be the first of the next, and some are never taken."""
    ascending = iter(sorted(min(record, n - 1) for records in drawn for record in records))
    table = numbers(n)
    with patch.object(batches, "ROWS", rows):
        own = batches.InStep(table, ["third", "puf"])
        for records in drawn:
            wanted = [next(ascending) for _ in records]
            taken = own.take(np.array(wanted, np.int32))
            assert taken.to_pydict() == {"third": [str(at % 3) for at in wanted], "puf": wanted}


def test_rows_of_a_file_in_step(tmp_path):
    pq.write_table(numbers(1000), tmp_path / "file.parquet", row_group_size=7)
    with patch.object(batches, "ROWS", 10):
        own = batches.InStep(pq.ParquetFile(tmp_path / "file.parquet"), ["puf"])
        for wanted in ([3, 4, 4], [], [4, 500, 998], [999]):
            assert own.take(np.array(wanted, int))["puf"].to_pylist() == wanted


def test_a_record_beyond_the_table_is_an_error():
    with pytest.raises(StopIteration):
        batches.InStep(numbers(3), ["puf"]).take(np.array([3]))


def test_what_differs_from_the_value_before():
    assert batches.is_new(np.array([4, 4, 2, 4, 4])).tolist() == [True, False, True, True, False]
    assert batches.is_new(np.array([], int)).tolist() == []


def test_the_size_of_a_table_and_of_a_file(tmp_path):
    pq.write_table(numbers(5), tmp_path / "file.parquet", row_group_size=2)
    assert [batches.size(numbers(5)), batches.size(pq.ParquetFile(tmp_path / "file.parquet"))] == [5, 5]


def numbers(n):
    return pa.table(
        {"puf": pa.array(range(n), pa.int32()), "third": pa.array([str(at % 3) for at in range(n)])}
    )


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_a_file_comes_in_batches_and_at_least_one(tmp_path, n):
    whole = numbers(n)
    pq.write_table(whole, tmp_path / "file.parquet", row_group_size=4)
    for source in (whole, pq.ParquetFile(tmp_path / "file.parquet")):
        tables = list(batches.split(source, 3))
        assert pa.concat_tables(tables) == whole
        assert max(table.num_rows for table in tables) <= 3


def test_batches_without_columns_have_the_rows_of_the_table():
    assert [table.num_rows for table in batches.split(numbers(5), 3, [])] == [3, 2]
    assert [table.num_rows for table in batches.split(numbers(0), 3, [])] == [0]


@pytest.mark.parametrize("size", [1, 7, 10, 11, 100])
def test_a_file_has_the_same_bytes_whatever_the_batches(tmp_path, monkeypatch, size):
    monkeypatch.setattr(stored, "ROW_GROUP", 10)
    whole = numbers(31)
    contents = []
    for rows in (31, size):
        sink = stored.Sink(tmp_path / "out.parquet")
        for part in batches.split(whole, rows):
            sink(part)
        path, _, _, n = sink.close()
        assert n == 31
        contents.append(path.read_bytes())
        assert [pq.ParquetFile(path).metadata.row_group(k).num_rows for k in range(4)] == [10, 10, 10, 1]
    assert contents[0] == contents[1]
    assert pq.read_table(path) == whole
