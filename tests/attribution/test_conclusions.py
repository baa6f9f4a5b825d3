"""The conclusions about attribute disclosure, and when each is printed."""

import pytest
from making.attribution import HELD_OUT, LEARNT, WITHOUT_ID, write_learnt
from making.conclusions import printed
from reident.attribution import report as attribution
from reident.report.results import Results

FOUND_OUT = {
    "one file": r"An intruder who holds the released file and knows",
    "several files": r"holds one of the two released files \(numbers are means over the files\) and knows",
    "compared": r"Of these (about )?[\d.,]+ disclosed values, .+ are right; the best guess without any key would",
    "others": r"A right value is disclosed for .+; without the person’s own released record, the records of other",
    "holdout": r"A right value is disclosed for .+; the same could be learnt of people who are not in the file",
    "about": r"that all have about the same income for (about )?[\d.,]+ of the [\d,]+ people \(",
    "the same": r"that all have the same job for (about )?[\d.,]+ of the [\d,]+ people \(",
    "no one": r"that all have the same job for no one",
    "shares": r"Of these (about )?[\d.,]+ disclosed values, [\d.]+ % are right",
}
"""What the front page says of attribute disclosure."""
ONE_SEX = {"keys": ["sex"], "targets": ["job"]}


@pytest.mark.parametrize(
    ("options", "n", "expected"),
    [
        (LEARNT, 60, {"several files", "compared", "others", "about", "the same", "shares"}),
        (WITHOUT_ID, 60, {"one file", "compared", "the same", "shares"}),
        (WITHOUT_ID, 8, {"one file", "compared"}),
        (HELD_OUT, 60, {"one file", "compared", "holdout", "the same", "shares"}),
        ({**WITHOUT_ID, **ONE_SEX}, 60, {"one file", "no one"}),
        ({**LEARNT, **ONE_SEX}, 60, {"several files", "no one"}),
    ],
)
def test_the_front_page_compares_what_is_disclosed_with_a_guess_without_a_key(tmp_path, options, n, expected):
    study = Results(write_learnt(tmp_path / "results", options, n=n))
    assert printed(str(attribution.attribution_findings(study)), FOUND_OUT) == expected


LEARNING = {
    "no key": "the only baseline is what is known without any key",
    "without own": "without that person’s own record",
    "of others": r"tells about \d+ people who are not in it",
    "own adds": r"is due to the people’s own released records",
    "more than others": r"is learnt only about people in the file",
    "not lower": r"which is not lower",
    "no baseline": r"There is no baseline for it",
    "right": r"Of the values that it seems to disclose, ",
    "common": r"have the same value, ",
}
"""The conclusions about attribute disclosure."""


@pytest.mark.parametrize(
    ("options", "common", "expected"),
    [
        (LEARNT, False, {"without own", "own adds", "right"}),
        ({**LEARNT, **ONE_SEX}, False, {"without own", "not lower"}),
        (WITHOUT_ID, False, {"no key", "no baseline", "right"}),
        ({**WITHOUT_ID, **ONE_SEX}, False, {"no key", "no baseline"}),
        (WITHOUT_ID, True, {"no key", "no baseline", "right", "common"}),
        (HELD_OUT, False, {"of others", "more than others", "right"}),
        ({**HELD_OUT, **ONE_SEX}, False, {"of others", "not lower"}),
    ],
)
def test_a_conclusion_about_attribute_disclosure(tmp_path, options, common, expected):
    study = Results(write_learnt(tmp_path / "results", options, n=60, common=common))
    blocks = (attribution.attribution_premise, attribution.attribution_targets, attribution.attribution_sets)
    assert printed(" ".join(str(block(study)) for block in blocks), LEARNING) == expected
