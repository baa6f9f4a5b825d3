"""The report on confirmation by values: numbers of the tables, the verdict, and what it does not say."""

import pandas as pd
import pytest
from making.confirmed import SPEC, write_confirmed
from making.examples import cases
from making.report import rows
from reident import language
from reident.page.sentences import use
from reident.page.wording import percent
from reident.report.results import Results
from reident.values import report as values

NAN = float("nan")


@pytest.fixture(scope="module", params=["en", "de"])
def results(request, tmp_path_factory):
    """Return the results of each released file, in one language."""
    return {
        name: Results(write_confirmed(tmp_path_factory.mktemp(name) / "results", name, language=request.param))
        for name in ("synthetic", "reconstructed")
    }


def shown(found, share):
    with use(found):
        return percent(share)


def test_the_findings_are_those_of_both_groups(results):
    for found in results.values():
        text = values.values_findings(found)
        lines = values.whole(found)
        metric = lines.loc[lines["excess"].idxmax(), "metric"]
        for line in lines[lines["metric"] == metric].itertuples():
            assert shown(found, line.precision) in text
            assert shown(found, line.guess) in text


def test_an_excess_beyond_chance_is_told_apart_from_one_that_is_not(results):
    more, chance = (
        values._compared(values.whole(results[name]).query("people == 'unusual'").iloc[0])
        for name in ("reconstructed", "synthetic")
    )
    assert values.whole(results["reconstructed"]).query("people == 'unusual'")["excess_low"].iloc[0] > 0
    low = values.whole(results["synthetic"]).query("people == 'unusual'")["excess_low"].iloc[0]
    assert low < 0
    assert more.split()[:2] != chance.split()[:2]


def test_the_verdict_names_the_group_with_the_larger_excess(results):
    text = values.values_overall(results["reconstructed"])
    assert any(words in text for words in ("above the limit", "über dem Grenzwert"))
    assert any(words in text for words in ("people with unusual values", "Personen mit ungewöhnlichen Werten"))
    assert any(
        words in values.values_overall(results["synthetic"]) for words in ("within the limit", "Grenzwert eingehalten")
    )


def test_the_table_has_both_groups_of_every_metric(results):
    lines = rows(values.values_table(results["synthetic"]))
    assert len(lines) == len(values.whole(results["synthetic"])) == 4
    assert values.values_premise(results["synthetic"]).count("age") >= 1


def test_the_figure_tells_in_words_what_it_draws(results):
    figure = values.values_figure(results["reconstructed"])
    for line in values.whole(results["reconstructed"]).itertuples():
        for share in (line.precision, line.proportional):
            assert shown(results["reconstructed"], share).replace("\u00a0", " ") in figure.alt


SENTENCES = {
    "nothing": "learns nothing about them",
    "claims": "claims about them, ",
    "more": "more than a guess (",
    "chance": "may be chance",
    "alone": "points more than a guess.",
    "no more": "That is no more than a guess",
}
FOUND = [
    ("nobody is claimed", {"putative": 0.0, "precision": NAN, "excess": NAN}, {"nothing"}),
    ("a difference beyond chance", {"excess": 0.2, "excess_low": 0.1}, {"claims", "more"}),
    ("a difference whose interval ends at no difference", {"excess": 0.2, "excess_low": 0.0}, {"claims", "chance"}),
    ("a difference that may be chance", {"excess": 0.2, "excess_low": -0.1}, {"claims", "chance"}),
    ("one stratum, without an interval", {"excess": 0.2, "excess_low": NAN}, {"claims", "alone"}),
    ("no difference", {"excess": 0.0, "excess_low": -0.1}, {"claims", "no more"}),
    ("a guess that is better", {"excess": -0.1, "excess_low": -0.2}, {"claims", "no more"}),
]


@pytest.mark.parametrize(("numbers", "expected"), cases(FOUND))
def test_each_finding_is_said_where_its_numbers_say_it(numbers, expected):
    line = {"putative": 40.0, "precision": 0.5, "guess": 0.3, "excess_high": 0.3} | numbers
    with language.use("en"):
        text = values._finding(pd.Series(line), "all", "adhoc")
    assert {name for name, words in SENTENCES.items() if words in text} == expected


ALONE = {1: "In one stratum, the confidential file has a single person", 3: "In 3 strata, the confidential file has"}


@pytest.mark.parametrize("n", [0, 1, 3])
def test_strata_of_one_person_are_named_where_there_are_any(tmp_path, n):
    found = Results(write_confirmed(tmp_path / "results", "synthetic"))
    path = found.folder / values.STRATA
    strata = pd.read_csv(path)
    strata.loc[: n - 1, "n_confidential"] = 1 if n else strata["n_confidential"]
    strata.to_csv(path, index=False)
    text = values.values_premise(found)
    assert {number for number, words in ALONE.items() if words in text} == ({n} if n else set())


TOLERANCES = {
    "beside": "A released record makes a claim only if it agrees with what the intruder knows",
    "learnt": "Learnt numbers are right within a tolerance",
}


@pytest.mark.parametrize("within", [{}, {"age": 1}])
def test_a_tolerance_is_told_where_the_study_has_one(tmp_path, within):
    confirm = {**SPEC["confirm"], "within": within}
    text = values.values_premise(Results(write_confirmed(tmp_path / "results", "synthetic", confirm=confirm)))
    assert (TOLERANCES["beside"] in text) == bool(within)
    assert TOLERANCES["learnt"] not in text


VERDICTS = [
    ("above", "reconstructed", 0.05, "above the limit**"),
    ("within", "synthetic", 0.5, "within the limit**"),
    ("no limit", "synthetic", None, None),
]


@pytest.mark.parametrize(("released", "limit", "expected"), cases(VERDICTS))
def test_the_verdict_is_said_where_the_study_has_a_limit(tmp_path, released, limit, expected):
    decision = {"decision": None if limit is None else {"excess_precision_at_most": limit}}
    text = values.values_overall(Results(write_confirmed(tmp_path / "results", released, **decision)))
    assert text is None if expected is None else expected in text


def test_open_points_of_the_method_have_their_option_in_force(results):
    for found in results.values():
        lines = rows(values.values_choices(found))
        assert len(lines) == 3
        assert all("§14" in line for line in lines)
