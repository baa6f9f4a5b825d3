"""The simulated census of two local authorities: the same for a seed, as large as it says, a survey inside it."""

import numpy as np
import pytest
from reident.errors import InputError
from reident.sections.simulation import LocalAuthorities
from reident.simulation import populate
from reident.simulation.authorities import KEY


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


def test_persons_of_the_survey_are_persons_of_the_population():
    found = drawn(fraction=0.2)
    names = ["AREA", *KEY]
    held = found["population"].groupby(names).size()
    taken = found["survey"].groupby(names).size()
    assert (taken <= held.reindex(taken.index).fillna(0)).all()
    assert found["survey"]["SERIAL"].is_unique


def test_twelve_variables_that_depend_on_each_other():
    people = drawn()["population"].astype(int)
    assert len(KEY) == 12
    assert people["AGE"].between(0, 17).all()
    assert (
        people["CARS"].between(0, 3) & people["ROOMS"].between(1, 8) & people["HHSIZE"].between(1, 6)
    ).all()
    assert (people.loc[people["AGE"] < 3, "ECON"] == 0).all()
    assert people["ROOMS"].corr(people["HHSIZE"]) > 0.3
    assert people["CARS"].corr(people["HHSIZE"]) > 0.1
    assert (people.nunique() > 1).all()


def test_one_area_does_not_depend_on_the_other():
    alone, larger = (drawn(households=n)["population"] for n in ((600, 300), (600, 400)))
    assert np.array_equal(alone[alone["AREA"] == "1"], larger[larger["AREA"] == "1"])


def test_a_fraction_that_selects_no_one_is_an_error():
    with pytest.raises(InputError, match=r"`simulate\.fraction` selects no one in at least one area"):
        drawn(households=(5, 5), fraction=0.001)
