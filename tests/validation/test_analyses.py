"""Validation of attribute disclosure and of a holdout: every mistake at once, as the step words them."""

import pytest
import yaml
from making.attribution import HELD_OUT, LEARNT, drawn, perturbed
from making.matching import MATCHING, TRUE
from reident.validation import run

ORIGINAL = drawn(4, 80)
FILES = {"original": ORIGINAL, "holdout": drawn(5, 40)}
FILES |= {f"released_{at}": perturbed(ORIGINAL, at) for at in (1, 2)}
CLOSEST = {**MATCHING, "synthetic": MATCHING["synthetic"][:1], "closest": {"holdout": {"path": "holdout.csv"}}}


def validate(folder, section, options, files):
    """Return what validation says of a study of one section, with its files."""
    for name, file in files.items():
        file.to_csv(folder / f"{name}.csv", index=False)
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({"id": "analysed", section: options}), encoding="utf-8")
    return run.validate([path])


@pytest.mark.parametrize(
    ("options", "files", "errors", "warnings"),
    [
        (LEARNT, {}, [], []),
        (HELD_OUT, {}, [], []),
        (
            {**LEARNT, "holdout": {"path": "holdout.csv"}},
            {"released_1": ORIGINAL.assign(job="x"), "released_2": ORIGINAL.assign(person="1"),
             "holdout": ORIGINAL.drop(columns="region").assign(income="much")},
            ["released_1.csv and original.csv, column `job`: no code of `job` is in both files.",
             "released_2.csv, row 3: the key (person) is not unique",
             "holdout.csv, row 1: the file has no column `region`.",
             "holdout.csv, row 2, column `income`: the value of `income` is not a number."],
            None,
        ),
        (LEARNT, {"released_2": drawn(4, 0)}, ["released_2.csv: the file has a header and no records."], None),
        (LEARNT, {"released_2": ORIGINAL.assign(income="-9")}, [],
         ["released_2.csv: income is missing in every record."]),
    ],
    ids=["linked", "held out", "mistakes", "no record", "all missing"],
)  # fmt: skip
def test_attribute_disclosure(tmp_path, options, files, errors, warnings):
    answer = validate(tmp_path, "attribute_disclosure", options, FILES | files)
    assert answer.errors == len(errors), answer.lines
    assert warnings is None or answer.warnings == len(warnings)
    for sentence in [*errors, *(warnings or ())]:
        assert sentence in " ".join(answer.lines)


@pytest.mark.parametrize(
    ("holdout", "errors"),
    [
        (TRUE[["job", "income"]].head(40), []),
        (TRUE.head(0), ["holdout.csv: the file has a header and no records."]),
        (TRUE.drop(columns="income"), ["holdout.csv, row 1: the file has no column `income`."]),
        (TRUE.assign(income="much"), ["holdout.csv, row 2, column `income`: the value of `income` is not a number."]),
        (TRUE.assign(job="x"), ["holdout.csv, column `job`: no code is also in confidential.csv."]),
    ],
    ids=["only the compared columns", "empty", "no column", "no number", "no common code"],
)  # fmt: skip
def test_a_holdout(tmp_path, holdout, errors):
    files = {"confidential": TRUE, "synthetic_1": TRUE, "holdout": holdout}
    answer = validate(tmp_path, "matching", CLOSEST, files)
    assert answer.errors == len(errors), answer.lines
    assert all(sentence in " ".join(answer.lines) for sentence in errors)
