"""What waits on the disk is read back as it was, has no name there, and takes its room with it."""

import os

import pyarrow as pa
import pytest
from reident.intake import spool
from reident.intake.spool import Spool

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.float64())])


def batch(*texts):
    numbers = [None if text == "" else float(len(text)) for text in texts]
    return pa.record_batch([pa.array(texts, pa.string()), pa.array(numbers, pa.float64())], schema=SCHEMA)


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 100])
def test_batches_are_read_back_as_they_were(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(spool, "MAX_ROWS", limit)
    batches = [batch("x", "", "é\0"), batch("a\nb"), batch("𝄞", "")]
    with Spool(SCHEMA, tmp_path) as own:
        assert [own.append(one) for one in batches] == [0, 1, 2]
        assert own.sizes == [3, 1, 2]
        assert own.rows == 6
        assert list(own) == batches
        assert list(own) == batches
        assert own.table([2, 0]).to_pylist() == pa.Table.from_batches([batches[2], batches[0]]).to_pylist()
        assert own.table([2, 0])["a"].num_chunks == 1


def test_a_slice_takes_the_room_of_its_own_rows_only(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "MAX_ROWS", 0)
    whole = batch(*["a long text that many records have"] * 10_000)
    with Spool(SCHEMA, tmp_path) as own:
        own.append(whole.slice(5_000, 2))
        assert own._file is not None
        assert os.fstat(own._file.fileno()).st_size < 2_000
        assert list(own) == [whole.slice(5_000, 2)]


def test_the_file_has_no_name_and_is_gone_with_the_spool(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "MAX_ROWS", 0)
    own = Spool(SCHEMA, tmp_path)
    own.append(batch("x"))
    assert own._file is not None
    descriptor = own._file.fileno()
    assert os.fstat(descriptor).st_mode & 0o077 == 0
    assert os.fstat(descriptor).st_nlink == 0
    assert list(tmp_path.iterdir()) == []
    own.close()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)


def test_without_a_folder_everything_stays_in_memory(monkeypatch):
    monkeypatch.setattr(spool, "MAX_ROWS", 0)
    with Spool(SCHEMA) as own:
        own.append(batch("x"))
        assert own._file is None
        assert list(own) == [batch("x")]
