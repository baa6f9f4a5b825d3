"""The fast reader of CSV gives what the exact one gives, errors included, wherever a block of the file ends."""

import gzip

from hypothesis import example, given
from hypothesis import strategies as st
from making.examples import examples
from reident import reading
from reident.errors import InputError
from reident.reading import blocks, delimited
from reident.sections.files import SourceFile

PIECES = [
    "a", "b", "1", "", ",", ",", ",", '"', '"', '""', "\n", "\n", "\r\n", "\r", "\0", " ", ";", "'", "é", "𝄞", "\ufeff",
]  # fmt: skip
"""What a hostile file is put together from."""

FIELDS = [
    "", "x", " 01 ", "NA", "é𝄞", '"q"', '"a,b"', '"a\nb"', '"a\r\nb"', '"say ""x"""', '""', '""""', "5'10",
]  # fmt: skip
"""Regular fields, and some that are regular only for one of the two readers."""

ODD = ["", "", "", "", '5"', '"x"y', '"', "\r", "\0", "é,", '"a\rb"']
CODECS = [
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1", "ascii", "cp037", "utf-7",
]  # fmt: skip


@st.composite
def regular(draw):
    """A file of two or three columns with regular fields, and seldom something else."""
    width, end = draw(st.sampled_from([1, 2, 2, 3])), draw(st.sampled_from(["\n", "\n", "\r\n"]))
    field = st.sampled_from(FIELDS)
    rows = draw(st.lists(st.lists(field, min_size=width, max_size=width), max_size=12))
    text = end.join(",".join(row) for row in [["a", "b", "c"][:width], *rows])
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(st.sampled_from(ODD)) + text[at:] + draw(st.sampled_from([end, end, "", end + end]))


@st.composite
def contents(draw):
    """The bytes of a file, and the encoding that it is declared with."""
    hostile = st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: "a,b\n" + "".join(pieces))
    text, codec = draw(regular() | hostile), draw(st.sampled_from(["utf-8", "utf-8", *CODECS]))
    content = text.encode(codec, "replace")
    if draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.sampled_from([b"\xff", b"\xe9", b"\0", b"\xed\xa0\x80"])) + content[at:]
    if draw(st.integers(0, 5)) == 0:
        content = gzip.compress(content, mtime=0)
        content = content[: len(content) - draw(st.sampled_from([0, 0, 3, 9]))]
    return content, codec


def outcome(read, *what):
    """The columns, or the message of the error."""
    try:
        batches = list(read(*what))
    except InputError as error:
        return str(error)
    return [[text for batch in batches for text in batch.column(at).to_pylist()] for at in range(len(what[2]))]


@examples(300)
@given(
    file=contents(),
    size=st.sampled_from([1, 2, 3, 7, 16, 61, blocks.BLOCK]),
    quote=st.sampled_from(['"', '"', '"', "'", ""]),
    wanted=st.sampled_from([("a",), ("a",), ("b", "a"), ("a", "b", "c")]),
)
@example((b"a\n\n", "utf-8"), 2, '"', ("a",))
@example((b"a\n1\n\r\n2\n", "utf-8"), blocks.BLOCK, '"', ("a",))
@example((b'a,b\n"1","2"\n"\xed\xa0\x80",2\n', "utf-8"), 16, '"', ("b", "a"))
@example((b"a,b\n\xef\xbb\xbfx,y\n", "utf-8"), 1, '"', ("b", "a"))
@example((b'"a","b"\n"x""",""""\n', "utf-8"), 3, '"', ("b", "a"))
def test_the_fast_reader_gives_what_the_exact_one_gives(tmp_path_factory, file, size, quote, wanted):
    content, codec = file
    path = tmp_path_factory.mktemp("read", numbered=True) / "f.csv"
    path.write_bytes(content)
    source = SourceFile(path="f.csv", encoding=codec, quote=quote)
    before, blocks.BLOCK = blocks.BLOCK, size
    try:
        fast = outcome(reading.batches, path, source, wanted)
    finally:
        blocks.BLOCK = before
    with reading.readable(path, source):
        exact = outcome(delimited.exact_batches, path, source, wanted)
    assert fast == exact
