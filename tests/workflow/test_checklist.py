"""The board's checklist from the study file to the report, and what a change of its questions makes stale."""

from __future__ import annotations

import copy
import os
import re
from pathlib import Path

import pytest
from workflow.commands import PRELOADED, reident, snakemake

from workflow import small

pytestmark = pytest.mark.slow

QUESTIONS = """\
title: Ours
topics:
  - title: People
    questions:
      - {id: size, text: "How many?", why: Few are found., exhibits: [records]}
      - {id: age, text: "How old?", why: It fades.}
      - {id: open, text: "What else?", why: One never knows.}
"""
STUDY = {
    **copy.deepcopy(small.STUDY),
    "metrics": {"taxicab": {}},
    "checklist": {"file": "ours.yaml", "answers": {"age": "Seven *years*, <old>."}},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("checklist")
    small.write(folder / "in", STUDY, small.rows(40, 60))
    (folder / "in" / "ours.yaml").write_text(QUESTIONS, encoding="utf-8")
    ended = run(folder)
    assert ended.code == 0, ended.shown
    return folder


def run(folder: Path, *arguments: str):
    return snakemake(*arguments, studies=["../in/small.yaml"], folder=folder / "run", program=PRELOADED)


def test_the_report_has_the_questions_with_answers_exhibits_and_what_is_open(finished):
    page = (finished / "run/reports/small/disclosure-review.html").read_text(encoding="utf-8")
    assert "How many?" in page
    assert "The file has 40 records that can be compared." in page
    assert "Seven *years*, &lt;old&gt;." in page
    assert page.count(">Not assessed<") == 1
    assert "One question of the checklist is not assessed: 3." in page


def test_questions_that_change_are_noticed_whatever_their_time_stamp(finished):
    """Last of the module: it changes the questions."""
    file = finished / "in" / "ours.yaml"
    before = file.stat()
    file.write_text(QUESTIONS.replace("How old?", "Who old?"), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    checked = reident("check", "../in/small.yaml", folder=finished / "run")
    assert checked.code != 0
    assert re.search(r"sources that changed after a step read them: \S*ours\.yaml", checked.shown)
    planned = run(finished, "--dry-run").planned
    assert planned == {"checklist": 1, "report": 1}


def test_a_mistake_in_the_questions_ends_the_run_with_one_sentence(finished):
    (finished / "in" / "ours.yaml").write_text(QUESTIONS.replace("id: open", "id: age"), encoding="utf-8")
    ended = run(finished)
    assert ended.code == 1
    assert len(ended.errors) == 1, ended.shown
    assert min(ended.errors).startswith("../in/ours.yaml, line 1: `age` is given twice")
