"""The report on micro-aggregation: what was masked, and the observed rates beside the claim (METHODS §9)."""

from __future__ import annotations

from making.microaggregation import write_masked
from making.report import rows
from reident.microaggregation import report as microaggregation


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
    assert lines[0] == ["**x1**", "1.0", "990", "330", "3 – 4", "99.89", "–"]


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
    assert "below 95\u00a0%: this reading of the paper fails, which does not mean that the claim fails" in alone
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


def test_the_tables_have_every_setting_and_the_other_metrics(tmp_path):
    results = write_masked(tmp_path)
    lines = rows(microaggregation.claim_table(results))
    assert len(lines) == 6
    assert lines[0][1:] == ["60.1", "89.4", "91.3", "12.9", "99.8"]
    assert lines[2][1:] == ["99.1", "99.7", "99.8", "12.9", "99.8"]
    assert lines[0][0].startswith("**k 3")
    agreeing = rows(microaggregation.agreements_table(results))
    assert [line[1:] for line in agreeing[:2]] == [["91.3", "84.3", "43.6"], ["94.7", "92.5", "59.1"]]
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
    assert rows(microaggregation.claim_table(results))[0][1:4] == ["99.1", "99.7", "99.8"]
