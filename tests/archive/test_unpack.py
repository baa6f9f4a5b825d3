"""Zip files that are not written as a bag is, and where a bag is unpacked: nothing is left of one that could not be."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from making import archives, bags
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


# Where a bag is unpacked, whatever ends the reader


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_gets_full_leaves_nothing(number, files, tmp_path, monkeypatch):
    path, fdopen, opened = bags.written(tmp_path, files), os.fdopen, []

    def full(*arguments):
        opened.append(arguments)
        if len(opened) > 5:
            raise OSError(number, os.strerror(number))
        return fdopen(*arguments)

    monkeypatch.setattr(unpacking.os, "fdopen", full)
    with pytest.raises(InputError, match="not enough room on the disk"):
        open_bag(path, tmp_path / "into")
    assert list((tmp_path / "into").iterdir()) == []


def test_a_reader_that_was_killed_leaves_no_bag(files, tmp_path):
    path = bags.written(tmp_path, files)
    program = (
        "import sys, time; from pathlib import Path; from reident.archive import verify\n"
        "verify._verify = lambda *_: time.sleep(600)\n"
        "verify.open_bag(Path(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    into = tmp_path / "into"
    reader = subprocess.Popen([sys.executable, "-c", program, str(path), str(into)])
    try:
        until = time.monotonic() + 60
        while not list(into.glob(f"*/{path.stem}/{layout.TAG_MANIFEST}")):
            assert time.monotonic() < until
            time.sleep(0.05)
        (left,) = into.iterdir()
        assert not (into / path.stem).exists()
        assert left.stat().st_mode & 0o777 == 0o700
        open_bag(path, into)
        assert left.exists()  # the other reader is still at work
        shutil.rmtree(into / path.stem)
    finally:
        reader.send_signal(signal.SIGKILL)
        reader.wait()
    verified = open_bag(path, into)
    assert list(into.iterdir()) == [verified.folder]
