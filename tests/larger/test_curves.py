"""Parts of the intruder's file, the rates by its size, and the fitted curve (METHODS §6.5)."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from larger.cases import RIVALS, counts
from making.populations import Kind, draw, ranked_pairs
from reident.larger import curves, rarity, thinning
from reident.larger.rivals import NEVER, _link_rivals
from reident.larger.settings import ExtrapolationSettings
from reident.linkage.metrics.contract import ScoringContext
from reident.pipeline.tables import TABLES


def settings_of(**changes):
    fields = {
        "metrics": ("taxicab",),
        "limits": {"taxicab": 5},
        "fixed": (),
        "keep": 20,
        "times": (2.0, 10.0),
        "population": 26_000,
        "level": 0.95,
    } | changes
    return ExtrapolationSettings(**fields)


def lines(table, quantity="confirmed_rate"):
    declared = table.reindex(columns=TABLES["extrapolate"][0].names)
    return declared[table["quantity"] == quantity].set_index("times")


def test_observed_rates_are_means_over_the_draws():
    table = counts(RIVALS)
    found = curves.extrapolate(settings_of(), {"taxicab": table})
    quarter = table[table["share"] == 0.25]
    by_draw = [own for _, own in quarter.groupby("draw")]
    suspected = [own.loc[own["candidates"] > 0, "n_records"].sum() for own in by_draw]
    confirmed = [own.loc[own["links"] > 0, "n_records"].sum() for own in by_draw]
    right = [(own["n_records"] * own["links"] / own["candidates"].clip(lower=1)).sum() for own in by_draw]
    first = [own.loc[(own["held"] == 1) & (own["rivals"] == 0), "n_records"].sum() for own in by_draw]
    expected = {
        "suspected_rate": np.mean(suspected) / 3000,
        "confirmed_rate": np.mean(confirmed) / 3000,
        "conditional_rate": np.mean(np.divide(confirmed, suspected)),
        "expected_correct_rate": np.mean(np.divide(right, suspected)),
        "best_guess_rate": np.mean(first) / 3000,
    }
    for quantity, value in expected.items():
        line = lines(found, quantity).loc[0.25]
        assert line["observed"] == pytest.approx(value, abs=1e-12)
        assert (line["draws"], line["n_eif"]) == (2, 500)


def test_equally_good_pairs_come_in_every_order():
    """The rivals that come before a true link, against all orders of the equal pairs."""
    states = [(3, 1, 1, 5), (3, 0, 1, 2), (2, 0, 2, 3), (20, 0, 0, 4), (0, 0, 1, 7)]
    names = ["rivals", "better", "own", "n_records"]
    table = pd.DataFrame(states, columns=names).assign(share=1.0, draw=0, n_eif=9, held=1, links=1)
    expected = np.zeros(21)
    for rivals, better, own, n in states:
        if not own:
            expected[20] += n
            continue
        orders = set(permutations([1] * own + [0] * (rivals - better)))
        for order in orders:
            expected[better + order.index(1)] += n / len(orders)
    assert curves.describe(settings_of(), "taxicab", table).before == pytest.approx(expected)
    best = sum(n * own / (rivals + own) for rivals, better, own, n in states if own and not better)
    guess = curves.observed(table.assign(candidates=1), ranked=True)["best_guess_rate"]
    assert guess.item() == pytest.approx(best / 21, abs=1e-12)


@pytest.mark.parametrize(
    ("rivals", "changes", "status"),
    [
        (RIVALS, {}, "ok"),
        (RIVALS, {"fixed": ("taxicab",)}, "size_dependent"),
        ((19,), {}, "too_few"),
        ((20,), {}, "ok"),
        ((0, 0, 0, 0, 0, 500), {}, "too_few"),
        (RIVALS, {"population": 2000}, "whole_population"),
        (RIVALS, {"population": 1500}, "whole_population"),
    ],
    ids=["a curve", "size", "19", "20", "never", "all", "more than all"],
)
def test_without_a_reason_there_is_no_number(rivals, changes, status):
    found = lines(curves.extrapolate(settings_of(**changes), {"taxicab": counts(rivals)}))
    assert set(found["status"]) == {status}
    assert found["estimate"].notna().all() == (status == "ok")
    assert found["high"].notna().any() == (status == "ok")
    assert found.loc[:1, "observed"].notna().all()


@pytest.mark.parametrize(("population", "consistent"), [(28_000, True), (26_000, True), (100_000, False)])
def test_links_that_are_no_sample_grow_in_proportion(population, consistent):
    held = curves.describe(settings_of(population=population), "taxicab", counts(RIVALS))
    share, h = 2000 / population, sum(RIVALS) / 3000
    assert held.consistent == consistent
    expected = h + (1 - h) * share / (1 - share) if consistent else 2 * h
    assert held.linked(2, population) == pytest.approx(expected)


def test_the_model_is_that_of_sampling():
    """The chances of a grid point are binomial; confirmation_chances() is what brute force counts."""
    known = rarity.rarity(np.array([5, 3, 2, 1, 1]), 0.3)
    rng = np.random.default_rng(3)
    for at in (0, 1, 5, 12):
        n = int(known.people[at])
        drawn = rng.binomial(n, 0.3, 40_000)
        share = np.bincount(np.minimum(drawn, 4), minlength=5) / 40_000
        assert known.chances[:, at] == pytest.approx(share, abs=0.012)
        more = rng.binomial(n, 0.9, 40_000) < 3
        assert rarity.confirmation_chances(known, 0.9, 3)[at] == pytest.approx(more.mean(), abs=0.012)
    assert known.chances.sum(axis=0) == pytest.approx(1)
    assert (rarity.confirmation_chances(known, 1.0, 3)[:-1] == (known.people < 3)).all()
    assert known.chances[:, -1].tolist() == [0, 0, 0, 0, 1]


def test_the_range_holds_the_likely_and_shrinks_with_the_records():
    sizes = {}
    for n in (1, 10):
        known = rarity.rarity(n * np.array([40, 20, 8, 4, 3, 30]), 0.1)
        values = rarity.confirmation_chances(known, 0.5, 2)
        low, high = rarity.likely(known, values, 1.92)
        assert 0 <= low <= high <= 1
        sizes[n] = high - low
        assert low - 0.02 <= float(values @ rarity.smooth(known)) <= high + 0.02
    assert sizes[10] < sizes[1]
    certain = rarity.rarity(np.array([0, 0, 0, 50]), 0.1)
    assert rarity.likely(certain, rarity.confirmation_chances(certain, 0.1, 1), 1.92)[1] < 0.1


SMALL = Kind("taxicab", 3, 0, strata=2, missing=0.1, people=400, n_puf=60, n_eif=40)


def test_counts_add_up_to_the_records_of_the_file():
    population = draw(SMALL, 1)
    study, ranked = population.study, ranked_pairs(population)
    table = thinning.thin(population.settings, "taxicab", study, ranked, ScoringContext())
    assert set(table) == set(TABLES["thin"][0].names)
    assert set(table.groupby(["share", "draw"])["n_records"].sum()) == {60}
    whole = table[table["share"] == 1]
    own = thinning.attacked(population.settings, "taxicab", population.study, ScoringContext())
    assert whole.loc[whole["links"] > 0, "n_records"].sum() == (own.links > 0).sum()
    assert whole.loc[whole["held"] == 1, "n_records"].sum() == own.held.sum()


@pytest.mark.parametrize(
    ("sets", "expected"),
    [("all", [1, 0, NEVER, NEVER]), ("full", [NEVER, 0, NEVER, NEVER]), ("jointly_observed", [NEVER, 0, NEVER, NEVER])],
)
def test_the_largest_set_on_which_two_records_agree_decides(sets, expected):
    p = np.array([[1, 1], [2, 2], [3, 3], [3, 3], [-1, 4]], np.int32)
    e = np.array([[1, 5], [1, 6], [2, 2], [3, 3], [4, -1]], np.int32)
    links = np.array([0, 1, 2, 4]), np.array([0, 2, 3, 4])
    assert _link_rivals(p, e, *links, sets).tolist() == expected
