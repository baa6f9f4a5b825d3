"""Keys of records in any order: in memory, or fetched range by range."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reident.intake import spool
from reident.linkage import record_keys
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
