"""Compressed records of SAS data sets are what a decompression byte by byte gives, whatever the bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import sas_rows
from making.examples import examples
from oracles import unpacking as oracle
from reident.kernels.unpacking import REPEATS, RUNS, STORED, decompressed

METHODS = {RUNS: (sas_rows.run_lengths, oracle.by_runs), REPEATS: (sas_rows.ross, oracle.by_repeats)}
SIZES = [1, 2, 3, 16, 17, 18, 19, 64, 65, 95, 96, 111, 112, 271, 400]
LONG = [4112, 4113, 4114, 4115, 4159, 4160, 4161, 8255, 8256, 9000]


def one(content, method, width):
    """One record, or None if it is not whole."""
    records, n = decompressed(
        np.frombuffer(content, np.uint8),
        np.array([0]),
        np.array([len(content)]),
        np.array([method], np.uint8),
        width,
    )
    return records[0].tobytes() if n else None


@st.composite
def records(draw):
    """Runs of bytes, bytes that differ, and what was there before."""
    record = b""
    for _ in range(draw(st.integers(1, 6))):
        size = draw(st.sampled_from(SIZES))
        kind = draw(st.sampled_from(["run", "bytes", "repeat"]))
        if kind == "run":
            record += draw(st.sampled_from([b"\0", b" ", b"@", b"x"])) * size
        elif kind == "bytes":
            record += bytes(draw(st.lists(st.integers(0, 255), min_size=size, max_size=size)))
        else:
            record += record[draw(st.integers(0, len(record))) :][:size]
    return record or b"x"


@pytest.mark.parametrize("method", METHODS)
@examples(60)
@given(record=records(), data=st.data())
def test_a_compressed_record_is_the_record(method, record, data):
    compress, slow = METHODS[method]
    content = compress(record)
    assert one(content, method, len(record)) == record == slow(content, len(record))
    assert one(content, method, len(record) + 1) is None
    changed = bytearray(content)
    changed[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(changed[: data.draw(st.integers(0, len(content)))])
    for damaged in (bytes(changed), cut):
        assert one(damaged, method, len(record)) == slow(damaged, len(record))


@pytest.mark.parametrize("method", METHODS)
@examples(100)
@given(content=st.binary(max_size=40), width=st.integers(1, 60))
def test_any_bytes_are_the_same_record_or_none(method, content, width):
    assert one(content, method, width) == METHODS[method][1](content, width)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", LONG)
@pytest.mark.parametrize("byte", [0, 32, 64, 120, None])
def test_long_runs_and_long_texts(method, size, byte):
    same = (
        np.random.default_rng(size).integers(0, 256, size).astype(np.uint8).tobytes()
        if byte is None
        else None
    )
    record = b"start" + (same or bytes([byte]) * size) + b"end"
    if method == REPEATS and byte is None:
        record = record[:1000]  # the compression compares each byte with all before
    assert one(METHODS[method][0](record), method, len(record)) == record


def test_records_of_several_methods_are_in_order_up_to_the_first_that_is_not_whole():
    parts = [b"plain", sas_rows.run_lengths(b"aaaaa"), sas_rows.ross(b"bbbbb"), b"no"]
    sizes = np.array([len(part) for part in parts])
    starts = np.cumsum(sizes) - sizes
    content = np.frombuffer(b"".join(parts), np.uint8)
    found, n = decompressed(content, starts, sizes, np.array([STORED, RUNS, REPEATS, STORED], np.uint8), 5)
    assert [row.tobytes() for row in found[:n]] == [b"plain", b"aaaaa", b"bbbbb"]
    with pytest.raises(ValueError, match="inside the content"):
        decompressed(content, starts + 3, sizes, np.zeros(4, np.uint8), 5)
