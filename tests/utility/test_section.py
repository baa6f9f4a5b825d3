"""What the section `utility` accepts, and the settings of its step (METHODS §13)."""

import numpy as np
import pyarrow as pa
import pytest
import yaml
from making.studies import keyed_by
from reident.errors import InputError
from reident.linkage.settings import Variable
from reident.pipeline.family import Family
from reident.utility.measure import measure
from reident.utility.section import Utility
from reident.utility.settings import UtilitySettings

STUDY = {
    "id": "protected",
    "files": {**keyed_by("id", "person"), "original": {"path": "full.csv"}},
    "strata": [{"name": "region"}],
    "linking_variables": [{"name": "age", "type": "numeric"}, {"name": "sex", "type": "categorical"}],
    "metrics": {"taxicab": {}},
    "utility": {},
}


def family(folder, **changes):
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump({**STUDY, **changes}))
    return Family(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"files": {**STUDY["files"], "original": None}}, "must not be given without the file before protection"),
        ({"utility": {"regression": {"response": "sex", "predictors": ["age"]}}}, "must be a numeric linking variable"),
        ({"utility": {"regression": {"response": "age", "predictors": ["age"]}}}, "other than the response"),
        ({"utility": {"regression": {"response": "age", "predictors": ["x"]}}}, "other than the response"),
        ({"utility": {"regression": {"response": "age", "predictors": ["sex", "sex"]}}}, "is given twice"),
        ({"utility": {"loss": "bias"}}, "loss"),
    ],
)  # fmt: skip
def test_a_section_that_does_not_fit_is_refused(tmp_path, changes, words):
    with pytest.raises(InputError, match=words) as refused:
        family(tmp_path, **changes)
    assert "study.yaml, line " in str(refused.value)


def test_a_variant_must_not_remove_the_section(tmp_path):
    variants = [{"name": "what", "combinations": {"all": {}, "nothing": {"utility": None}}}]
    members = family(tmp_path, variants=variants)
    with pytest.raises(InputError, match="`utility` must not be added or removed by a variant"):
        _ = members.members


def table(keys, **columns):
    return pa.table({"id": keys, **columns})


def settings_of(*variables, **options):
    return UtilitySettings(("id",), variables, 5, None, 0.95, Utility(**options))


def test_files_without_a_common_record_are_refused():
    age = Variable("age", "numeric")
    with pytest.raises(InputError, match="must compare records that both files have"):
        measure(settings_of(age), table(["1"], age=[1.0]), table(["2"], age=[1.0]))


def test_a_model_of_too_many_terms_is_refused():
    codes = [f"{at:02d}" for at in range(30)]
    names = [f"v{at}" for at in range(4)]
    file = table(codes, **dict.fromkeys(names, codes))
    variables = [Variable(name, "categorical") for name in names]
    with pytest.raises(InputError, match=r"at most|more than 2,000 terms \(it gives 2,481\)"):
        measure(settings_of(*variables, interactions=2), file, file)


def test_one_file_by_hand():
    """Ages 1 2 3 4 become 1 2 3 9, and one of two men a woman."""
    variables = [Variable("age", "numeric"), Variable("sex", "categorical")]
    before = table(list("1234"), age=[1.0, 2.0, 3.0, 4.0], sex=["m", "m", "f", "f"])
    after = table(list("1234"), age=[1.0, 2.0, 3.0, 9.0], sex=["m", "f", "f", "f"])
    found = measure(settings_of(*variables), before, after)
    line = found.summary.iloc[0]
    assert (line["n_records"], line["n_records_changed"], line["values_changed"]) == (4, 2, 0.25)
    assert found.variables["distance"].tolist() == [0.25, 0.25]
    assert found.variables["hellinger"].iloc[1] == pytest.approx(
        np.sqrt(((0.5**0.5 - 0.25**0.5) ** 2 + (0.5**0.5 - 0.75**0.5) ** 2) / 2), abs=1e-9
    )
    # Cut at 1, 2, 3 and 4: (2, m) becomes (2, f), and (4, f) is above the last cut point.
    assert found.pairs["distance"].tolist() == [0.5]
    assert line["pmse_expected"] == (line["n_terms"] - 1) / 64


def test_pmse_of_a_table_of_two_categories_by_hand():
    """The model with an indicator is saturated: its scores are the shares of released records by category."""
    sex = Variable("sex", "categorical")
    before = table([f"{at:02d}" for at in range(10)], sex=["m"] * 5 + ["f"] * 5)
    after = table([f"{at:02d}" for at in range(10)], sex=["m"] * 2 + ["f"] * 8)
    line = measure(settings_of(sex), before, after).summary.iloc[0]
    expected = (7 * (2 / 7 - 0.5) ** 2 + 13 * (8 / 13 - 0.5) ** 2) / 20
    assert line["pmse"] == pytest.approx(expected, rel=1e-5)
    assert line["pmse_ratio"] == pytest.approx(expected * 160, rel=1e-5)
