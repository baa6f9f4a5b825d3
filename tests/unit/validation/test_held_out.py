"""Validation of the holdout of `matching`: its mistakes beside those of the other files, as the step words them."""

import pytest
import yaml
from making.matching import MATCHING, TRUE
from reident.validation import run

SECTION = {
    **{key: value for key, value in MATCHING.items() if key != "synthetic"},
    "synthetic": MATCHING["synthetic"][:1],
    "closest": {"holdout": {"path": "holdout.csv"}},
}


@pytest.fixture
def validated(tmp_path):
    """Return a function that writes a study with a holdout, and returns what validation says."""

    def validate(holdout):
        for name, file in {"confidential": TRUE, "synthetic_1": TRUE, "holdout": holdout}.items():
            file.to_csv(tmp_path / f"{name}.csv", index=False)
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump({"id": "held", "matching": SECTION}), encoding="utf-8")
        return run.validate([path])

    return validate


def test_a_sound_holdout_needs_only_the_compared_columns(validated):
    answer = validated(TRUE[["job", "income"]].head(40))
    assert answer.errors == 0, answer.lines


@pytest.mark.parametrize(
    ("holdout", "mistake"),
    [
        (TRUE.head(0), "holdout.csv: the file has a header and no records."),
        (TRUE.drop(columns="income"), "holdout.csv, row 1: the file has no column `income`."),
        (TRUE.assign(income="much"), "holdout.csv, row 2, column `income`: the value of `income` is not a number."),
        (TRUE.assign(job="x"), "holdout.csv, column `job`: no code is also in confidential.csv."),
    ],
    ids=["empty", "no column", "no number", "no common code"],
)  # fmt: skip
def test_a_mistake_in_the_holdout_is_one_sentence(validated, holdout, mistake):
    answer = validated(holdout)
    assert answer.errors == 1, answer.lines
    assert mistake in " ".join(answer.lines)
