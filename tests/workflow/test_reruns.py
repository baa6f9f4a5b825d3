"""What runs again, and what does not: the steps that a change touches and those that read their results.

What Snakemake does not notice: tests/workflow/test_transitions.py; what is edited or lost among results:
tests/workflow/test_mutations.py.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from workflow.commands import CHECKOUT, PRELOADED, Ended, snakemake

from workflow import small

pytestmark = pytest.mark.slow

ONE_METRIC = {"score": 1, "rank": 1, "confirm": 1, "rate": 1}
EVERYTHING = {"stratify": 1, "bin": 1, "score": 4, "rank": 4, "confirm": 4, "rate": 1}
REPORT = {"report": 1}
AT_HAND = {"challenge": 1}
DESCRIBED = {"check_description": 1, **AT_HAND}
VERDICT = {"judge": 1, **REPORT}


class Again:
    """A copy of the finished study, in which a test may change anything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inputs = folder / "in"
        self.results = folder / "run" / "results" / "small"

    def run(self, *arguments: str, checkout: Path = CHECKOUT, program: str | None = PRELOADED) -> Ended:
        return snakemake(
            *arguments, studies=["../in/small.yaml"], folder=self.folder / "run", checkout=checkout, program=program
        )

    def plan(self, *arguments: str, checkout: Path = CHECKOUT) -> dict[str, int]:
        ended = self.run(*arguments, "--dry-run", checkout=checkout, program=None)
        assert ended.code == 0, ended.shown
        return ended.planned

    def declare(self, change: Callable[[dict], object]) -> dict:
        """Change the study file; the sources stay untouched."""
        study = copy.deepcopy(small.STUDY)
        change(study)
        small.write(self.inputs, study, {})
        return study


@pytest.fixture
def again(finished, tmp_path) -> Again:
    shutil.copytree(finished.folder, tmp_path / "again", symlinks=True)
    return Again(tmp_path / "again")


def set_alpha(study: dict) -> None:
    study["metrics"]["taxicab"]["alpha"] = "0.5"


CHANGES = [
    ("nothing", lambda _: None, {}),
    (
        "the limit of the verdict",
        lambda study: study.update(decision={"conditional_rate_at_most": 0.05}),
        {"resolve": 1, **VERDICT},
    ),
    (
        "the checklist of the board",
        lambda study: study.update(checklist={"answers": {"survey": "A survey."}}),
        {"resolve": 1, "checklist": 1, **REPORT},
    ),
    ("the title", lambda study: study.update(title="A survey"), {"resolve": 1, **REPORT}),
    ("α of taxicab", set_alpha, {"resolve": 1, **ONE_METRIC, **AT_HAND, **VERDICT}),
    (
        "the level of the interval",
        lambda study: study.update(rates={"level": 0.9}),
        {"resolve": 1, "confirm": 4, "rate": 1, **AT_HAND, **VERDICT},
    ),
    (
        "the rank limit",
        lambda study: study.update(rank_filter={"max_pairs": 3}),
        {"resolve": 1, "confirm": 4, "rate": 1, **AT_HAND, **VERDICT},
    ),
    (
        "a metric less",
        lambda study: study["metrics"].pop("adhoc"),
        {"resolve": 1, "rate": 1, **AT_HAND, **VERDICT},
    ),
    (
        "the file that cuts the bins",
        lambda study: study.update(binning={"cutpoints": "eif"}),
        {
            "resolve": 1, "bin": 1, "score": 2, "rank": 2, "confirm": 2, "rate": 1, **AT_HAND, **VERDICT,
        },
    ),
    (
        "a missing code",
        lambda study: study["linking_variables"][0].update(missing=["-9", "99"]),
        {"resolve": 1, "prepare": 1, **EVERYTHING, **DESCRIBED, **VERDICT},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "change", "planned"), CHANGES, ids=[case[0] for case in CHANGES])
def test_a_change_of_the_study_reruns_what_it_touches(again, sentence, change, planned):
    again.declare(change)
    assert again.plan() == planned


def test_a_study_file_of_another_name_runs_nothing_again(again):
    (again.inputs / "small.yaml").rename(again.inputs / "renamed.yaml")
    ended = snakemake(studies=["../in/renamed.yaml"], folder=again.folder / "run", program=PRELOADED)
    assert ended.code == 0, ended.shown
    assert ended.planned == {}
    assert "small: see reports/small/disclosure-review.html and .pdf" in ended.shown


@pytest.mark.parametrize("lost", [True, False], ids=["records of the scheduler lost", "nothing lost"])
def test_without_a_change_nothing_runs_even_where_the_records_are_lost(again, lost):
    if lost:
        shutil.rmtree(again.folder / "run" / ".snakemake")
    ended = again.run()
    assert ended.code == 0, ended.shown
    assert ended.planned == {}
    assert "small: see reports/small/disclosure-review.html and .pdf" in ended.shown, "but the conclusion"
