"""Files of statistical programs give the text of what was written; damaged ones give records or one sentence."""

import re
import struct

import numpy as np
import pandas as pd
import pyreadstat
from hypothesis import given
from hypothesis import strategies as st
from making import sas7bdat
from making.examples import examples
from making.formats import ENDINGS
from reident import reading
from reident.errors import InputError
from reident.reading import statistical
from reident.reading.numbers import EXACT, double_text
from reident.sections.files import SourceFile

KINDS = ["stata", "spss", "xport", "sas7bdat"]
NUMBERS = [0.0, -0.0, 1.0, -99.0, 151.0, 0.5, 0.1, 1 / 3, 123456.789, 1e-4, 1e20, 2.0**53, np.nan]
TEXTS = ["", "x", " 01", "ab  ", "é", "Zoé ", "eight ch", "123456789", "ein längerer Text", "𝄞"]
SENTENCE = re.compile(r"f\.\w+[:,] .*\. [A-Z].*\.")


@st.composite
def frames(draw):
    """Columns of text and of numbers, from no record to some."""
    n = draw(st.integers(0, 12))
    columns = {}
    for at in range(draw(st.integers(1, 5))):
        cell = st.sampled_from(TEXTS) if draw(st.booleans()) else st.sampled_from(NUMBERS)
        columns[f"c{at}"] = draw(st.lists(cell, min_size=n, max_size=n))
    return columns


def write(columns, path, kind, *, other):
    """Write a file of one of the formats; `other`: an older version, or records that are compressed."""
    if kind == "sas7bdat":
        path.write_bytes(sas7bdat.content(columns, encoding="utf-8"))
        return
    frame = pd.DataFrame({name: pd.Series(cells, dtype=None if cells else float) for name, cells in columns.items()})
    if kind == "stata":
        pyreadstat.write_dta(frame, path, version=13 if other else 15)
    elif kind == "spss":
        pyreadstat.write_sav(frame, path, compress=other)
    else:
        pyreadstat.write_xport(frame, path, file_format_version=5 if other else 8)


def expected(cell):
    """The text of a cell; the formats keep no blanks at the end of a text."""
    return slow_text(np.float64(cell)) if isinstance(cell, float) else cell


@examples(100)
@given(frames(), st.sampled_from(KINDS), st.booleans(), st.sampled_from([1, 2, 5, 100_000]))
def test_files_give_the_text_of_what_was_written(tmp_path_factory, columns, kind, other, size):
    path = tmp_path_factory.mktemp("read", numbered=True) / f"f.{ENDINGS[kind]}"
    write(columns, path, kind, other=other)
    before, statistical._BATCH = statistical._BATCH, size
    try:
        encoding = "utf-8" if kind == "stata" else None  # the older version does not name one
        table = reading.read(path, SourceFile(path=path.name, encoding=encoding), [*columns][::-1])
    finally:
        statistical._BATCH = before
    for name, cells in columns.items():
        stored = [text.rstrip(" ") for text in table[name].to_pylist()]
        assert stored == [expected(cell).rstrip(" ") for cell in cells]


@examples(150)
@given(
    frames(),
    st.sampled_from(KINDS),
    st.booleans(),
    st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=3),
    st.just(0) | st.integers(0, 400),
)
def test_a_damaged_file_gives_records_or_one_sentence(tmp_path_factory, columns, kind, other, changes, cut):
    path = tmp_path_factory.mktemp("read", numbered=True) / f"f.{ENDINGS[kind]}"
    write(columns, path, kind, other=other)
    content = bytearray(path.read_bytes())
    for at, byte in changes:
        content[at % len(content)] = byte
    path.write_bytes(content[: len(content) - cut])
    outcome = records_or_sentence(path, [*columns])
    if isinstance(outcome, str):
        assert SENTENCE.fullmatch(outcome), outcome
        assert not any(text in outcome for text in TEXTS if len(text) > 5)
    else:
        assert outcome.column_names == [*columns]


def records_or_sentence(path, wanted):
    """What reading gives, or the message of its error."""
    try:
        return reading.read(path, SourceFile(path=path.name), wanted, wanted[:1])
    except InputError as error:
        return str(error)


def slow_text(value):
    """The text of one number, by Python and numpy."""
    number = float(value)
    if number != number:
        return ""
    if number.is_integer() and abs(number) < EXACT[value.dtype]:
        return str(int(number))
    return repr(number) if value.dtype == np.float64 else str(value)


@examples(300)
@given(
    values=st.lists(
        st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0])
        | st.integers(-(10**8), 10**8).map(lambda cents: cents / 100)
        | st.sampled_from([*NUMBERS, 9.99e-4, 1e-3, 99_999.5, 1e5, 2.0**24, np.inf, -np.inf])
    ),
    kind=st.sampled_from(["float64", "float64", "float32", "float16"]),
)
def test_the_text_of_a_number_is_that_of_python(values, kind):
    with np.errstate(over="ignore"):
        numbers = np.array(values, np.float64).astype(kind)
    assert double_text(numbers).to_pylist() == [slow_text(value) for value in numbers]
