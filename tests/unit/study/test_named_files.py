"""A file that a study names must exist, beside the study file."""

import re
from pathlib import Path

import pytest
from making.examples import cases
from making.studies import files, plain, saved
from reident.errors import InputError
from reident.study import model as studies
from reident.study import named_files

NAMES = [
    ("a brace", "e{if}.csv", "e{if}.csv contains a brace, which Snakemake reads as a wildcard. Rename the file"),
    ("too long", "x" * 5000, "… cannot be accessed (File name too long). Correct the path, or move the file."),
    ("a NUL character", "e\0if.csv", "e?if.csv contains a NUL character. Correct the path."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "says"), cases(NAMES))
def test_impossible_paths_are_refused(tmp_path, name, says):
    path = saved(tmp_path, plain(files=files(puf={"path": name, "id": "p"})))
    with pytest.raises(InputError) as caught:
        named_files.check_files(studies.load(path), path)
    assert str(caught.value).startswith(f"{path}, line 4: `files.puf.path`: ")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 700


def test_the_file_of_a_scoring_function_must_exist(tmp_path):
    rule = {"function": "own:score", "sha256": "0" * 64}
    path = saved(tmp_path, plain(metrics={"adhoc": {"scores": {"x": rule}}}))
    for name in ("puf.csv", "eif.csv", "iuf.csv"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"`metrics\.adhoc\.scores\.x\.function`: own\.py does not exist"):
        named_files.check_files(studies.load(path), path)
    (tmp_path / "own.py").touch()
    named_files.check_files(studies.load(path), path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs the files of Linux")
def test_a_file_that_cannot_be_read_although_it_may_be_is_refused(tmp_path):
    path = saved(tmp_path, plain(files=files(puf={"path": "/proc/self/mem", "id": "k"})))
    problem, *_ = named_files.problems(studies.load(path), path)
    assert re.fullmatch(
        r".*study\.yaml, line \d+: `files\.puf\.path`: /proc/self/mem cannot be read \(Input/output error\)\. "
        r"Name another file, or check the disk\.",
        problem,
    ), problem
