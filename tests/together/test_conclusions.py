"""The conclusions about an intruder with several files, and when each is printed."""

import pytest
from making.conclusions import printed
from making.report import Shape, write_results
from reident.report.results import Results
from reident.together import report as together
from together.cases import write_together

SEVERAL = {
    "above": r"\*\*With all files: above the limit\*\* Broken: confirmed rate of at most 10 % with any of the files",
    "within": r"\*\*With all files: within the limit\*\* Met: ",
    "guess limit": r"one best guess right for at most \S+ % of the suspected records, here",
    "front": r"An intruder who holds (both files|all three files) \(.+\) would find \d+ people",
    "front more": r"would find .+, \d+\.\d % more than with the (better|best) file alone \(first\)",
    "front nobody": r"would find no one",
    "one file": r"One file is attacked with: first\.",
    "two files": r"attacked with two files: first and second\. Each file",
    "three files": r"attacked with three files",
    "nothing": r"No file suspects a record",
    "no file confirms": r"No file confirms a record",
    "any": r"the true person is among the candidates of at least one file",
    "more": r"at least one file, \d+\.\d % more than",
    "few more": r"at least one file, \d+ more than with the better file alone",
    "same": r"as many as with the better file alone \(first\)",
    "all": r"For \d+ records, this holds for every file",
    "all none": r"This holds for every file for not one record",
    "one guess": r"One guess among the best candidates would be right",
    "joint guess": r"An intruder who takes the file whose best candidate",
    "shared": r"For \d+ records, two files have the same person among their candidates; this person is the true one",
    "corroborates": r"corroborate each other",
    "no person shared": r"For not one record do two files have the same person",
}
"""The conclusions about an intruder with several files."""
BOTH = {"front", "front more", "two files", "any", "more", "joint guess"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, BOTH | {"all"}),
        ({"decision": {"together_confirmed_rate_at_most": 0.1}}, BOTH | {"all", "above"}),
        ({"decision": {"together_confirmed_rate_at_most": 0.3}}, BOTH | {"all", "within"}),
        ({"decision": {"together_best_rank_correct_rate_at_most": 0.9}}, BOTH | {"all", "within", "guess limit"}),
        ({"persons": True}, BOTH | {"all", "shared", "corroborates"}),
        ({"persons": True, "suspected": 0, "files": {"first": range(12), "second": range(20, 23)}},
         BOTH | {"all none", "corroborates", "no person shared"}),
        ({"files": {"first": range(40), "second": range(40)}},
         {"front", "two files", "any", "same", "joint guess", "all"}),
        ({"files": {"first": range(4), "second": range(4, 6)}},
         {"front", "two files", "any", "few more", "joint guess", "all none"}),
        ({"files": {"first": range(40)}}, {"one file", "any", "one guess"}),
        ({"files": {"first": range(40), "b": range(50, 60), "c": range(9)}},
         {"front", "front more", "three files", "any", "more", "joint guess", "all none"}),
        ({"files": {"first": (), "second": ()}},
         {"front nobody", "two files", "no file confirms", "joint guess", "all none"}),
        ({"files": {"first": (), "second": ()}, "suspected": 0}, {"front nobody", "two files", "nothing"}),
    ],
    ids=[
        "more", "above", "within", "guess within", "persons", "nobody shared", "same", "few", "one", "three",
        "nobody", "nothing",
    ],
)  # fmt: skip
def test_a_conclusion_about_several_files(tmp_path, options, expected):
    study = Results(write_together(write_results(tmp_path / "results", Shape(limit=None)), **options))
    blocks = (together.together_overall, together.together_front, together.together_findings)
    assert printed("\n".join(str(block(study)) for block in blocks), SEVERAL) == expected


def test_without_a_true_link_the_front_page_says_nothing_of_several_files(tmp_path):
    shape = Shape(linked=0.0, lost=False)
    study = Results(write_together(write_results(tmp_path / "results", shape), {"first": (), "second": ()}))
    assert together.together_front(study) is None
