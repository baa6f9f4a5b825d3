"""The confirmed rate with ten times the intruder's file, in populations that are fully known (METHODS §6.5)."""

import pytest
from making.populations import Kind, counted, draw, extrapolating, truth
from reident.larger.curves import extrapolate

pytestmark = pytest.mark.slow

SIZE = {"people": 200_000, "n_puf": 40_000, "n_eif": 10_000}
KINDS = [
    Kind("taxicab", 6, 0),
    Kind("taxicab", 6, 0, strata=4, changed=0.05),
    Kind("taxicab", 6, 0, missing=0.05),
    Kind("taxicab", 6, 0, missing=0.05, strata=8),
    Kind("taxicab", 4, 3),
    Kind("taxicab", 4, 3, strata=4, noise=0.05),
    Kind("euclidean", 0, 5),
    Kind("euclidean", 0, 5, strata=8, noise=0.05),
    Kind("euclidean", 4, 3, noise=0.05),
    Kind("euclidean", 4, 3, strata=4, missing=0.05),
    Kind("adhoc", 4, 3),
    Kind("adhoc", 4, 3, strata=4, noise=0.05, changed=0.05),
    Kind("adhoc", 4, 3, missing=0.05),
    Kind("winkler", 0, 5, options={"agreement": {"closest": 4}}),
    Kind("winkler", 0, 5, strata=4, noise=0.05, options={"agreement": {"closest": 4}}),
    Kind("fellegi_sunter", 6, 0, missing=0.05, strata=8, options={"m": "informed"}),
    Kind("fellegi_sunter", 4, 3, strata=4, options={"m": "informed"}),
    Kind("unicity", 6, 0, **SIZE),
    Kind("unicity", 6, 0, strata=8, missing=0.05, **SIZE),
    Kind("unicity", 4, 3, strata=4, **SIZE),
]
MAX_ERROR = 0.03


def test_the_estimate_is_within_three_points_of_the_truth_in_20_populations():
    """At least 18 of the intervals of 95 % contain the truth."""
    inside = 0
    for seed, kind in enumerate(KINDS):
        population = draw(kind, seed)
        table = extrapolate(extrapolating(kind), {kind.metric: counted(population)})
        line = table[(table["quantity"] == "confirmed_rate") & (table["times"] == 10)].iloc[0]
        observed = truth(population)
        assert abs(line["estimate"] - observed) <= MAX_ERROR, (kind, line["estimate"], observed)
        inside += line["low"] <= observed <= line["high"]
    assert inside >= 18
