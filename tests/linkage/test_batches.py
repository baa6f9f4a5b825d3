"""Batches: sorted tables merged in the order of records, and read in step, whatever the size of a batch."""

from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from making.studies import pairs
from reident.ledger import stored
from reident.linkage import batches
from reident.linkage.links import SortedLinks


def rows_of(shard, records):
    """Rows ``puf eif shard``: the EIF records count from 0, every fourth one is null."""
    eif = [at if at % 4 else None for at in range(len(records))]
    columns = {"puf": pa.array(records, pa.int32()), "eif": pa.array(eif, pa.int32())}
    return pa.table(columns | {"shard": pa.array([shard] * len(records), pa.int8())})


def test_files_are_merged_as_tables_are(tmp_path):
    sources = [rows_of(shard, list(range(shard, 50, 3))) for shard in range(3)]
    for at, source in enumerate(sources):
        pq.write_table(source, tmp_path / f"{at}.parquet", row_group_size=7)
    files = [pq.ParquetFile(tmp_path / f"{at}.parquet") for at in range(3)]
    merged = pa.concat_tables(batches.merge(files, 9))
    assert merged == pa.concat_tables(batches.merge(sources))
    assert all(a <= b for a, b in pairwise(merged["puf"].to_pylist()))


def numbers(n):
    return pa.table({"puf": pa.array(range(n), pa.int32()), "third": pa.array([str(at % 3) for at in range(n)])})


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_a_file_comes_in_batches_and_at_least_one(tmp_path, n):
    whole = numbers(n)
    pq.write_table(whole, tmp_path / "file.parquet", row_group_size=4)
    for source in (whole, pq.ParquetFile(tmp_path / "file.parquet")):
        tables = list(batches.split(source, 3))
        assert pa.concat_tables(tables) == whole
        assert max(table.num_rows for table in tables) <= 3


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


def test_links_of_a_file(tmp_path, monkeypatch):
    links = pairs(*(f"{at // 3} {at % 5}" for at in range(100)))
    pq.write_table(links, tmp_path / "iuf.parquet", row_group_size=7)
    monkeypatch.setattr(batches, "ROWS", 10)
    sorted_links = SortedLinks(pq.ParquetFile(tmp_path / "iuf.parquet"))
    assert sorted_links.hold(pairs("2 1", "2 9", "30 0", "33 4")).tolist() == [True, False, True, True]
