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
    content = document(("puf.csv", PUF, f"inputs/{sha256(PUF)}.csv"), files=(("own.py", EIF, "study/own.py"),))
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
        (lambda path: path.write_bytes(PUF), "must be a folder, not a file. Name the folder that holds the inputs."),
    ],
)
def test_what_is_not_a_folder_is_refused_in_one_sentence(tmp_path, make, says):
    make(tmp_path / "in")
    with pytest.raises(InputError) as error:
        inputs.find(BOTH, tmp_path, tmp_path / "in")
    assert str(error.value).endswith(says)


LINKS = b"pufid,eifid\n1,9\n"


def without_digest(path: str) -> inputs.Input:
    return inputs.Input(path, None, None, None)


def test_an_input_without_a_digest_is_the_one_file_of_its_name(folder, tmp_path):
    wanted = [*BOTH, without_digest("in/links.csv")]
    (folder / "links.csv").write_bytes(LINKS)
    (folder / "2026" / "links.csv").write_bytes(LINKS)
    search = inputs.find(wanted, tmp_path, folder)
    assert search.paths["in/links.csv"].read_bytes() == LINKS
    assert [missing.input for missing in search.missing] == BOTH


def test_two_different_files_of_its_name_are_none(folder, tmp_path):
    (missing,) = inputs.find([without_digest("links.csv")], tmp_path, folder).missing
    assert str(missing) == "links.csv (found by its name alone, as the bag has no digest of it)"
    (folder / "links.csv").write_bytes(LINKS)
    (folder / "2026" / "links.csv").write_bytes(LINKS[:-2] + b"8\n")
    (missing,) = inputs.find([without_digest("links.csv")], tmp_path, folder).missing
    assert str(missing).endswith("; files of this name differ, or cannot be read")


def test_the_digest_of_what_an_intruder_lacks_is_in_no_message(folder, tmp_path):
    """Bags of layout 1 have it, and look for the file by it."""
    found = document(("links.csv", LINKS, None))
    found["inputs"][0]["sides"] = ["iuf"]
    (declared,) = inputs.declared(found, trusted=False)
    (missing,) = inputs.find([declared], tmp_path, folder).missing
    assert str(missing) == f"links.csv ({len(LINKS)} bytes)"
    (folder / "other").write_bytes(LINKS)
    assert inputs.find([declared], tmp_path, folder).missing == []


def test_a_name_that_no_file_system_has_is_missing(tmp_path):
    (missing,) = inputs.find([without_digest(f"/{'a' * 300}")], tmp_path, None).missing
    assert missing.changed is False
