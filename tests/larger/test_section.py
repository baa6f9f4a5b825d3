"""What the section `larger_intruder` accepts, and what its steps take from a study (METHODS §6.5)."""

from pathlib import Path

import pytest
import yaml
from making.studies import plain, saved, study
from reident.errors import InputError
from reident.larger import step as larger_step
from reident.pipeline.family import Family

STUDIES = Path(__file__).parents[2] / "config" / "studies"


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"times": [5, 2]}, "must be in ascending order"),
        ({"times": [2, 2]}, "must be in ascending order"),
        ({"times": [1]}, "times"),
        ({"times": []}, "times"),
        ({"population": 0}, "population"),
        ({"share": 0.5}, "share"),
    ],
)
def test_a_section_that_does_not_fit_is_refused(tmp_path, section, words):
    with pytest.raises(InputError, match=words) as refused:
        Family(saved(tmp_path, plain(larger_intruder=section)))
    assert "study.yaml, line " in str(refused.value)


def test_the_section_needs_an_attack(tmp_path):
    content = yaml.safe_load((STUDIES / "dis-suda-2003.yaml").read_text(encoding="utf-8"))
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content | {"larger_intruder": {}}))
    with pytest.raises(InputError, match="must not be given without `metrics`"):
        Family(tmp_path / "study.yaml")


@pytest.mark.parametrize(
    ("metrics", "fixed"),
    [
        ({"taxicab": {}, "unicity": {}, "euclidean": {}, "adhoc": {}}, ()),
        ({"unicity": {"max_order": 2}, "taxicab": {}}, ("unicity",)),
        ({"winkler": {"agreement": {"nearest": 3}}}, ("winkler",)),
        ({"winkler": {"agreement": {"closest": 1}}}, ()),
        ({"fellegi_sunter": {}}, ("fellegi_sunter",)),
        ({"fellegi_sunter": {"m": "informed"}}, ("fellegi_sunter",)),
        ({"fellegi_sunter": {"m": "informed", "competition": False}}, ("fellegi_sunter",)),
        ({"fellegi_sunter": {"m": "informed", "competition": False, "frequency": False}}, ()),
        (
            {"fellegi_sunter": {"m": "informed", "competition": False, "frequency": False, "one_to_one": True}},
            ("fellegi_sunter",),
        ),
    ],
)
def test_no_curve_is_fitted_for_a_rule_that_depends_on_the_size(metrics, fixed):
    assert larger_step.extrapolating(study(metrics=metrics, larger_intruder={})).fixed == fixed
