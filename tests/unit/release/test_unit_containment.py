"""Which attacks on units are contained in others, by their options alone (METHODS §11.2)."""

import pytest
from making.unit_studies import attack
from reident.release import unit_containment

BOTH = frozenset({"puf", "eif"})


def study(levels, members="all", *, missing=False, **metrics):
    variables = [(f"x{at}", "categorical", level == "u") for at, level in enumerate(levels)]
    return {"variables": variables, "missing": missing, "members": members, "max_pairs": 1, "metrics": metrics}


def how(few, many, one, *, other=None, single=frozenset(), complete=True):
    """How a metric of a study is contained in one of the same study, or of a variant."""
    attacks = {"": attack(one), **({"v": attack(other)} if other else {})}
    found = unit_containment.find(attacks, complete=complete, single=single).contained
    return {(one.smaller[1], one.larger): one.how for one in found if one.smaller[0] == ""}.get(
        (few, ("v" if other else "", many))
    )


UNIQUE = {"unicity": {"interactions": "full"}, "taxicab": {}, "euclidean": {"norm": "rms"}, "adhoc": {}}


@pytest.mark.parametrize(
    ("levels", "taxicab", "euclidean", "adhoc"),
    [
        ("mm", "found", "found", "found"),
        ("umm", "found", "found", "found"),
        ("um", "level", "found", "found"),
        ("uum", "passing", "passing", "found"),
        ("uu", "passing", "passing", "passing"),
    ],
)
def test_a_larger_unit_has_the_equal_members_too(levels, taxicab, euclidean, adhoc):
    """By the evidence of those left over, α/2·v − own − α·v_m, it is no better, as good, or better."""
    one = study(levels, **UNIQUE | {"adhoc": {"threshold": 5 * len(levels) - 4}})
    assert how("unicity", "taxicab", one) == taxicab
    assert how("unicity", "euclidean", one) == euclidean
    assert how("unicity", "adhoc", one) == adhoc


def test_units_of_one_row_are_records():
    one = study("umm", taxicab={}, adhoc={})
    assert how("taxicab", "adhoc", one) == "passing"
    assert how("taxicab", "adhoc", one, single=BOTH) == "alike"
    assert how("taxicab", "adhoc", one, single=frozenset({"eif"})) == "passing"
    assert how("taxicab", "adhoc", study("umm", "some", taxicab={}, adhoc={}), single=frozenset({"eif"})) == "alike"


@pytest.mark.parametrize("members", ["all", "some"])
@pytest.mark.parametrize("missing", [False, True])
def test_the_default_metrics_are_contained_in_each_other(members, missing):
    one = study("ummm", members, missing=missing, taxicab={}, adhoc={}, euclidean={"norm": "rms"})
    for few, many in (("euclidean", "taxicab"), ("taxicab", "adhoc"), ("euclidean", "adhoc")):
        assert how(few, many, one, complete=not missing) == "passing"
        assert how(many, few, one, complete=not missing) is None


def test_a_higher_threshold_passes_less_and_ranks_otherwise():
    assert how("taxicab", "taxicab", study("mm", taxicab={"alpha": "1/4"}), other=study("mm", taxicab={})) == "passing"
    assert how("taxicab", "taxicab", study("mm", taxicab={}), other=study("mm", taxicab={})) == "alike"


def test_evidence_in_proportion_ranks_alike():
    one = study("umm", taxicab={"alpha": "1"}, adhoc={})
    assert how("taxicab", "adhoc", one) == how("adhoc", "taxicab", one) == "alike"
    assert how("taxicab", "euclidean", study("u", taxicab={}, euclidean={})) == "alike"


def test_an_intruder_who_knows_some_members_finds_what_one_who_knows_all_finds():
    known = study("mm", taxicab={}), study("mm", "some", taxicab={})
    assert how("taxicab", "taxicab", known[0], other=known[1]) == "passing"
    assert how("taxicab", "taxicab", known[1], other=known[0]) is None
    own = study("uum", taxicab={}), study("uum", "some", taxicab={})
    assert how("taxicab", "taxicab", own[0], other=own[1]) is None  # members left over speak for the pair there
