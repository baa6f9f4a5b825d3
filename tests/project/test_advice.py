"""Sentences of the pages that advise: each is true of simulated files, whose figures the page has."""

import numpy as np
import pandas as pd
import pytest
import reident

LETTERS = list("abcdefgh")


def rates(puf, eif, people, variables, metrics):
    """The rates of the whole study, by metric; the people of `people` have the same key in both files."""
    links = pd.DataFrame({"puf_id": people.astype(str), "eif_id": people.astype(str)})
    found = reident.attack(puf, eif, links, variables=variables, metrics=metrics).rates
    return found[found["stratum"] == "ALL"].set_index("metric")


def frame(key, people, **columns):
    return pd.DataFrame({key: people.astype(str), **columns})


def waves(kept):
    """Two waves with noise of a tenth on three amounts: the last file, this one, and the noise of five waves."""
    rng = np.random.default_rng(1)
    amounts = np.exp(rng.normal(10, 0.6, (1400, 3)))
    this_year = amounts * np.exp(rng.normal(0.02, 0.03, amounts.shape))
    first = rng.normal(0, 0.1, amounts.shape)
    noise = [first, *(first if kept else rng.normal(0, 0.1, amounts.shape) for _ in range(4))]
    return amounts * np.exp(noise[0]), this_year * np.exp(noise[1]), noise


def nearest_right(last, this):
    """The share of the 600 people of both files whose nearest record is their own."""
    held, others = np.arange(400, 1000), np.arange(1000)
    distances = ((np.log(this[held])[:, None] - np.log(last[others])[None]) ** 2).sum(axis=2)
    return (others[distances.argmin(axis=1)] == held).mean()


def test_noise_that_is_kept_links_waves_and_fresh_noise_averages_out():
    last, this, noise = waves(kept=True)
    fresh_last, fresh_this, fresh_noise = waves(kept=False)
    assert nearest_right(last, this) > 0.85
    assert nearest_right(fresh_last, fresh_this) < 0.35
    assert np.abs(np.mean(fresh_noise, axis=0)).mean() < 0.5 * np.abs(np.mean(noise, axis=0)).mean()


@pytest.mark.slow
def test_coarser_classes_make_linking_waves_harder():
    """Ages and incomes, in single units or in classes of 10 years and 5,000, the same in both waves; three answers."""
    rng = np.random.default_rng(7)
    ages, incomes, answers = rng.integers(0, 90, 1400), np.exp(rng.normal(10, 0.6, 1400)), rng.integers(0, 5, (3, 1400))

    def wave(key, people, later, widths):
        values = {"age": ages[people] + later, "income": incomes[people] * (1 + 0.02 * later)}
        classes = {name: values[name] // width * width for name, width in zip(values, widths, strict=True)}
        return frame(key, people, **classes, **{f"x{i}": answer[people] for i, answer in enumerate(answers)})

    variables = {"age": "numeric", "income": "numeric"} | {f"x{i}": "categorical" for i in range(3)}
    found = [
        rates(wave("puf_id", np.arange(400, 1400), 1, widths), wave("eif_id", np.arange(1000), 0, widths),
              np.arange(400, 1000), variables, ["fellegi_sunter"]).loc["fellegi_sunter", "n_confirmed"]
        for widths in ((1, 100), (10, 5000))
    ]  # fmt: skip
    assert found == [600, 422]


@pytest.mark.slow
def test_the_conditional_rate_depends_on_coverage_and_reach_does_not():
    """2,000 records of eight answers, 2 % of the intruder's wrong, and as many people in his file."""
    values = np.random.default_rng(2).integers(0, 5, (40000, 8))
    released = np.arange(2000)
    puf = frame("puf_id", released, **dict(zip(LETTERS, values[released].T, strict=True)))
    found = {}
    for share in (1, 0.25, 0.05):
        rng = np.random.default_rng(3)
        held = int(2000 * share)
        people = np.r_[released[:held], np.arange(2000, 4000 - held)]
        answers = values[people].copy()
        wrong = rng.random(answers.shape) < 0.02
        answers[wrong] = rng.integers(0, 5, wrong.sum())
        eif = frame("eif_id", people, **dict(zip(LETTERS, answers.T, strict=True)))
        found[share] = rates(puf, eif, released[:held], dict.fromkeys(LETTERS, "categorical"), ["taxicab"]).loc[
            "taxicab"
        ]
    assert [f"{100 * row.conditional_rate:.1f}" for row in found.values()] == ["99.7", "68.8", "27.0"]
    assert min(row.reach for row in found.values()) > 0.99


@pytest.mark.slow
def test_the_rates_of_a_register_of_everyone_bound_neither_other_metrics_nor_other_variables():
    rng = np.random.default_rng(4)
    people, released = np.arange(3000), np.arange(1500)
    known = {"age": rng.integers(18, 80, 3000), "sex": rng.integers(1, 3, 3000), "region": rng.integers(1, 9, 3000)}
    amounts = np.exp(rng.normal(10, 0.7, (2, 3000)))

    def of(key, chosen, noise=None):
        columns = {name: values[chosen] for name, values in known.items()}
        if noise is not None:
            columns |= {f"x{i}": (amount[chosen] * np.exp(noise[i])).round(-2) for i, amount in enumerate(amounts)}
        return frame(key, chosen, **columns)

    puf = of("puf_id", released, np.zeros((2, 1500)))
    variables = {"age": "numeric", "sex": "categorical", "region": "categorical"}
    metrics = ["taxicab", "euclidean", "adhoc", "fellegi_sunter"]
    register = rates(puf, of("eif_id", people), released, variables, metrics)
    some = np.arange(900, 2100)
    broker = rates(
        puf, of("eif_id", some, rng.normal(0, 0.05, (2, 1200))), some[:600],
        variables | {"x0": "numeric", "x1": "numeric"}, metrics,
    )  # fmt: skip
    assert register.loc[metrics, "n_confirmed"].tolist() == [0, 1179, 82, 0]
    assert broker.loc[metrics, "n_confirmed"].tolist() == [506, 600, 600, 578]


def test_missing_links_are_estimated_from_the_share_of_true_links_among_records_without_one():
    """190 of 1,000 records have a true link, of which 100 are known: 47 % are missing."""
    rng = np.random.default_rng(5)
    estimates = []
    for _ in range(500):
        true = rng.permutation(1000)[:190]
        known = rng.permutation(true)[:100]
        searched = rng.choice(np.setdiff1d(np.arange(1000), known), 200, replace=False)
        found = np.isin(searched, true).mean()
        estimates.append(900 * found / (100 + 900 * found))
    assert abs(np.mean(estimates) - 90 / 190) < 0.02
