"""The report on attribute disclosure: numbers of the tables, baselines, and warnings."""

import pytest
from making.attribution import HELD_OUT, LEARNT, WITHOUT_ID, write_learnt
from making.report import rows
from reident.attribution import report as attribution
from reident.page.common import keys_in_words, share_of
from reident.page.wording import percent
from reident.report.results import Results


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return the results of each kind of study."""
    kinds = {"usual": LEARNT, "held out": HELD_OUT, "without id": WITHOUT_ID}
    return {
        name: Results(write_learnt(tmp_path_factory.mktemp("learnt") / "results", options))
        for name, options in kinds.items()
    }


def test_findings_are_those_of_the_most_dangerous_set(results):
    lines = attribution.worst(results["usual"])
    text = attribution.attribution_findings(results["usual"])
    assert text.count("- **") == 2
    for line in lines.itertuples():
        assert f"of the {line.n_original:.0f} people ({percent(line.disclosive)})" in text
        assert f"of the {line.n_original:.0f} people ({percent(line.disco)})" in text
        assert f"of the {line.n_original:.0f} people ({percent(line.disco_others)})" in text
        size = line.n_original * line.disclosive
        right, guess = (share_of(part / line.disclosive, size) for part in (line.disco, line.disclosive_guess))
        assert f"{right} are right; the best guess without any key would be right for {guess} of them" in text
    assert "about the same income" in text
    assert "one of the two released files (numbers are means over the files)" in text


def test_the_sets_that_disclose_most_come_first(results):
    lines = attribution.by_set(results["usual"])
    shown = rows(attribution.attribution_sets(results["usual"]))
    assert len(shown) == 2 * attribution.MAX_SETS
    assert [row[0] for row in shown if row[0]] == ["job", "income"]
    first = lines[(lines["target"] == "job") & (lines["danger"] == 1)].iloc[0]
    assert shown[0][1] == keys_in_words(first["keys"])
    assert len(lines) == 2 * 7, "every set of at most three keys"


def test_the_choices_are_those_in_force(results):
    text = attribution.attribution_choices(results["usual"])
    assert "its record is left out" in text
    assert "mean over the files" in text
    assert "lower median" in text
    alone = attribution.attribution_choices(results["without id"])
    assert "mean over the files" not in alone
    assert "lower median" not in alone


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (0.99, "within the limit"),
        (0, "above the limit"),
        ({"job": 0.99}, "Met: DiSCO of at most 99"),
        (1, "No result can break"),
    ],
)
def test_the_verdict_on_what_could_be_learnt(tmp_path, limit, words):
    results = Results(write_learnt(tmp_path / "results", decision={"disco_at_most": limit}))
    assert words in attribution.attribution_overall(results)
    assert ("income" in attribution.attribution_overall(results)) == (not isinstance(limit, dict))
