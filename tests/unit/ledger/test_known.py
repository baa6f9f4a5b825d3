"""What the ledger compares its entries with: the study and its variants as they are now."""

import pytest
import yaml
from making.studies import plain
from reident.pipeline.family import Family


@pytest.fixture
def members(tmp_path) -> Family:
    variants = [{"set": "metrics.taxicab.alpha", "values": ["1/3", "1/2"]}]
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(plain(metrics={"taxicab": {}}, variants=variants)), encoding="utf-8")
    return Family(file)


@pytest.mark.parametrize(
    ("sentence", "rule", "metric"),
    [
        ("an unknown step", "sort", None),
        ("a step of a section that the study does not have", "match", None),
        ("a metric that the study does not choose", "score", "winkler"),
        ("an unknown metric", "score", "gower"),
    ],
    ids=lambda value: value if value and " " in value else "",
)
def test_what_a_study_does_not_ask_for_has_no_digest(members, sentence, rule, metric):
    assert members.known_digest("", rule, metric) is None


def test_every_other_step_has_the_digest_that_its_rule_has(members):
    for place in ("", "variants/alpha-1-2"):
        assert members.known_digest(place, "score", "taxicab") == members.digest(place, "score", "taxicab")
        assert members.known_digest(place, "prepare") == members.digest(place, "prepare")
