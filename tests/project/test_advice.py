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


def answers_of(rng, people, values):
    """Five answers of people, each drawn anew with the probability of a twentieth."""
    columns = {}
    for i in range(5):
        answer = values[i][people].copy()
        wrong = rng.random(len(people)) < 0.05
        answer[wrong] = rng.integers(0, 4, wrong.sum())
        columns[f"x{i}"] = answer.astype(str)
    return columns


def survey_and_broker():
    """2,000 released people and a broker's 2,000, of whom 1,000 are released; a tenth has moved to another area."""
    rng = np.random.default_rng(6)
    values, area = rng.integers(0, 4, (5, 4000)), rng.integers(0, 200, 4000)
    later = np.where(rng.random(4000) < 0.1, rng.integers(0, 200, 4000), area)

    def file(key, people, areas):
        places = {"area": areas[people].astype(str), "region": (areas[people] // 20).astype(str)}
        return frame(key, people, **places, **answers_of(rng, people, values))

    return file("puf_id", np.arange(2000), area), file("eif_id", np.arange(1000, 3000), later)


FIVE = {f"x{i}": "categorical" for i in range(5)}


@pytest.mark.slow
def test_a_fine_area_as_stratum_loses_who_moved_and_finds_more_of_the_others():
    puf, eif = survey_and_broker()
    links = pd.DataFrame({"puf_id": np.arange(1000, 2000).astype(str), "eif_id": np.arange(1000, 2000).astype(str)})
    found = {}
    for name, strata, more in (("none", [], {}), ("region", ["region"], {}), ("area", ["area"], {}),
                               ("linking", [], {"area": "categorical"})):  # fmt: skip
        result = reident.attack(
            puf, eif, links, variables=FIVE | more, metrics=["taxicab", "fellegi_sunter"],
            **({"strata": strata} if strata else {}),
        )  # fmt: skip
        found[name] = result.rates.query("stratum == 'ALL'").set_index("metric")
    assert [rate.loc["taxicab", "n_confirmed"] for rate in found.values()] == [642, 812, 856, 902]
    assert [f"{rate.loc['taxicab', 'conditional_rate']:.2f}" for rate in found.values()] == [
        "0.36",
        "0.44",
        "0.86",
        "0.49",
    ]
    assert found["area"].loc["taxicab", "n_findable"] == 904
    assert found["none"].loc["fellegi_sunter", "n_suspected"] == 0, "a blind intruder with weak evidence claims nobody"


@pytest.mark.slow
def test_codes_that_differ_lose_people_and_not_credibility():
    puf, eif = survey_and_broker()
    other = eif.assign(x0=eif["x0"].map({"0": "a", "1": "b", "2": "c", "3": "3"}))
    links = pd.DataFrame({"puf_id": np.arange(1000, 2000).astype(str), "eif_id": np.arange(1000, 2000).astype(str)})
    found = []
    for file in (eif, other):
        result = reident.attack(puf, file, links, variables=FIVE, metrics=["unicity", "taxicab"], strata=["region"])
        found.append(result.rates.query("stratum == 'ALL'").set_index("metric"))
    right, wrong = found
    assert right["n_confirmed"].tolist() == [448, 812]
    assert wrong["n_confirmed"].tolist() == [110, 701]
    assert wrong.loc["taxicab", "conditional_rate"] > right.loc["taxicab", "conditional_rate"]


@pytest.mark.slow
def test_the_order_of_the_survey_names_people_and_an_order_by_published_values_does_not():
    """600 of 1,200 people are released, and 720 are in the intruder's file, both in the order of the survey."""
    rng = np.random.default_rng(9)
    age, income = rng.integers(18, 90, 1200), np.exp(rng.normal(10, 0.6, 1200)).round(-2)
    answers = {"edu": rng.integers(1, 5, 1200), "job": rng.integers(1, 13, 1200)}
    released, held = np.sort(rng.permutation(1200)[:600]), np.sort(rng.permutation(1200)[:720])
    both = np.intersect1d(released, held)

    def noisy(people, seed, size):
        return (income[people] * np.exp(np.random.default_rng(seed).normal(0, size, 1200)[people])).round(-2)

    keys = {"puf": np.random.default_rng(3).permutation(10000), "eif": np.random.default_rng(5).permutation(20000)}
    wrong = np.random.default_rng(4)
    seen = {name: np.where(wrong.random(1200) < share, wrong.integers(1, answer.max() + 1, 1200), answer)
            for (name, answer), share in zip(answers.items(), (0.05, 0.1), strict=True)}  # fmt: skip
    puf = frame("puf_id", keys["puf"][released], age=age[released] // 5 * 5, income=noisy(released, 1, 0.1),
                **{name: answer[released].astype(str) for name, answer in answers.items()})  # fmt: skip
    eif = frame("eif_id", keys["eif"][held], age=age[held], income=noisy(held, 2, 0.05),
                **{name: answer[held].astype(str) for name, answer in seen.items()})  # fmt: skip
    links = frame("puf_id", keys["puf"][both], eif_id=keys["eif"][both].astype(str))
    variables = {"age": "numeric", "income": "numeric", "edu": "categorical", "job": "categorical"}

    def names(released_file, outside, **more):
        result = reident.attack(released_file, outside, links, variables=variables | more, metrics=["fellegi_sunter"])
        return result, result.surest_summary.set_index("metric").loc["fellegi_sunter", "n_right"]

    result, alone = names(puf, eif)
    assert (len(both), alone) == (353, 294)
    assert "order" in set(result.warnings["code"])
    assert result.attacks.query("kind == 'order'")["n_right"].tolist() == [342]
    ties = np.random.default_rng(11).random(600)
    by_income = puf.iloc[np.lexsort((ties, puf["income"]))].reset_index(drop=True)
    result, _ = names(by_income, eif)
    assert not [code for code in result.warnings["code"] if "order" in code]
    outside = eif.sort_values("income", kind="stable").reset_index(drop=True)
    places = by_income.assign(place=np.arange(600) * 1.2), outside.assign(place=np.arange(720))
    assert names(*places, place="numeric")[1] == 123, "the place misleads whoever believes in it"


def test_a_copy_of_the_confidential_file_has_the_largest_expected_match_risk_and_not_the_largest_rate_of_true_matches():
    pairs = pd.DataFrame({"age": np.repeat(np.arange(50), 2).astype(str), "sex": "1", "income": "1"})
    changed = pairs.copy()
    changed.loc[::2, "income"] = "2"
    known = {"known": ["age", "sex"], "synthesized": ["income"]}
    copy, half = (
        reident.matching_risk(pairs, [file], **known).summary.query("file == '1'").iloc[0] for file in (pairs, changed)
    )
    assert (copy["expected_match_risk"], copy["true_match_rate"]) == (50, 0)
    assert (half["expected_match_risk"], half["true_match_rate"]) == (50, 0.5)
    rng = np.random.default_rng(12)
    people = pd.DataFrame(
        {"age": rng.integers(1, 9, 400), "sex": rng.integers(1, 3, 400), "income": rng.integers(1, 7, 400)}
    )
    people = people.astype(str)
    largest = (
        reident.matching_risk(people, [people], **known).summary.query("file == '1'")["expected_match_risk"].item()
    )
    assert largest == len(people.drop_duplicates())
    for seed in range(10):
        draw = np.random.default_rng(seed)
        file = people.copy()
        some = draw.random(400) < draw.random()
        file.loc[some, "income"] = draw.integers(1, 7, some.sum()).astype(str)
        risk = reident.matching_risk(people, [file], **known).summary.query("file == '1'")["expected_match_risk"].item()
        assert risk <= largest + 1e-9


def test_links_of_hard_people_that_are_missing_raise_the_reach():
    rng = np.random.default_rng(13)
    both, values = np.arange(400), rng.integers(0, 8, (4, 800))
    perturbed = np.where(rng.random((4, 800)) < 0.15, rng.integers(0, 8, (4, 800)), values)
    errors = (perturbed != values)[:, both].sum(axis=0)
    released, held = np.arange(600), np.r_[both, np.arange(600, 800)]
    puf, eif = (
        frame(key, people, **{f"x{i}": answer[people].astype(str) for i, answer in enumerate(file)})
        for key, people, file in (("puf_id", released, perturbed), ("eif_id", held, values))
    )
    variables = {f"x{i}": "categorical" for i in range(4)}
    easy = both[np.sort(np.argsort(errors, kind="stable")[:300])]
    some = np.sort(rng.permutation(both)[:300])
    found = [rates(puf, eif, people, variables, ["taxicab"]).loc["taxicab"] for people in (both, some, easy)]
    assert [f"{line.reach:.2f}" for line in found] == ["0.57", "0.58", "0.77"]
    assert [f"{line.conditional_rate:.2f}" for line in found] == ["0.80", "0.61", "0.80"]
