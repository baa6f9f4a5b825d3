"""The report on synthetic data: numbers of the tables, verdicts, and nothing without a table."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from making.matching import MATCHING, SUBSETS, write_matching
from making.report import BLOCKS, written
from reident.matching import report as matching
from reident.matching import report_sets as matching_sets
from reident.matching import report_summaries as matching_summaries
from reident.page import sentences
from reident.report.blocks import front
from reident.report.results import Results


@pytest.fixture
def make_results(tmp_path):
    """Return a function that makes the results of a section `matching` and of other keys."""
    return lambda matching=MATCHING, **keys: Results(write_matching(tmp_path / "results", matching, **keys))


usual = written(write_matching)


every = written(write_matching, SUBSETS)


def limited(**limit):
    return {"decision": limit}


def test_every_synthetic_file_is_shown_with_their_mean_and_the_confidential_file(usual):
    text = matching_summaries.matching_summaries(usual)
    summary = usual.table("matching/summary.csv")
    order = (
        "Synthetic file 1",
        "Synthetic file 2",
        "Synthetic file 3",
        "Mean of the synthetic files",
        "for comparison",
    )
    assert [text.count(name) for name in order] == [1] * 5
    assert sorted(order, key=text.index) == list(order)
    for value in summary["expected_match_risk"]:
        assert f"{value:,.1f}" in text
    for word in ("Expected match risk", "True match rate", "False match rate"):
        assert f"**{word}**" in text  # the explanation below the table


@pytest.mark.parametrize(
    ("limit", "title", "text", "case"),
    [
        ({"expected_match_risk_at_most": 300}, "within the limit", "at most 300", "a limit of all records"),
        ({"true_match_rate_at_most": 0}, "beyond the limit", "at most 0 %", "a limit of 0"),
        ({"expected_match_risk_at_most": 0.01}, "beyond the limit", "for all three intruders", "all intruders"),
        ({"false_match_rate_at_least": 1}, "beyond the limit", "at least 100 %", "a lower limit"),
    ],
)  # fmt: skip
def test_the_verdict(make_results, limit, title, text, case):
    results = make_results(**limited(**limit))
    verdict = matching.matching_overall(results).replace("\u00a0", " ")
    assert f"Synthetic data: {title}" in verdict, case
    assert text in verdict, case
    assert ("▲" in matching.matching_verdicts(results)) == (title == "beyond the limit")


def test_without_a_limit_the_verdict_says_so(usual):
    assert "sets no limit" in front.verdict(matching.matching_overall)(usual)
    assert matching.matching_verdicts(usual) is None


def test_a_risk_equal_to_the_limit_meets_it(make_results, usual):
    highest = worst_of(usual).max()
    for limit, verdict in ((highest, "within the limit"), (np.nextafter(highest, 0), "beyond the limit")):
        results = make_results(**limited(expected_match_risk_at_most=float(limit)))
        assert verdict in matching.matching_overall(results)
        assert ("▲" in matching.matching_verdicts(results)) == (verdict == "beyond the limit")
        shutil.rmtree(results.folder)


def worst_of(results):
    """The expected match risk of every intruder: that of the mean or of all files together, whichever is higher."""
    lines = results.table("matching/scenarios.csv")
    mean = lines[lines["file"] == "mean"].set_index("scenario")["expected_match_risk"]
    together = results.table("matching/pooled.csv").set_index("scenario")["expected_match_risk"]
    return pd.concat([mean, together], axis=1).max(axis=1)


def test_all_files_together_may_break_a_limit_that_their_mean_meets(make_results, usual):
    lines = usual.table("matching/scenarios.csv")
    mean = lines.loc[lines["file"] == "mean", "expected_match_risk"].max()
    assert mean < worst_of(usual).max(), "the files of this study do not show the case"
    limit = (mean + worst_of(usual).max()) / 2
    text = matching.matching_overall(make_results(**limited(expected_match_risk_at_most=limit)))
    assert "beyond the limit" in text
    assert "when an intruder uses all of them together" in text


def test_only_intruders_beyond_the_limit_are_named(make_results, usual):
    worst = worst_of(usual).sort_values()
    limit = worst.iloc[-2:].mean()
    text = matching.matching_overall(make_results(**limited(expected_match_risk_at_most=limit)))
    name = {"known": "sex and region"}.get(worst.index[-1], worst.index[-1])
    assert f"(for {name})" in text


def test_a_lower_limit_is_met_without_a_unique_match(make_results):
    section = {**MATCHING, "known": [], "scenarios": [], "synthesized": ["sex"], "radius": {}}
    results = make_results(section, **limited(false_match_rate_at_least=0.9))
    assert "within the limit" in matching.matching_overall(results)
    assert "no unique match" in matching.matching_verdicts(results)
    assert "not defined" in matching_summaries.matching_summaries(results)
    assert "No person is matched by exactly one record" in matching.matching_findings(results)


def test_the_distribution_adds_up(usual):
    classes = matching_sets.by_class(usual)
    assert classes["n_records"].sum() == pytest.approx(300)
    assert classes["confidential"].sum() == 300
    mean = usual.table("matching/summary.csv").set_index("file").loc["mean"]
    assert classes["risk"].sum() == pytest.approx(mean["expected_match_risk"])
    assert classes["n_records"].iloc[1] == pytest.approx(mean["unique_matches"])


def test_all_sets_of_known_variables_are_ranked(every, usual):
    text = matching_sets.matching_subsets(every)
    assert (
        "every set of at most 3 known variables: 7 sets in total. The set with the highest risk is sex, age and region,"
        in text
    )
    sets = matching_sets.all_sets(every)
    assert sets["rank"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert sets["expected_match_risk"].is_monotonic_decreasing
    assert matching_sets.matching_subsets(usual) is None
    assert matching_sets.matching_subsets_figure(usual) is None


def test_the_factor_of_a_variable_is_a_geometric_mean():
    sets = pd.DataFrame({"known": ["a", "b", "a + b"], "expected_match_risk": [1.0, 4.0, 8.0]})
    assert matching_sets.gains(sets) == {"a": pytest.approx(2), "b": pytest.approx(8)}
    assert matching_sets.gains(sets.assign(expected_match_risk=[0.0, 4.0, 8.0])) == {"a": pytest.approx(2)}


# The sentences, and when each is printed -------------------------------------------------------------

ONE = {**MATCHING, "synthetic": MATCHING["synthetic"][:1]}
ALONE = {**MATCHING, "scenarios": [], "radius": {}}
FEW = {**ALONE, "known": [], "synthesized": ["sex"]}
SHARE = {"uncertain_targets": {"sampling_fraction": "0.9"}}
LOW_SHARE = {"uncertain_targets": {"sampling_fraction": "0.001"}}


def shuffled(copy, number):
    """Put the rows of the second synthetic file into another order."""
    return copy.sample(frac=1, random_state=3) if number == 2 else copy


def redrawn(copy, number):
    """Draw every known variable of a synthetic file anew."""
    draw = np.random.default_rng(number)
    return copy.assign(**{name: draw.permutation(copy[name]) for name in ("sex", "region", "age")})


def unchanged(copy, _):
    return copy


TOGETHER, UNCERTAIN_FOUND = "**All files together.**", "would name a record for"
UNIQUE, NO_UNIQUE = "exactly one record of", "No person is matched by exactly one record of"
SINGLE, MAY_NOT = "A single synthetic file reduces", "may not be in the file"
ORDER, SYNTHETIC = "do not seem to correspond", "fully synthetic"


@pytest.mark.parametrize(
    ("section", "change", "printed", "absent"),
    [
        (MATCHING, unchanged, [TOGETHER, UNIQUE, SINGLE], [MAY_NOT, NO_UNIQUE, ORDER, SYNTHETIC]),
        (ONE, unchanged, ["of the synthetic file", "Synthesis reduces"], [TOGETHER, MAY_NOT, "of a synthetic file"]),
        (FEW, unchanged, [NO_UNIQUE, "No person has exactly one record with the highest"], ["in 0"]),
        ({**ONE, **SHARE}, unchanged, [UNCERTAIN_FOUND, "contains 90 % of"], [TOGETHER]),
        ({**MATCHING, **LOW_SHARE}, unchanged, ["would not name a record for anyone", TOGETHER], [UNCERTAIN_FOUND]),
        (MATCHING, shuffled, [f"rows of synthetic file 2 {ORDER}", "no verdict"], [TOGETHER, UNIQUE, "within the"]),
        (MATCHING, redrawn, [SYNTHETIC, "files 1, 2 and 3", "no verdict"], [TOGETHER, UNIQUE, "within the"]),
    ],
)  # fmt: skip
def test_when_a_sentence_is_printed(make_results, section, change, printed, absent):
    """The limit is one that every file meets: a file that proves nothing must not pass."""
    results = make_results(section, change=change, **limited(expected_match_risk_at_most=300))
    blocks = (
        matching.matching_overall,
        matching.matching_verdicts,
        matching.matching_findings,
        matching.matching_premise,
    )
    text = " ".join(block(results) or "" for block in blocks).replace("\u00a0", " ")
    for words in printed:
        assert words in text
    for words in absent:
        assert words not in text


def test_a_shuffled_file_has_no_verdict_even_without_a_limit(make_results):
    results = make_results(change=shuffled)
    text = matching.matching_overall(results)
    assert "**Synthetic data: no verdict**" in text
    assert "sets no limit" not in text
    assert matching.matching_verdicts(results) is None


def test_a_shuffled_file_with_a_key_is_put_into_order(make_results):
    """The rows of a file with a key may be in any order: it is judged."""
    results = make_results(
        {**ALONE, "confidential": {"path": "confidential.csv", "id": "person"}},
        change=shuffled, **limited(expected_match_risk_at_most=300),
    )  # fmt: skip
    assert "within the limit" in matching.matching_overall(results)


def test_the_figure_shows_all_files_together(usual, make_results):
    figure = matching_summaries.matching_summaries_figure(usual)
    assert "all files together" in figure.alt
    assert "diamond" in figure.caption
    one = matching_summaries.matching_summaries_figure(make_results(ONE))
    assert "together" not in one.alt + one.caption


FORBIDDEN = re.compile(
    r"\bsafe(r|st|ly|ty)?\b|\bsure of\b|\bcertain of\b|can identify|is identified|more certain", re.IGNORECASE
)
"""An intruder cannot tell a true unique match from a false one: no sentence may say that somebody is safe, or found
for sure."""


def test_no_sentence_says_that_somebody_is_safe_or_found_for_sure(make_results, usual, every):
    text = sentences.files()["matching"].read_text(encoding="utf-8")
    assert not FORBIDDEN.search(" ".join(str(yaml.safe_load(text)["en"]).split()))
    methods = (Path(__file__).parents[2] / "docs" / "METHODS.md").read_text(encoding="utf-8")
    section = methods.split("## 8. ")[1].split("## 9. ")[0]
    assert "cannot tell" in section
    assert not FORBIDDEN.search(" ".join(section.split()))
    for results in (usual, every, make_results({**MATCHING, **SHARE})):
        blocks = [block for name, block in BLOCKS.items() if name.startswith("matching") and "_figure" not in name]
        shown = " ".join(str(block(results) or "") for block in blocks)
        assert not FORBIDDEN.search(shown)
        assert "cannot tell" in shown
