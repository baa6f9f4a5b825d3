"""Where a bag is unpacked: nothing is left of one that could not be, whatever ended the reader."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from making import bags
from reident.archive import unpack as unpacking
from reident.archive.verify import open_bag
from reident.errors import InputError

TAGS = "tagmanifest-sha512.txt"


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
        while not list(into.glob(f"*/{path.stem}/{TAGS}")):
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
