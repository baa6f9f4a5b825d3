"""Validation of the files of attribute disclosure: every mistake at once, as its step words them."""

import pytest
import yaml
from making.attribution import HELD_OUT, LEARNT, drawn, perturbed
from reident.validation import run


@pytest.fixture
def study(tmp_path):
    """Return a function that writes a study with its files, changed by name, and returns what validation says."""

    def validate(options, **files):
        original = drawn(4, 80)
        every = {"original": original, "holdout": drawn(5, 40)}
        every |= {f"released_{at}": perturbed(original, at) for at in (1, 2)}
        for name, file in {**every, **files}.items():
            file.to_csv(tmp_path / f"{name}.csv", index=False)
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump({"id": "learnt", "attribute_disclosure": options}), encoding="utf-8")
        return run.validate([path])

    return validate


@pytest.mark.parametrize("options", [LEARNT, HELD_OUT], ids=["linked", "held out"])
def test_sound_files_have_no_error(study, options):
    answer = study(options)
    assert (answer.errors, answer.warnings) == (0, 0), answer.lines


def test_every_mistake_is_named_at_once(study):
    original = drawn(4, 80)
    repeated = original.assign(person="1")
    answer = study(
        {**LEARNT, "holdout": {"path": "holdout.csv"}},
        released_1=original.assign(job="x"),
        released_2=repeated,
        holdout=original.drop(columns="region").assign(income="much"),
    )
    said = " ".join(answer.lines)
    for mistake in (
        "released_1.csv and original.csv, column `job`: no code of `job` is in both files.",
        "released_2.csv, row 3: the key (person) is not unique",
        "holdout.csv, row 1: the file has no column `region`.",
        "holdout.csv, row 2, column `income`: the value of `income` is not a number.",
    ):
        assert mistake in said
    assert answer.errors == 4


def test_a_file_without_records_is_named(study):
    answer = study(LEARNT, released_2=drawn(4, 0))
    assert answer.errors == 1, answer.lines
    assert "released_2.csv: the file has a header and no records." in answer.lines[0]


def test_warnings_are_those_of_the_step(study):
    answer = study(LEARNT, released_2=drawn(4, 80).assign(income="-9"))
    assert (answer.errors, answer.warnings) == (0, 1), answer.lines
    assert "released_2.csv: income is missing in every record." in answer.lines[0]
