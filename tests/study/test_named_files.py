"""A file that a study names must exist, beside the study file."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from making import fonts
from making.examples import cases
from making.studies import files, plain, saved
from reident.study import model as studies
from reident.study import named_files

NAMES = [
    ("a brace", "e{if}.csv", "e{if}.csv contains a brace, which Snakemake reads as a wildcard. Rename the file"),
    ("too long", "x" * 5000, "… has a name of more than 255 bytes. Rename the file or its folder."),
    ("a NUL character", "e\0if.csv", "e?if.csv contains a NUL character. Correct the path."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "says"), cases(NAMES))
def test_impossible_paths_are_refused(tmp_path, name, says):
    path = saved(tmp_path, plain(files=files(puf={"path": name, "id": "p"})))
    problem, *_ = named_files.problems(studies.load(path), path)
    assert problem.startswith(f"{path}, line 4: `files.puf.path`: ")
    assert says in problem
    assert len(problem) < 700


def test_the_file_of_a_scoring_function_must_exist(tmp_path):
    rule = {"function": "own:score", "sha256": "0" * 64}
    path = saved(tmp_path, plain(metrics={"adhoc": {"scores": {"x": rule}}}))
    for name in ("puf.csv", "eif.csv", "iuf.csv"):
        (tmp_path / name).touch()
    (problem,) = named_files.problems(studies.load(path), path)
    assert "`metrics.adhoc.scores.x.function`: own.py does not exist" in problem
    (tmp_path / "own.py").touch()
    assert not list(named_files.problems(studies.load(path), path))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs the files of Linux")
def test_a_file_that_cannot_be_read_although_it_may_be_is_refused(tmp_path):
    path = saved(tmp_path, plain(files=files(puf={"path": "/proc/self/mem", "id": "k"})))
    problem, *_ = named_files.problems(studies.load(path), path)
    assert re.fullmatch(
        r".*study\.yaml, line \d+: `files\.puf\.path`: /proc/self/mem cannot be read \(Input/output error\)\. "
        r"Name another file, or check the disk\.",
        problem,
    ), problem


def compressed(file: Path) -> None:
    with TTFont(file) as font:
        font.flavor = "woff"
        font.save(file)


def without(table: str) -> Callable[[Path], None]:
    def drop(file: Path) -> None:
        with TTFont(file) as font:
            del font[table]
            font.save(file)

    return drop


DAMAGES = [
    ("nothing is wrong", lambda _: None, True),
    ("empty", lambda file: file.write_bytes(b""), False),
    ("a text", lambda file: file.write_text("letters"), False),
    ("cut", lambda file: file.write_bytes(file.read_bytes()[:-500]), False),
    ("for browsers", compressed, False),
    ("without outlines", without("glyf"), False),
    ("without letters", without("cmap"), False),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "is_font"), cases(DAMAGES))
def test_a_font_must_be_one(tmp_path, damage, is_font):
    path = saved(tmp_path, plain(font="letters.ttf"))
    for name in ("puf.csv", "eif.csv", "iuf.csv"):
        (tmp_path / name).touch()
    damage(fonts.write(tmp_path / "letters.ttf", "北京"))
    line = path.read_text().splitlines().index("font: letters.ttf") + 1
    says = "letters.ttf is not a TrueType or OpenType font. Name another file that ends in .ttf, .otf or .ttc."
    expected = [] if is_font else [f"{path}, line {line}: `font`: {says}"]
    assert list(named_files.problems(studies.load(path), path)) == expected
