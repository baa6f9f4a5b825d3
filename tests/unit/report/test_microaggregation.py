"""The report on micro-aggregation: what was masked, and the observed rates beside the claim (METHODS §9)."""

from __future__ import annotations

import pytest
from making.microaggregation import write_masked
from reident.report.parts import microaggregation
from reident.report.parts.microaggregation import rule_name


def rows(table: str) -> list[str]:
    return [line for line in table.splitlines() if line.startswith("|")][2:]


def test_the_premise_describes_the_masking_and_the_intruder(tmp_path):
    text = microaggregation.masked_premise(write_masked(tmp_path))
    for phrase in (
        "into groups of 3",
        "by the mean",
        "3 variables of 1,000 records",
        "100 masked records",
        "the original file",
    ):
        assert phrase in text
    deviations = {"deviating": 3, "by": 0.3, "others_from": 0.01, "others_to": 0.03}
    text = microaggregation.masked_premise(
        write_masked(tmp_path / "other", corresponding=deviations, aggregate="median")
    )
    assert "up to three variables by up to 30" in text
    assert "by the median" in text
    assert "the original file" not in text


def test_the_table_of_masked_variables(tmp_path):
    lines = rows(microaggregation.masked_variables(write_masked(tmp_path)))
    assert len(lines) == 3
    assert lines[0] == "| **x1** | 1.0 | 990 | 330 | 3 – 4 | 99.89 | – |"


def test_the_claims_are_shown_beside_what_is_observed(tmp_path):
    text = microaggregation.claim(write_masked(tmp_path))
    phrases = (
        "close to 100\u00a0%",
        "alone in first place for **60.1\u00a0%** of the records",
        "between 60.1\u00a0% (",
        "and 99.1\u00a0% (*k 3\\, rule closest 3*)",
        "at most three candidates for **89.4\u00a0%**",
        "The first of these shares is above 20\u00a0% in 6 of 6 settings",
        "If all three variables must agree, 43.6\u00a0% are re-identified",
        "at least 99.10\u00a0% of the true pairs agree on all of them.",
        "In 4 of 6 settings, one of the first two shares is below 95\u00a0%: these readings of the paper fail",
        "does not mean that the claims fail",
    )
    for phrase in phrases:
        assert phrase in text
    alone = microaggregation.claim(write_masked(tmp_path / "alone", variants=False, v=10))
    assert "If at least seven variables must agree, 0\u00a0% are re-identified" in alone
    assert (
        "below 95\u00a0%: this reading of the paper fails, which does not mean that the claim fails" in alone
    )
    assert "Over all settings" not in alone


def test_a_reading_that_reaches_the_claims_is_not_said_to_fail(tmp_path):
    text = microaggregation.claim(write_masked(tmp_path, variants=False, rule="closest 3"))
    assert "alone in first place for **99.1\u00a0%** of the records (*closest 3*)" in text
    assert "The first of these shares is above 20\u00a0%." in text
    for absent in ("fail", "must agree", "on all of them"):
        assert absent not in text


def test_the_probability_on_each_variable_is_not_claimed_for_deviating_values(tmp_path):
    deviations = {"deviating": 3, "by": 0.3, "others_from": 0.01, "others_to": 0.03}
    assert "on all of them" not in microaggregation.claim(write_masked(tmp_path, corresponding=deviations))


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_the_tables_have_every_setting_and_the_other_metrics(tmp_path):
    results = write_masked(tmp_path)
    lines = rows(microaggregation.claim_table(results))
    assert len(lines) == 6
    assert cells(lines[0]) == ["60.1", "89.4", "91.3", "12.9", "99.8"]
    assert cells(lines[2]) == ["99.1", "99.7", "99.8", "12.9", "99.8"]
    assert lines[0].startswith("| **k 3")
    agreeing = rows(microaggregation.agreements_table(results))
    assert [cells(line) for line in agreeing[:2]] == [["91.3", "84.3", "43.6"], ["94.7", "92.5", "59.1"]]
    assert len(agreeing) == 4  # `closest` counts no agreements
    alone = rows(microaggregation.claim_table(write_masked(tmp_path / "alone", variants=False)))
    assert len(alone) == 1
    assert "99.8" in alone[0]
    wide = microaggregation.agreements_table(write_masked(tmp_path / "wide", v=10))
    assert [f"At least {least} " in wide for least in (1, 5, 7, 10)] == [True] * 4


def test_a_study_of_the_closest_has_no_table_of_agreements(tmp_path):
    results = write_masked(tmp_path, variants=False, rule="closest 3")
    assert microaggregation.agreements_table(results) is None
    assert microaggregation.masked_agreements_figure(results) is None
    assert cells(rows(microaggregation.claim_table(results))[0])[:3] == ["99.1", "99.7", "99.8"]


@pytest.mark.parametrize(("variants", "panels"), [(True, 2), (False, 1)])
def test_the_figure_has_a_panel_for_each_k(tmp_path, variants, panels):
    figure = microaggregation.masked_agreements_figure(write_masked(tmp_path, variants=variants))
    assert "91.3 % at 1, 84.3 % at 2, 43.6 % at 3" in figure.alt
    assert figure.svg.count('id="axes_') == panels
    assert (
        microaggregation.masked_agreements_figure(write_masked(tmp_path / "again", variants=variants))
        == figure
    )


def test_the_figure_names_the_table_of_the_lines_that_it_leaves_out(tmp_path):
    rules = tuple(f"rule {at}" for at in range(9))
    figure = microaggregation.masked_agreements_figure(write_masked(tmp_path / "nine", rules=rules))
    assert "at most 8 of up to 9 lines; `comparison/agreements.csv` contains all of them." in figure.caption
    figure = microaggregation.masked_agreements_figure(write_masked(tmp_path / "eight", rules=rules[:8]))
    assert "at most 8" not in figure.caption


def test_a_single_variable_has_no_figure(tmp_path):
    assert microaggregation.masked_agreements_figure(write_masked(tmp_path, variants=False, v=1)) is None


def test_rules_in_words():
    rules = ("half_gap", "printed", "midpoint", {"nearest": 1360}, {"closest": 7})
    assert [rule_name(rule) for rule in rules] == [
        "half gap", "as printed", "midpoint", "nearest 1,360", "closest 7",
    ]  # fmt: skip
