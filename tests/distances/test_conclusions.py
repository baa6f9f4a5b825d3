"""The conclusions about the closest records, and when each is printed."""

import numpy as np
import pytest
from making.conclusions import printed
from making.matching import MATCHING, TRUE, WITH_HOLDOUT, people, write_matching
from reident.distances import report as closest
from reident.report.results import Results

NEARNESS = {
    "no holdout": r"The study has no holdout, so nothing follows from the distances",
    "as expected": r"are expected if nothing was memorised: the differences are within chance",
    "too few": r"even if (its|their) closest records were all confidential, this could be chance",
    "nearer": r"\*\*more than chance explains\*\* \(at most .+Memory explains it if the .+ of one file",
    "below": r"fewer than chance explains .+ Nothing follows about memory",
    "copied": r"This is \*\*more than chance explains\*\* \(level 95 %\)\. Copying explains it if both",
    "not copied": r"The same holds for .+ of the holdout: the difference is within chance",
    "one file": r"For .+ of the synthetic file, [\d.]+ % of the closest",
    "worst file": r"For .+ of synthetic file 2, [\d.]+ % of the closest",
    "why not": r"No conclusion follows from these distances",
    "above": r"confidential records: above the limit\*\*.+Broken: at most 1 % more .+ here [\d.]+ %",
    "within": r"confidential records: within the limit\*\*.+Met: at most 1 % more .+ here 0\.0 %",
    "alike": r"The two files differ no more than random parts of one file would \(probability [\d.]+ %; level 95 %\)",
    "unlike": r"The two files differ in .+ more than random parts of one file would .+ no conclusion follows",
    "income": r"Nothing follows about memory, in either direction.+ already differ in income more than random parts",
    "together": r"Nothing follows about memory, in either direction.+ already differ in which values occur together",
    "no verdict": r"no verdict\*\*.+more than random parts of one file would, so nothing follows about memory",
    "nothing": r"\| no conclusion \|",
    "share": r"\| more than chance \|.+\| Identical",
    "copies": r"\| Identical.+\| more than chance \|",
    "chance": r"\| within chance \|",
    "few": r"\| within chance, too few nearest records to tell \|",
}
CLOSE = {"decision": {"nearer_excess_at_most": 0.01}}


ONE_HELD = {**WITH_HOLDOUT, "synthetic": MATCHING["synthetic"][:1]}


def other_people(copy, _):
    draw = np.random.default_rng(7)
    return copy.assign(job=draw.integers(0, 9, len(copy)), income=np.exp(draw.normal(10, 0.7, len(copy))).round())


def others(true):
    return people(np.random.default_rng(9), len(true))


def richer(true):
    return others(true).assign(income=lambda held: (1.5 * held["income"]).where(held["income"] > 0, -9).round())


def sorted_jobs(true):
    """The people of the confidential file, whose jobs follow their incomes."""
    return true.sort_values("income").assign(job=sorted(true["job"]))


def copying(records, file=1):
    """The first people have their true jobs and incomes in a file of other people."""

    def change(copy, number):
        copy = other_people(copy, number)
        if number == file:
            copy.loc[: records - 1, ["job", "income"]] = TRUE.loc[: records - 1, ["job", "income"]]
        return copy

    return change


@pytest.mark.parametrize(
    ("section", "change", "holdout", "decision", "expected"),
    [
        ({**MATCHING, "closest": {}}, other_people, None, {}, {"no holdout", "why not"}),
        (ONE_HELD, other_people, None, {}, {"alike", "as expected", "too few", "one file", "chance", "few"}),
        (ONE_HELD, copying(3), None, {},
         {"alike", "as expected", "too few", "not copied", "one file", "chance", "few"}),
        (ONE_HELD, copying(300), None, CLOSE, {"alike", "nearer", "copied", "one file", "above", "share", "copies"}),
        (WITH_HOLDOUT, copying(100, 2), others, {},
         {"alike", "nearer", "copied", "worst file", "share", "copies", "chance", "few"}),
        (WITH_HOLDOUT, copying(10, 2), others, {},
         {"alike", "nearer", "copied", "worst file", "share", "copies", "chance", "few"}),
        (ONE_HELD, other_people, lambda true: other_people(true, 1), CLOSE,
         {"alike", "below", "one file", "within", "chance"}),
        (ONE_HELD, copying(300), richer, CLOSE, {"unlike", "income", "no verdict", "nothing"}),
        (ONE_HELD, other_people, sorted_jobs, {}, {"unlike", "together", "nothing"}),
    ],
    ids=[
        "no holdout", "other people", "three people", "all copied", "one file of three", "ten people",
        "the holdout is the synthetic file", "richer holdout", "other relation",
    ],
)  # fmt: skip
def test_a_conclusion_about_nearness(tmp_path, section, change, holdout, decision, expected):
    study = Results(write_matching(tmp_path / "results", section, change=change, holdout=holdout, **decision))
    blocks = (closest.closest_overall, closest.closest_findings, closest.closest_premise, closest.closest_tables)
    assert printed(" ".join(str(one(study)) for one in blocks), NEARNESS) == expected
