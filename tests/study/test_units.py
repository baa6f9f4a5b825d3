"""What a study of units may say, and what it refuses."""

import pytest
from making.examples import cases
from making.studies import PLAIN, files, plain
from pydantic import ValidationError
from reident.study import model as studies
from reident.study.model import Study

UNITS = {"puf": "hh", "eif": ["a", "b"]}
WITHOUT_KEYS = {
    "puf": {"path": "puf.csv"},
    "eif": {"path": "eif.csv"},
    "iuf": {"path": "iuf.csv", "puf_id": "hh", "eif_id": ["a", "b"]},
}


def of_units(**sections):
    return plain(**{"units": UNITS, "metrics": {"taxicab": {}}, **sections})


def test_files_without_a_key_have_that_of_their_units():
    study = Study.model_validate(of_units(files=WITHOUT_KEYS))
    assert study.linked_files.puf.id == ("hh",)
    assert study.linked_files.eif.id == ("a", "b")
    assert study.keys == {"puf": ("hh",), "eif": ("a", "b")}


def test_a_key_of_rows_is_not_that_of_units():
    study = Study.model_validate(of_units())
    assert study.linked_files.puf.id == ("p",)
    assert study.keys == {"puf": ("hh",), "eif": ("a", "b")}
    assert study.units.whole


def test_a_column_of_one_name_in_both_files_is_told_apart():
    study = Study.model_validate(of_units(units={"puf": "hh", "eif": "hh"}))
    assert study.keys == {"puf": ("puf_hh",), "eif": ("eif_hh",)}


def test_a_key_of_rows_may_repeat_in_the_risk_of_the_file():
    study = Study.model_validate(of_units(file_risk={"file": "puf", "sampling_fraction": "0.1"}))
    assert study.risk_id == ()


def test_studies_of_records_have_the_text_that_they_had():
    text = studies.canonical_json(Study.model_validate(plain()))
    assert "units" not in text
    assert "level" not in text.replace('"level": 0.95', "")


REFUSED = [
    (plain(linking_variables=[{"name": "x", "type": "numeric", "level": "unit"}]),
     "`x` must not have `level: unit` without `units`."),
    (of_units(metrics={"winkler": {}}), "`.metrics.winkler` must not be given with `units`, because it"),
    (of_units(metrics={"unicity": {}}, units={**UNITS, "members": "some"}),
     "`.metrics.unicity` must not be given with `members: some`"),
    (of_units(metrics={"unicity": {"interactions": "jointly_observed"}}),
     "`.metrics.unicity.interactions` must not be `jointly_observed` with `units`."),
    (of_units(metrics={"adhoc": {"scores": {"x": {"function": "f:g", "sha256": "0" * 64}}}}),
     "`.metrics.adhoc.scores.x` must not have a `function` with `units`."),
    (of_units(metrics={"taxicab": {"alpha": "0.1234567891"}}), "`.metrics.taxicab.alpha` must have at most 9 decimal"),
    (of_units(why={}), "`.why` must not be given with `units`."),
    (of_units(larger_intruder={}), "`.larger_intruder` must not be given with `units`."),
    (of_units(files=files(eif={**PLAIN["files"]["eif"], "person": "n"})),
     "`.files.eif.person` must not be given with `units`."),
    (of_units(
        files=files(original={"path": "original.csv"}),
        attribute_disclosure={"released": "puf", "keys": ["c"], "targets": [{"name": "z"}]},
    ),
     "`.attribute_disclosure.released` must not be `puf` with `units`"),
    (of_units(
        units={"puf": ["hh", "x"], "eif": "a"},
        files={**WITHOUT_KEYS, "iuf": {**WITHOUT_KEYS["iuf"], "eif_id": "a"}},
    ),
     "`.iuf.puf_id` must have as many columns as the key of `puf` (`id`, or with `units` those of the unit)"),
    (of_units(units={"puf": ["hh", "hh"], "eif": "a"}), "`hh` is given twice in `units.puf`"),
    (of_units(units={"puf": "hh"}), "units.eif"),
    (plain(files=WITHOUT_KEYS), "files.puf.id"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "problem"), cases([(problem[:40], data, problem) for data, problem in REFUSED]))
def test_what_cannot_compare_units_is_refused(data, problem):
    with pytest.raises(ValidationError) as error:
        Study.model_validate(data)
    assert problem in str(error.value)
