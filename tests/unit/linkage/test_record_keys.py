"""Keys of records in any order: in memory, or fetched range by range."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reident.intake import spool
from reident.linkage import batches, record_keys
from reident.linkage.record_keys import keys_of


def records(n):
    """Keys of two parts and different lengths, beside a column that is no key."""
    return pa.table(
        {
            "a": [f"é{at}" * (at % 3) for at in range(n)],
            "x": pa.array([at / 2 for at in range(n)], pa.float64()),
            "b": [str(at % 4) for at in range(n)],
        }
    )


@given(
    st.integers(1, 20),
    st.lists(st.lists(st.integers(0, 19), max_size=8), max_size=4),
    st.sampled_from([1, 2, 3, 7, 100]),
    st.sampled_from([1, 2, 3, 100]),
)
def test_keys_are_those_of_the_records(n, drawn, most, rows):
    wanted = [np.array([record % n for record in batch], np.int32) for batch in drawn]
    table = records(n)
    with (
        patch.object(record_keys, "RANGE", most),
        patch.object(batches, "ROWS", rows),
        keys_of(table, ["b", "a"], iter(wanted)) as take,
    ):
        for batch in wanted:
            found = take(batch)
            assert found.schema == table.select(["b", "a"]).schema
            assert found.to_pydict() == table.select(["b", "a"]).take(batch).to_pydict()


@pytest.mark.parametrize("most", [1, 4, 99, 100, 101])
def test_keys_that_wait_on_the_disk(tmp_path, monkeypatch, most):
    monkeypatch.setattr(record_keys, "RANGE", most)
    monkeypatch.setattr(spool, "MAX_ROWS", 0)
    folder = tmp_path / "scratch"
    folder.mkdir()
    pq.write_table(records(100), tmp_path / "eif.parquet", row_group_size=7)
    file, rng = pq.ParquetFile(tmp_path / "eif.parquet"), np.random.default_rng(3)
    wanted = [rng.integers(0, 100, n).astype(np.int32) for n in (30, 0, 1, 200)]
    with keys_of(file, ["a"], iter(wanted), folder) as take:
        assert [take(batch)["a"].to_pylist() for batch in wanted] == [
            records(100)["a"].take(batch).to_pylist() for batch in wanted
        ]
        assert not list(folder.iterdir()), "the files have no name"


def test_a_table_without_records():
    with keys_of(records(0), ["a"], iter([])) as take:
        found = take(np.array([], np.int32))
    assert (found.num_rows, found.column_names) == (0, ["a"])


def test_the_wanted_records_are_only_read_where_the_keys_are_many():
    def wanted():
        raise AssertionError
        yield

    with keys_of(records(5), ["a"], wanted()) as take:
        assert take(np.array([4, 0], np.int32))["a"].to_pylist() == ["é4", ""]
    with (
        pytest.raises(AssertionError),
        patch.object(record_keys, "RANGE", 4),
        keys_of(records(5), ["a"], wanted()),
    ):
        pass
