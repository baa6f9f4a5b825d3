"""Records in the order of their keys, in buckets: sorted by code point, part by part, each with its row."""

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from reident.intake import ordering
from reident.intake.ordering import KeyedSpool, Ordered, Ranges, is_ascending

TEXT = st.text(alphabet=["a", "b", "0", "9", " ", "\0", "é", "\uffff", "𝄞"], max_size=3)


def spooled(keys, parts, sizes=1, folder=None):
    """A spool of keys and, beside them, their row as text."""
    columns = [pa.array([key[part] for key in keys], pa.string()) for part in range(parts)]
    table = pa.table([*columns, pa.array(map(str, range(len(keys))))], names=["k"] * parts + ["other"])
    spool = KeyedSpool(table.schema, parts, folder)
    for batch in table.to_batches(sizes):
        spool.append(batch)
    return spool


def rows(ordered):
    """The records, one by one, with their rows, and the sizes of the buckets."""
    found, sizes = [], []
    for bucket in ordered:
        *keys, other = (column.to_pylist() for column in bucket.table.columns)
        assert other == [str(row) for row in bucket.row.tolist()]
        found += zip(zip(*keys, strict=True), bucket.row.tolist(), strict=True)
        sizes.append(len(bucket.row))
    return found, sizes


@examples(200)
@given(
    data=st.data(),
    parts=st.integers(1, 2),
    sizes=st.integers(1, 6),
    bucket=st.integers(1, 9),
    stride=st.integers(1, 4),
    presorted=st.booleans(),
)
def test_records_come_as_python_sorts_them(data, parts, sizes, bucket, stride, presorted):
    keys = data.draw(st.lists(st.tuples(*[TEXT] * parts), max_size=40, unique=data.draw(st.booleans())))
    keys = sorted(keys) if presorted else keys
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering, "BUCKET", bucket)
        patch.setattr(ordering, "STRIDE", stride)
        spool = spooled(keys, parts, sizes)
        ordered = Ordered(spool)
        assert spool.ascending == all(one < other for one, other in pairwise(keys))
        if ordered.repeats:
            assert len(set(keys)) < len(keys)
            return
        found, sizes = rows(ordered)
    assert found == sorted((key, row) for row, key in enumerate(keys))
    ranges = [ordered.ranges.of(spool.key(bucket.table)).tolist() for bucket in ordered]
    assert ranges == [[at] * size for at, size in enumerate(sizes)]


def test_a_key_that_repeats_more_often_than_a_bucket_is_known_to(monkeypatch):
    monkeypatch.setattr(ordering, "BUCKET", 10)
    monkeypatch.setattr(ordering, "STRIDE", 2)
    ordered = Ordered(spooled([("b",), *[("a",)] * 100], 1, 7))
    assert ordered.repeats
    tables = [bucket.table for bucket in ordered]
    assert {table.num_columns for table in tables} == {1}
    assert sum(table.num_rows for table in tables) == 101


def test_buckets_are_about_as_large_as_they_should_be(monkeypatch):
    monkeypatch.setattr(ordering, "BUCKET", 100)
    monkeypatch.setattr(ordering, "STRIDE", 3)
    keys = [(f"{at * 7919 % 10_007:05}",) for at in range(5_000)]
    sizes = rows(Ordered(spooled(keys, 1, 50)))[1]
    assert len(sizes) == 50
    assert max(sizes) < 200


ASCENDING = [
    ([], True),
    (["a"], True),
    (["a", "b"], True),
    (["a", "a"], False),
    (["b", "a"], False),
    (["\uffff", "𝄞"], True),
]


@pytest.mark.parametrize(("keys", "ascends"), ASCENDING)
def test_keys_ascend_by_code_point(keys, ascends):
    assert is_ascending(pa.table({"0": pa.array(keys, pa.string())})) is ascends


def test_one_range_has_every_key():
    nothing = pa.table({"0": pa.array([], pa.string())})
    assert Ranges(nothing).of(pa.table({"0": ["", "z"]})).tolist() == [0, 0]
