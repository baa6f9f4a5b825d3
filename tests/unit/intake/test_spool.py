"""What waits on the disk has no name there, and is gone with the spool."""

import os

import pyarrow as pa
import pytest
from reident.intake import spool
from reident.intake.spool import Spool

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.float64())])


def batch(*texts):
    numbers = [None if text == "" else float(len(text)) for text in texts]
    return pa.record_batch([pa.array(texts, pa.string()), pa.array(numbers, pa.float64())], schema=SCHEMA)


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
