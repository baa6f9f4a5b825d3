"""The zip file of a bag: the same bytes for the same content, nothing half-written, nothing that a reader refuses."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from reident.archive import bag, layout
from reident.archive.bag import Item
from reident.archive.unpack import unpack
from reident.errors import InputError

INFO = {
    "Bag-Software-Agent": "reident 9",
    "External-Description": "Two\nlines  of\ttitle",
    "Bagging-Date": "2026-03-31",
}
TEXT = "\n".join(f"line {number} of a text, which deflates" for number in range(1000)).encode()


def items(folder: Path, text: bytes = TEXT) -> list[Item]:
    """A payload of bytes and files, not in order."""
    (folder / "files").mkdir(parents=True, exist_ok=True)
    source = folder / "files" / "puf.csv"
    source.write_bytes(text)
    sha256 = hashlib.sha256(text).hexdigest()
    return [
        Item("data/tables/rates.csv", source, sha256),
        Item("data/outputs.json", b"{}\n"),
        Item("data/study/étude.yaml", b"id: s\n"),
        Item(f"data/inputs/{sha256}.csv", source, sha256),
        Item("data/empty", b""),
    ]


def unsigned(_: bytes, __: Path) -> dict[str, bytes]:
    return {}


def written(folder: Path, payload: list[Item] | None = None, sign=unsigned) -> bag.Bag:
    target = folder / "sealed"
    target.mkdir(parents=True, exist_ok=True)
    return bag.write(target, "my-study", items(folder) if payload is None else payload, INFO, sign)


def inside(made: bag.Bag) -> dict[str, bytes]:
    """The files of a bag by their paths in its folder."""
    with zipfile.ZipFile(made.path) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def test_a_bag_has_manifests_of_every_file_and_the_name_of_its_digest(tmp_path):
    made, payload = written(tmp_path), items(tmp_path)
    files = inside(made)
    content = {
        item.path: item.content if isinstance(item.content, bytes) else item.content.read_bytes() for item in payload
    }
    assert {name: data for name, data in files.items() if name.startswith("data/")} == content
    manifest = "".join(f"{hashlib.sha512(content[name]).hexdigest()}  {name}\n" for name in sorted(content))
    assert files["manifest-sha512.txt"].decode() == manifest
    tags = ["bag-info.txt", "bagit.txt", "manifest-sha512.txt"]
    listed = "".join(f"{hashlib.sha512(files[name]).hexdigest()}  {name}\n" for name in tags)
    assert files["tagmanifest-sha512.txt"].decode() == listed
    assert made.digest == hashlib.sha512(listed.encode()).hexdigest()[:16]
    assert made.path.name == f"my-study-{made.digest}.zip"
    assert made.files == len(files) == len(payload) + 4
    lines = dict(line.split(": ", 1) for line in files["bag-info.txt"].decode().splitlines())
    assert lines.pop("External-Identifier").startswith("urn:uuid:")
    assert lines == {
        "Bag-Software-Agent": "reident 9", "Bagging-Date": "2026-03-31", "External-Description": "Two lines of title",
        "Payload-Oxum": f"{sum(map(len, content.values()))}.{len(content)}",
    }  # fmt: skip


def test_headers_have_one_time_one_mode_and_nothing_of_the_machine(tmp_path):
    with zipfile.ZipFile(written(tmp_path).path) as archive:
        entries = archive.infolist()
        assert archive.comment == b""
    names = [entry.filename.split("/", 1)[1] for entry in entries]
    assert names == [
        *sorted(n for n in names if n.startswith("data/")),
        *sorted(n for n in names if not n.startswith("data/")),
    ]
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {(entry.create_system, entry.external_attr >> 16) for entry in entries} == {(3, stat.S_IFREG | 0o600)}
    assert {(entry.extra, entry.comment) for entry in entries} == {(b"", b"")}
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}


def test_the_bag_is_its_owners_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made = written(tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700


def test_the_same_content_gives_the_same_bytes_in_any_order(tmp_path):
    one, other = written(tmp_path / "a"), written(tmp_path / "b", items(tmp_path / "b")[::-1])
    assert one.path.read_bytes() == other.path.read_bytes()
    assert one.path.name == other.path.name


def test_signatures_are_in_no_manifest_and_change_neither_name_nor_digest(tmp_path):
    first = written(tmp_path / "a")
    second = written(tmp_path / "b", items(tmp_path / "b"), lambda tags, _: {layout.SEAL_SIGNATURE: tags[:9]})
    assert (first.path.name, first.signature) == (second.path.name, None)
    assert inside(second) == {**inside(first), layout.SEAL_SIGNATURE: second.signature}


def test_what_is_added_later_leaves_every_byte_before_the_directory_as_it_was(tmp_path):
    made = written(tmp_path)
    before, content = inside(made), made.path.read_bytes()
    start = content.index(b"PK\x01\x02")
    added = {"signatures/0123456789abcdef.sig": b"s", "signatures/0123456789abcdef.json": b"{}"}
    bag.append(made.path, added)
    assert made.path.read_bytes()[:start] == content[:start]
    assert inside(made) == before | added
    assert unpack(made.path).top == made.path.stem


def test_a_file_that_changed_since_it_was_collected_is_refused(tmp_path):
    payload = items(tmp_path)
    (tmp_path / "files" / "puf.csv").write_bytes(TEXT[:-1] + b"X")
    with pytest.raises(
        InputError, match=r"data/\S+: the file changed while it was being sealed. Run the same command again."
    ):
        written(tmp_path, payload)
    assert list((tmp_path / "sealed").iterdir()) == []


NAMES = {
    "a line end": "data/study/a\nb.yaml",
    "a parent": "data/study/../b.yaml",
    "a backslash": "data/study/a\\b.yaml",
    "a colon": "data/study/a:b.yaml",
    "what a manifest would escape": "data/study/50%.yaml",
    "decomposed letters": "data/study/e\u0301tude.yaml",
    "a blank at the end": "data/study/a /b.yaml",
    "a very long name": f"data/study/{'ü' * 130}",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_some_system_cannot_have_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"the name of a file in a sealed study must not .* Rename the file\.$"):
        written(tmp_path, [Item(NAMES[name], b"")])


@pytest.mark.parametrize("other", ["data/study/Study.json", "data/study/study.json"])
def test_names_that_differ_only_by_case_are_refused(tmp_path, other):
    payload = [Item("data/study/study.json", b"1"), Item(other, b"2")]
    with pytest.raises(InputError, match="must not be the name of two files"):
        written(tmp_path, payload)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("after", [0, 1, 3, 8])
def test_a_full_disk_leaves_the_bag_that_was_there_and_nothing_else(tmp_path, monkeypatch, code, after):
    first = written(tmp_path)
    before, calls, add = first.path.read_bytes(), [0], bag._add

    def full(*arguments):
        calls[0] += 1
        if calls[0] > after:
            raise OSError(code, os.strerror(code))
        return add(*arguments)

    monkeypatch.setattr(bag, "_add", full)
    with pytest.raises(InputError, match=r"the disk is full. Make room on the disk and run the same command again\.$"):
        written(tmp_path)
    assert list(first.path.parent.iterdir()) == [first.path]
    assert first.path.read_bytes() == before


def test_a_file_that_cannot_be_read_gives_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"none: the file cannot be read or written \(No such file or directory\)"):
        written(tmp_path, [Item("data/x", tmp_path / "none")])
    assert list((tmp_path / "sealed").iterdir()) == []


def test_what_a_killed_command_left_is_removed_by_the_next(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "sealed").mkdir()
    code = f"""
from pathlib import Path
from reident.archive import bag
items = [bag.Item("data/a", b"a" * 10_000), bag.Item("data/b", Path({str(pipe)!r}))]
bag.write(Path({str(tmp_path / "sealed")!r}), "my-study", items, {{}}, lambda *_: {{}})
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    with pipe.open("wb"):  # opens once the other end reads: in the middle of the bag
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    (left,) = (tmp_path / "sealed").iterdir()
    assert left.name.startswith(".my-study.zip.")
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    made = written(tmp_path)
    assert list((tmp_path / "sealed").iterdir()) == [made.path]
