"""Inputs are found by their content, whatever their names; what is missing is named."""

import hashlib
import os
from pathlib import Path

import pytest
from reident.archive import inputs
from reident.errors import InputError

PUF, EIF = b"pufid,age\n1,34\n", b"eifid,age\n9,34\n7,35\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def document(*lines: tuple[str, bytes, str | None], files: tuple = ()) -> dict:
    def line(path: str, content: bytes, bag: str | None) -> dict:
        return {"path": path, "sha256": sha256(content), "size": len(content), "bag": bag}

    return {"inputs": [line(*item) for item in lines], "files": [line(*item) for item in files]}


BOTH = inputs.declared(document(("puf.csv", PUF, None), ("in/eif.csv", EIF, None)), trusted=False)


@pytest.fixture
def folder(tmp_path) -> Path:
    made = tmp_path / "vault"
    (made / "2026" / "deep").mkdir(parents=True)
    return made


def test_inputs_are_found_below_a_folder_under_other_names(folder, tmp_path):
    (folder / "a.bin").write_bytes(EIF)
    (folder / "2026" / "deep" / "b").write_bytes(PUF)
    search = inputs.find(BOTH, tmp_path, folder)
    assert search.paths == {sha256(EIF): folder / "a.bin", sha256(PUF): folder / "2026/deep/b"}
    assert (search.missing, search.unreadable) == ([], 0)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("puf.csv", PUF[:-2] + b"5\n", "a file of this name has other content"),
        ("puf.csv", PUF + b"2,35\n", "a file of this name has other content"),
        ("other.csv", PUF[:-2] + b"5\n", None),
    ],
)
def test_a_file_of_which_one_byte_differs_is_missing(folder, tmp_path, name, content, says):
    (folder / name).write_bytes(content)
    (folder / "eif").write_bytes(EIF)
    (missing,) = inputs.find(BOTH, tmp_path, folder).missing
    assert missing.input.path == "puf.csv"
    assert str(missing).startswith(f"puf.csv ({len(PUF)} bytes, SHA-256 {sha256(PUF)[:16]}…)")
    assert (says or "other content") in str(missing) or says is None
    assert missing.changed == (says is not None)


def test_inputs_in_the_bag_need_no_folder_but_code_in_it_needs_trust(tmp_path):
    (tmp_path / "data/inputs").mkdir(parents=True)
    (tmp_path / "data/study").mkdir()
    (tmp_path / f"data/inputs/{sha256(PUF)}.csv").write_bytes(PUF)
    (tmp_path / "data/study/own.py").write_bytes(EIF)
    content = document(
        ("puf.csv", PUF, f"inputs/{sha256(PUF)}.csv"), files=(("own.py", EIF, "study/own.py"),)
    )
    (missing,) = inputs.find(inputs.declared(content, trusted=False), tmp_path, None).missing
    assert missing.input.path == "own.py"
    assert "only with `--trust`" in str(missing)
    search = inputs.find(inputs.declared(content, trusted=True), tmp_path, None)
    assert set(search.paths) == {sha256(PUF), sha256(EIF)}


def test_links_are_not_followed_and_pipes_are_not_opened(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "puf.csv").write_bytes(PUF)
    (folder / "puf.csv").symlink_to(outside / "puf.csv")
    (folder / "loop").symlink_to(folder)
    (folder / "all").symlink_to(outside)
    os.mkfifo(folder / "eif.csv")
    assert len(inputs.find(BOTH, tmp_path, folder).missing) == 2


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Path.exists, "the folder does not exist. Correct `--inputs`."),
        (
            lambda path: path.write_bytes(PUF),
            "must be a folder, not a file. Name the folder that holds the inputs.",
        ),
    ],
)
def test_what_is_not_a_folder_is_refused_in_one_sentence(tmp_path, make, says):
    make(tmp_path / "in")
    with pytest.raises(InputError) as error:
        inputs.find(BOTH, tmp_path, tmp_path / "in")
    assert str(error.value).endswith(says)
