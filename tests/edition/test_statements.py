"""What a reader of both files can tell from a statement, by every secret of small studies (METHODS §11.2)."""

import pytest
from hypothesis import settings
from making import statements as making
from reident.edition import safety

pytestmark = pytest.mark.many

SETTINGS = ("free", "matching", "two", "classes")
"""Any links; links that readers take to be one to one; up to two links a record; larger studies, by class."""

FEW = max(settings().max_examples // 2, 5)
"""Drawn studies: 5 in the quick tests, 25 in all of them, and a thousand by night."""

POLICIES = [*making.BUNDLED, *making.SMALL_POLICIES]


def tried(seeds, name, setting, stating=making.rule_alone):
    found = making.Counter()
    for seed in seeds:
        more = making.by_class(seed, name, stating) if setting == "classes" else None
        found.update(making.by_record(seed, name, setting, stating) if more is None else more)
    return found


def failed(found):
    return {kind: n for kind, n in found.items() if n and kind in {"not free", "narrow", "untrue"}}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", POLICIES)
def test_records_are_free_counts_are_wide_and_texts_are_true(name, setting):
    found = tried(range(FEW), name, setting)
    assert failed(found) == {}
    assert found["secrets"] > 100


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_holds_for_policies_of_an_agency_of_its_own(setting):
    for seed in range(2 * FEW):
        assert failed(tried([seed], f"own {seed}", setting)) == {}, seed


@pytest.mark.parametrize("first", [*making.SMALL_POLICIES, "base-3-random", "own 4"])
@pytest.mark.parametrize("name", ["small-3", "redact-5", "base-3-random", "opensafely"])
def test_two_statements_about_the_same_people_leave_records_free(name, first):
    for setting in ("free", "matching", "classes"):
        assert failed(tried(range(FEW // 2), name, setting, making.after(first))) == {}


@pytest.mark.parametrize("name", POLICIES)
def test_records_are_free_without_the_widths(name):
    found = tried(range(FEW // 2), name, "classes", making.without_widths)
    assert found["not free"] == 0


@pytest.mark.parametrize("name", ["small-3", "opensafely", "base-3-random"])
@pytest.mark.parametrize("many", [1000, 2])
def test_a_study_is_safe_too_where_it_counts_as_large(name, many, monkeypatch):
    """Fractions that are rounded down; a part of the unknowns first, then whole numbers beside fractions."""
    monkeypatch.setattr(safety, "FEW", 0)
    monkeypatch.setattr(safety, "MANY", many)
    assert failed(tried(range(FEW // 2), name, "classes", making.each_anew)) == {}


def test_a_statement_that_takes_too_many_steps_tells_less_and_holds(monkeypatch):
    most = tried(range(FEW), "small-3", "classes", making.each_anew)
    monkeypatch.setattr(safety, "MAX_WORK", 12)
    found = tried(range(FEW), "small-3", "classes", making.each_anew)
    assert failed(found) == {}
    assert 0 < found["telling"] < most["telling"]


CONTROLS = [
    (making.own_texts, "classes", "census-drb"),
    (making.own_texts, "free", "opensafely"),
    (making.own_texts_if_safe, "classes", "census-drb"),
    (making.own_texts_if_safe, "free", "opensafely"),
    (making.less_free, "free", "base-3-random"),
    (making.less_free, "matching", "redact-5"),
]


@pytest.mark.parametrize(("control", "setting", "name"), CONTROLS)
def test_the_check_finds_what_does_not_hold(control, setting, name):
    found = tried(range(2 * FEW), name, setting, control)
    assert sum(failed(found).values()) >= (FEW if FEW <= 5 else 300)


def test_statements_tell_something():
    found = tried(range(2 * FEW), "small-3", "classes")
    assert found["telling"] > 10 * FEW
