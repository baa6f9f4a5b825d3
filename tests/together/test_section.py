"""The option `together`: what it names, what its files must share, and what is not part of a variant (METHODS §6.6)."""

import pytest
from making import studies
from making.studies import files, plain
from pydantic import ValidationError
from reident.errors import InputError
from reident.pipeline.family import Family
from reident.study.model import Study

TWO = {"name": "broker", "combinations": {"one": {}, "two": {"files.eif.path": "b.csv", "files.iuf.path": "l.csv"}}}
ALPHA = {"set": "metrics.taxicab.alpha", "values": [0.25, 0.5]}
LIMITS = {"conditional_rate_at_most": 0.1, "together_confirmed_rate_at_most": 0.2}


def family(folder, *varied, **sections):
    content = plain(variants=list(varied) or [TWO], together="broker", **sections)
    return Family(studies.saved(folder, content))


def test_each_label_is_an_intruder_and_that_of_the_study_shares_its_results(tmp_path):
    own = family(tmp_path)
    assert own.intruders == {"one": "variants/broker-one", "two": "variants/broker-two"}
    assert own.home("variants/broker-one", "confirm", "taxicab") == ""
    assert own.home("variants/broker-two", "confirm", "taxicab") == "variants/broker-two"


def test_other_items_of_the_variants_keep_the_values_of_the_study(tmp_path):
    own = family(tmp_path, ALPHA, TWO)
    assert list(own.intruders.values()) == ["variants/broker-one", "variants/broker-two"]
    assert str(own.at("variants/broker-two").chosen["taxicab"].alpha) == "1/2"


def test_a_variant_is_one_intruder_without_the_limits_for_several(tmp_path):
    own = family(tmp_path, decision=LIMITS)
    variant = own.at("variants/broker-two")
    assert variant.together is None
    assert not variant.decision.given("together")
    assert variant.decision.conditional_rate_at_most == 0.1
    assert [member.place for member in own.members] == ["", "variants/broker-two"]
    only = family(tmp_path, decision={"together_confirmed_rate_at_most": 0.2})
    assert only.at("variants/broker-two").decision is None
    assert [member.place for member in only.members] == ["", "variants/broker-two"]


def test_the_results_of_variants_do_not_depend_on_the_option(tmp_path):
    (tmp_path / "without").mkdir()
    content = plain(variants=[TWO])
    one, other = family(tmp_path), Family(studies.saved(tmp_path / "without", content))
    for rule in ("prepare", "stratify", "rank", "confirm", "rate"):
        for place in ("", "variants/broker-two"):
            assert one.digest(place, rule, "taxicab") == other.digest(place, rule, "taxicab")


@pytest.mark.parametrize(
    ("varied", "problem"),
    [
        ([ALPHA], "`.together` must be the name of an item of `variants`"),
        ([{**ALPHA, "name": "broker"}], "`.together` must name an item of `variants` that exchanges the external file"),
    ],
)
def test_it_names_an_item_that_exchanges_the_file(varied, problem):
    with pytest.raises(ValidationError, match=problem):
        Study.model_validate(plain(variants=varied, together="broker"))


@pytest.mark.parametrize(
    "setting",
    [{"files.puf.path": "other.csv"}, {"strata": ["region"]}, {"metrics.unicity": {}}, {"files.eif.person": "phone"}],
    ids=lambda setting: next(iter(setting)),
)
def test_the_files_must_be_comparable(tmp_path, setting):
    two = {"name": "broker", "combinations": {"one": {}, "two": {"files.eif.path": "b.csv", **setting}}}
    with pytest.raises(InputError, match="variant `broker-two`: the files of `together` must be compared with"):
        _ = family(tmp_path, two).members


def test_files_may_have_other_columns_and_names_of_persons(tmp_path):
    person = {"eif": {"path": "eif.csv", "id": "e", "person": "phone"}}
    two = {"files.eif.path": "b.csv", "files.eif.person": "mobile", "linking_variables.x.eif": "y"}
    own = family(tmp_path, {"name": "broker", "combinations": {"one": {}, "two": two}}, files=files(**person))
    assert len(own.members) == 2
    assert own.settings("", "join_files").person
    assert own.settings("variants/broker-two", "prepare").columns_of("eif") == ["e", "y", "c", "mobile"]
