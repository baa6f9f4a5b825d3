"""A source file with its key on the disk: the order of keys, other files' keys, columns, whatever the batches."""

from contextlib import ExitStack, closing

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from reident.errors import InputError
from reident.intake import keys, ordering, sources, spool
from reident.intake.sources import Source, give, narrow
from reident.sections.files import SourceFile

FILE = SourceFile(path="f.csv")
KEY = st.sampled_from(["", "1", "01", "10", "2", "é", "𝄞", "a\0", "a"])
KEYS = st.lists(st.tuples(KEY, KEY), max_size=25, unique=True).map(
    lambda rows: [row for row in rows if any(row)]
)


def table(rows):
    columns = zip(*rows, strict=True) if rows else [(), ()]
    return pa.table({name: pa.array(own, pa.string()) for name, own in zip("ab", columns, strict=True)})


def batches(whole, size):
    return [whole.slice(start, size) for start in range(0, whole.num_rows, size)]


@examples(150)
@given(
    own=KEYS, other=KEYS, size=st.integers(1, 7), bucket=st.integers(1, 7), memory=st.sampled_from([0, 1000])
)
def test_keys_in_bounded_memory_are_those_of_one_table(tmp_path_factory, own, other, size, bucket, memory):
    own, other = table(own), table(other)
    folder = tmp_path_factory.mktemp("spool", numbered=True)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(ordering, "BUCKET", bucket)
        patch.setattr(ordering, "STRIDE", 2)
        patch.setattr(spool, "MAX_ROWS", memory)
        first, second = (
            stack.enter_context(closing(Source(FILE, ["a", "b"], ["a"], folder))).read(batches(rows, size))
            for rows in (own, other)
        )
        order = np.argsort(keys.codes([own], [["a", "b"]])[0], kind="stable")
        assert first.order().tolist() == order.tolist()
        assert first.rows(second).tolist() == keys.positions(own, ["a", "b"], other, ["a", "b"]).tolist()
        assert first["a"].to_pylist() == own["a"].to_pylist()
        assert first["a"].dictionary.to_pylist() == own["a"].unique().to_pylist()
        assert first.is_empty("a").tolist() == [text == "" for text in own["a"].to_pylist()]
        assert pa.concat_tables([own.slice(0, 0), *first.key_batches()]).equals(own)
        given_rows = []
        give(given_rows.append, {"n": narrow(pa.array(np.arange(len(order))))}, order, first.sorted_keys())
        found = pa.concat_tables([own.slice(0, 0).append_column("n", pa.array([], pa.int32())), *given_rows])
        assert found.equals(own.append_column("n", pa.array(np.arange(len(order)), pa.int32())).take(order))


def test_a_key_that_repeats_or_is_empty_is_refused_with_its_row():
    for rows, message in (
        ([("1", "x"), ("2", "x"), ("1", "x")], r"^f\.csv, row 4: the key \(a, b\) is not unique"),
        ([("1", "x"), ("", "")], r"^f\.csv, row 3, columns a, b: the key must not be empty"),
    ):
        with closing(Source(FILE, ["a", "b"], [])) as source, pytest.raises(InputError, match=message):
            source.read(batches(table(rows), 1)).order()


def test_a_file_without_a_key_is_in_its_own_order():
    with closing(Source(FILE, [], ["a"])) as source:
        source.read(batches(table([("2", ""), ("1", ""), ("2", "")]), 2))
        assert source.order().tolist() == [0, 1, 2]
        assert [batch.num_rows for batch in source.key_batches()] == [3]
        assert source["a"].indices.to_pylist() == [0, 1, 0]


@pytest.mark.parametrize("n", [2**7, 2**7 + 1, 2**15, 2**15 + 1])
def test_narrow_codes_are_given_as_they_were(n, monkeypatch):
    monkeypatch.setattr(sources, "ROWS", 1000)
    codes = pa.array([*range(n), None], pa.int32())
    texts = pa.DictionaryArray.from_arrays(codes, pa.array([str(code) for code in range(n)]))
    assert narrow(codes).type.bit_width == (8 if n <= 2**7 else 16 if n <= 2**15 else 32)
    found = []
    give(found.append, {"codes": narrow(codes), "texts": narrow(texts)}, np.arange(n + 1))
    whole = pa.concat_tables(found)
    assert whole["codes"].combine_chunks().equals(codes)
    assert whole["texts"].combine_chunks().equals(texts.cast(pa.string()))
    assert len(found) == -(-(n + 1) // 1000)
