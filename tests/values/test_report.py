"""The report on confirmation by values: numbers of the tables, the verdict, and what it does not say."""

import pytest
from making.confirmed import write_confirmed
from making.report import rows
from reident.page.sentences import use
from reident.page.wording import percent
from reident.report.results import Results
from reident.values import report as values


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
