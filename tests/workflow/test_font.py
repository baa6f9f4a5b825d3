"""A study names the font of its labels: in report and edition, when it changes, and in a sealed study."""

from __future__ import annotations

import copy
import io
import os
import re
from pathlib import Path

import pytest
from making import fonts as made
from pypdf import PdfReader
from reident.page import fonts
from workflow.commands import PRELOADED, Ended, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

LABELS = {"N": "北京", "E": "上海", "S": "서울", "W": "กรุงเทพ"}
LETTERS = "".join(LABELS.values())
N_LETTERS = len(set(LETTERS))
STEPS = ("report", "edition")
FONT = "fonts/letters.ttf"


def write(folder: Path, **more) -> Path:
    """The small study with an edition, whose strata have labels that no font of the report has."""
    study = copy.deepcopy(small.STUDY) | {"metrics": {"taxicab": {}}, "agency": LABELS["N"], **more}
    study["strata"][0]["labels"] = LABELS
    study["release"] = {"policy": "opensafely", "strata": True}
    (folder / "fonts").mkdir(parents=True, exist_ok=True)
    return small.write(folder, study)


def run(folder: Path, *arguments: str) -> Ended:
    return snakemake(*arguments, studies=["../in/small.yaml"], folder=folder / "run", program=PRELOADED)


def warnings(text: str) -> list[str]:
    return re.findall("^Warning: .*", text, re.MULTILINE)


def logs(folder: Path) -> str:
    return "".join((folder / f"run/results/small/logs/{step}.log").read_text() for step in STEPS)


def reports(folder: Path) -> list[Path]:
    return [folder / "run/reports/small" / name for name in ("disclosure-review", "releasable/edition")]


def test_a_font_in_pages_and_figures_when_it_changes_and_sealed(tmp_path):
    write(tmp_path / "in")
    ended = run(tmp_path)
    assert ended.code == 0, ended.shown
    (sentence,) = set(warnings(ended.shown))
    assert sentence.startswith(f"Warning: {N_LETTERS} letters of the labels are in no font of the report")
    assert warnings(ended.shown) == warnings(logs(tmp_path)) == [sentence] * 2
    assert "@font-face" not in reports(tmp_path)[0].with_suffix(".html").read_text(encoding="utf-8")

    made.write(tmp_path / "in" / FONT, LETTERS)
    write(tmp_path / "in", font=FONT)
    ended = run(tmp_path)
    assert ended.code == 0, ended.shown
    assert ended.planned == {"resolve": 1, "report": 1, "edition": 1}
    assert warnings(ended.shown) == warnings(logs(tmp_path)) == []
    for page in reports(tmp_path):
        assert f'--sans: "{fonts.FAMILY}", ' in page.with_suffix(".html").read_text(encoding="utf-8")
        sheets = PdfReader(io.BytesIO(page.with_suffix(".pdf").read_bytes())).pages
        assert LABELS["N"] in "".join(sheet.extract_text() for sheet in sheets)
    notebook = (tmp_path / "run/results/small/disclosure-review.ipynb").read_text(encoding="utf-8")
    assert made.POSTSCRIPT in notebook, "figures have its letters"
    assert str(tmp_path) not in notebook

    before = (tmp_path / "in" / FONT).stat()
    made.write(tmp_path / "in" / FONT, LETTERS, first="B")
    os.utime(tmp_path / "in" / FONT, ns=(before.st_atime_ns, before.st_mtime_ns))
    checked = reident("check", "../in/small.yaml", folder=tmp_path / "run")
    assert checked.code == 1
    assert f"sources that changed after a step read them: ../in/{FONT}" in checked.shown
    assert checked.advice == "--forcerun edition report"
    ended = run(tmp_path)
    assert ended.code == 0, ended.shown
    assert ended.planned == {"report": 1, "edition": 1}

    ended = reident("seal", "../in/small.yaml", folder=tmp_path / "run")
    assert ended.code == 0, ended.shown
    (bag,) = (tmp_path / "run/reports/small/sealed").glob("*.zip")
    (tmp_path / "in" / FONT).unlink()
    ended = reident("reproduce", bag, "--inputs", tmp_path / "in", folder=tmp_path / "elsewhere")
    assert ended.code == 0, ended.shown
    assert re.search(
        r": reproduced: \d+ results identical, \d+ computed, of which the bag must not have a digest\.", ended.shown
    ), ended.shown


def test_a_file_that_is_no_font_is_refused_at_the_start(tmp_path):
    file = write(tmp_path / "in", font=FONT)
    (tmp_path / "in" / FONT).write_text("letters")
    line = next(at for at, text in enumerate(file.read_text().splitlines(), 1) if text.startswith("font:"))
    says = f"../in/small.yaml, line {line}: `font`: {FONT} is not a TrueType or OpenType font. Name another file"
    for ended in (run(tmp_path), reident("validate", "../in/small.yaml", folder=tmp_path / "run")):
        assert ended.code == 1
        (said,) = ended.errors
        assert said.startswith(says)
        assert "Traceback" not in ended.shown
