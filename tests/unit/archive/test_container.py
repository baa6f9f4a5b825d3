"""Zip files that are not written as a bag is."""

import os
import random
import struct
import zipfile
import zlib

import pytest
from making import archives, bags
from making.archives import HOSTILE, TOP
from reident.archive import container
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
    assert shown.endswith(container.REMEDY)


def test_the_files_of_which_these_are_made_are_read(tmp_path):
    path = tmp_path / "plain.zip"
    for archive, names in (
        (archives.zipped(), ["a", "b"]),
        (archives.wide_end(), ["a", "b"]),
        (archives.named(f"{TOP}/a"), ["a"]),
        (archives.zipped(("å", b"")), ["å"]),
        (archives.deflated(archives.stream(), b"content " * 9), ["a"]),
        (archives.zipped(("a", archives.ZEROS * 63)), ["a"]),
    ):
        path.write_bytes(archive)
        assert list(unpack(path).files) == names


def test_every_byte_and_every_bit_of_a_compressed_stream_counts(tmp_path):
    path = tmp_path / "plain.zip"
    draw = random.Random(1)  # noqa: S311 - any contents
    for content in (b"", b"a", b"ab" * 500, draw.randbytes(50), bytes(draw.choices(b"abcdef\n", k=400))):
        stream = archives.stream(content)
        for at in range(len(stream)):
            for bit in range(8):
                changed = bytearray(stream)
                changed[at] ^= 1 << bit
                path.write_bytes(archives.deflated(bytes(changed), content))
                try:
                    read = unpack(path)
                except InputError:
                    continue
                assert read.packed_otherwise  # two streams for one content
                assert read.files["a"].sha512 == bags.sha512(content)


def test_room_for_numbers_of_64_bits_may_be_left(tmp_path):
    """A writer who does not know how large a file will be leaves room for 64 bits."""
    path = tmp_path / "room.zip"
    with (
        zipfile.ZipFile(path, "w") as archive,
        archive.open(bags.header(f"{TOP}/a"), "w", force_zip64=True) as target,
    ):
        target.write(b"content")
    assert unpack(path).files["a"].sha512 == bags.sha512(b"content")


def test_a_file_of_more_than_2_gib_is_read(tmp_path):
    """A sparse file: the zip holds 2 GiB of zeros, stored, of which the disk keeps none."""
    path, size = tmp_path / "large.zip", 2**31 + 10
    raw = f"{TOP}/a".encode()
    crc = crc_of_zeros(size)
    extra = struct.pack("<2H2Q", 1, 16, size, size)
    numbers = (crc, archives.MAX_32, archives.MAX_32, len(raw), len(extra))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0, 0, 0, 0x21, *numbers) + raw + extra
    fields = (3 << 8 | 45, 45, 0, 0, 0, 0x21, *numbers, 0, 0, 0, 0o100600 << 16, 0)
    table = struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields) + raw + extra
    start = len(local) + size
    with path.open("wb") as file:
        file.write(local)
        file.seek(start)
        file.write(archives.rebuilt(b"", table, 1, start=start))
    assert len(container.Container(path).entries) == 1
    os.truncate(path, start)
    with pytest.raises(InputError, match="cut"):
        container.Container(path)


def crc_of_zeros(size):
    crc = 0
    for at in range(0, size, 2**24):
        crc = zlib.crc32(bytes(min(2**24, size - at)), crc)
    return crc
