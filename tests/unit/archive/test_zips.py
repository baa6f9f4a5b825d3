"""Zip files that are not written as a bag is."""

import os
import random
import struct
import zlib
from pathlib import Path

import pytest
from making import archives
from making.archives import HOSTILE, TOP
from reident.archive import bag, layout
from reident.archive import unpack as unpacking
from reident.archive.bag import Item
from reident.archive.unpack import unpack
from reident.archive.verify import open_bag
from reident.errors import InputError


def refused(path):
    """The sentence with which a file is refused, and nothing of it is left."""
    into = path.parent / "into"
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(InputError) as error:
        open_bag(path, into)
    assert sorted(set(path.parent.rglob("*")) - {into}) == before
    assert list(into.iterdir()) == []
    return str(error.value)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_is_refused_in_one_sentence(case, tmp_path):
    sentence, make = HOSTILE[case]
    path = tmp_path / f"{TOP}.zip"
    path.write_bytes(make())
    shown = refused(path)
    assert sentence in shown
    assert shown.startswith(f"{path}: ")
    assert shown.isprintable()
    assert shown.endswith(unpacking.REMEDY)


def test_the_files_of_which_these_are_made_are_read(tmp_path):
    path = tmp_path / "plain.zip"
    for archive, names in (
        (archives.zipped(), ["a", "b"]),
        (archives.named(f"{TOP}/a"), ["a"]),
        (archives.zipped(("å", b"")), ["å"]),
        (archives.deflated(archives.stream(), b"content " * 9), ["a"]),
        (archives.zipped(("a", archives.ZEROS * 63)), ["a"]),
    ):
        path.write_bytes(archive)
        assert list(unpack(path).files) == names


def test_a_flipped_bit_and_another_byte_at_every_place_of_a_bag_are_refused(tmp_path):
    payload = [Item("data/a.csv", b"a,b\n1,2\n"), Item("data/empty", b""), Item("data/\u00e9tude", b"x" * 40)]
    made = bag.write(tmp_path, "s", payload, {}, lambda *_: {layout.SEAL_SIGNATURE: b"signature"})
    content, path = made.path.read_bytes(), tmp_path / "changed.zip"
    assert 2_000 < len(content) < 4_000
    assert len(unpack(made.path).files) == made.files
    draw = random.Random(1)  # noqa: S311 - any other byte
    for at in range(len(content)):
        for change in (1 << at % 8, draw.randrange(1, 256)):
            changed = bytearray(content)
            changed[at] ^= change
            path.write_bytes(changed)
            with pytest.raises(InputError):
                unpack(path)


def test_every_other_bit_of_an_older_bag_is_refused(tmp_path):
    """Release 0.2.0 deflated the files of a bag."""
    (golden,) = (Path(__file__).parents[2] / "golden").glob("*.zip")
    content, path = golden.read_bytes(), tmp_path / "changed.zip"
    draw = random.Random(2)  # noqa: S311 - any bits
    for at in draw.sample(range(len(content)), 300):
        changed = bytearray(content)
        changed[at] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(InputError):
            unpack(path)


def test_every_other_bit_of_a_compressed_stream_is_refused(tmp_path):
    path = tmp_path / "plain.zip"
    draw = random.Random(1)  # noqa: S311 - any contents
    for content in (b"", b"a", b"ab" * 500, draw.randbytes(50), bytes(draw.choices(b"abcdef\n", k=400))):
        stream = archives.stream(content)
        path.write_bytes(archives.deflated(stream, content))
        assert [file.text for file in unpack(path).files.values()] == [content]
        for at in range(len(stream)):
            for bit in range(8):
                changed = bytearray(stream)
                changed[at] ^= 1 << bit
                path.write_bytes(archives.deflated(bytes(changed), content))
                with pytest.raises(InputError):
                    unpack(path)


@pytest.mark.parametrize(
    ("limit", "most", "sentence"),
    [
        ("MAX_ENTRIES", 1, "the bag must have at least one file, and at most 1 files"),
        ("MAX_TABLE", 100, "the file is not a complete zip file"),
        ("MAX_SIZE", 5, "must have at most"),
    ],
)
def test_limits_hold_before_a_file_is_read(limit, most, sentence, tmp_path, monkeypatch):
    path = tmp_path / "plain.zip"
    path.write_bytes(archives.zipped())
    monkeypatch.setattr(unpacking, limit, most)
    monkeypatch.setattr(unpacking, "_read", None)
    with pytest.raises(InputError, match=sentence):
        unpack(path)


@pytest.mark.slow
def test_a_file_of_more_than_2_gib_is_read(tmp_path):
    """A sparse file: the zip holds 2 GiB of zeros, stored, of which the disk keeps none."""
    path, size = tmp_path / "large.zip", 2**31 + 10
    raw = f"{TOP}/data/code/a".encode()  # not kept in memory
    crc = crc_of_zeros(size)
    extra = struct.pack("<2H2Q", 1, 16, size, size)
    numbers = (crc, archives.MAX_32, archives.MAX_32, len(raw), len(extra))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0, 0, 0, 0x21, *numbers) + raw + extra
    fields = (3 << 8 | 45, 45, 0, 0, 0, 0x21, *numbers, 0, 0, 0, 0o100600 << 16, 0)
    table = struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields) + raw + extra
    start = len(local) + size
    end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(table), start)
    end += struct.pack("<4sLQL", b"PK\6\7", 0, start + len(table), 1)
    end += struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(table), start, 0)
    with path.open("wb") as file:
        file.write(local)
        file.seek(start)
        file.write(table + end)
    assert [file.size for file in unpack(path).files.values()] == [size]
    os.truncate(path, start)
    with pytest.raises(InputError, match="not a complete zip file"):
        unpack(path)


def crc_of_zeros(size):
    crc = 0
    for at in range(0, size, 2**24):
        crc = zlib.crc32(bytes(min(2**24, size - at)), crc)
    return crc
