"""The rates with a larger intruder's file, in populations that are fully known (METHODS §6.5)."""

from typing import NamedTuple

import numpy as np
import pytest
from making.populations import TIMES, Kind, counted, draw, extrapolating, truth
from reident.larger.curves import extrapolate
from reident.linkage.metrics import REGISTRY

pytestmark = pytest.mark.long

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
    Kind(
        "fellegi_sunter",
        6,
        0,
        missing=0.05,
        strata=8,
        options={"m": "informed", "competition": False, "frequency": False},
    ),
    Kind("fellegi_sunter", 4, 3, strata=4, options={"m": "informed", "competition": False, "frequency": False}),
    Kind("unicity", 6, 0, **SIZE),
    Kind("unicity", 6, 0, strata=8, missing=0.05, **SIZE),
    Kind("unicity", 4, 3, strata=4, **SIZE),
]
MAX_ERROR = 0.03
MANY = 40_000
"""Of PUF records, of which the file holds 2,000: first places are rarer than five first ones, and vary more."""


EVERYONE = 20
"""The multiple of the intruder's file that holds the whole population."""

FITTED = ("best_guess_rate", "confirmed_rate")
FEW = 6_000
"""Of PUF records, of which the file holds 300: what is first among all people is then uncertain."""


class Outcome(NamedTuple):
    """How far an estimate is from the truth, and whether its interval contains the truth."""

    error: float
    inside: bool


def test_the_confirmed_rate_is_within_three_points_of_the_truth_in_20_populations():
    """At least 18 of the intervals of 95 % contain the truth."""
    found = [outcomes(kind, seed)["confirmed_rate"] for seed, kind in enumerate(KINDS)]
    assert max(abs(own.error) for own in found) <= MAX_ERROR
    assert sum(own.inside for own in found) >= 18


def test_the_rate_of_one_best_guess_is_within_three_points_of_the_truth_in_20_populations():
    """At least 18 of the intervals of 95 % contain the truth; unicity does not rank its candidates."""
    found = [outcomes(kind, seed)["best_guess_rate"] for seed, kind in enumerate(ranked(MANY, 20))]
    assert max(abs(own.error) for own in found) <= MAX_ERROR
    assert sum(own.inside for own in found) >= 18


@pytest.mark.parametrize(("times", "most", "least"), [(TIMES, 0.04, 0.0), (EVERYONE, 0.12, 0.06)])
def test_with_few_held_records_the_interval_and_not_the_estimate_tells_the_best_guess(times, most, least):
    """In 24 populations; near the whole population estimates of the best guess are too far off to be shown alone."""
    found = [outcomes(kind, seed, times) for seed, kind in enumerate(ranked(FEW, 24))]
    guesses, confirmed = ([own[name] for own in found] for name in FITTED)
    assert sum(own.inside for own in guesses) >= 21
    assert sum(own.inside for own in confirmed) >= 21
    assert least <= spread(guesses) <= most
    assert spread(confirmed) <= most / 2


def spread(found: list[Outcome]) -> float:
    """Return the root mean square of the errors."""
    return float(np.sqrt(np.mean([own.error**2 for own in found])))


def ranked(n_puf: int, n: int) -> list[Kind]:
    """Return the first kinds that rank their candidates, over again where there are fewer, with so many PUF records."""
    kinds = [kind._replace(n_puf=n_puf) for kind in KINDS if REGISTRY[kind.metric].ranked]
    return (kinds * 2)[:n]


def outcomes(kind: Kind, seed: int, times: int = TIMES) -> dict[str, Outcome]:
    """Return how the estimates with a file of a multiple of the size compare with the truth, by quantity."""
    population = draw(kind, seed, times)
    table = extrapolate(extrapolating(kind, times=times), {kind.metric: counted(population)})
    lines = table[table["times"] == times].set_index("quantity")
    return {
        name: Outcome(lines.at[name, "estimate"] - rate, bool(lines.at[name, "low"] <= rate <= lines.at[name, "high"]))
        for name, rate in truth(population).items()
    }
