"""True links in memory and in step with the pairs are those of a set of pairs."""

from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st
from reident.linkage import batches
from reident.linkage.links import SortedLinks

ROWS = st.sampled_from([1, 2, 3, 100])


def test_links_of_a_file(tmp_path):
    links = [(at // 3, at % 5) for at in range(100)]
    pq.write_table(_table(links), tmp_path / "iuf.parquet", row_group_size=7)
    with patch.object(batches, "ROWS", 10):
        held = SortedLinks(pq.ParquetFile(tmp_path / "iuf.parquet")).hold(
            _table([(2, 1), (2, 9), (30, 0), (33, 4)])
        )
    assert held.tolist() == [True, False, True, True]


def _table(rows):
    columns = [[row[at] for row in rows] for at in (0, 1)]
    return pa.table(dict(zip(("puf", "eif"), (pa.array(own, pa.int32()) for own in columns), strict=True)))
