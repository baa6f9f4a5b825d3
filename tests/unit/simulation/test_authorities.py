"""The simulated census of two local authorities: the same for a seed, as large as it says, a survey inside it."""

import pytest
from reident.errors import InputError
from reident.sections.simulation import LocalAuthorities
from reident.simulation import populate


def drawn(**keys):
    return populate(LocalAuthorities(kind="local-authorities", **{"households": (600, 300), **keys}))


def test_the_files_depend_only_on_the_seed():
    first, again, other = drawn(), drawn(), drawn(seed=5)
    for side in ("population", "survey"):
        assert first[side].equals(again[side])
        assert not first[side].equals(other[side])


def test_the_survey_is_the_fraction_of_each_area():
    found = drawn(fraction=0.1)
    population, survey = (found[side]["AREA"].value_counts() for side in ("population", "survey"))
    assert survey.to_dict() == {area: round(0.1 * n) for area, n in population.items()}
    assert population["1"] > 1.5 * population["2"]


def test_a_fraction_that_selects_no_one_is_an_error():
    with pytest.raises(InputError, match=r"`simulate\.fraction` selects no one in at least one area"):
        drawn(households=(5, 5), fraction=0.001)
