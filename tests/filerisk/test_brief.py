"""The brief of one file alone: its limits as a table, and of how many records its numbers are (METHODS §6.9, §7.8)."""

import re

import pytest
from making.filerisk import FILE_RISK, SEVERAL, drawn, write_filerisk
from reident.filerisk import report as filerisk
from reident.filerisk import report_thresholds as filerisk_thresholds
from reident.outcomes import UNBREAKABLE
from reident.report.blocks import brief, filerisk_brief, squares
from reident.report.results import Results

LIMITS = {
    "k_anonymity_at_least": 11, "dis_at_most": 1, "largest_risk_at_most": 0.0001, "k_map_at_least": 3,
    "share_above": {"risk": 0.09, "at_most": 0.999}, "expected_reidentifications_at_most": 1_000_000,
}  # fmt: skip


@pytest.fixture
def results(tmp_path):
    return lambda section=FILE_RISK, **keys: Results(write_filerisk(tmp_path / "results", section, **keys))


def plain(text):
    return re.sub(r"\[([^\[\]]*)\]\{[^}]*\}", r"\1", str(text)).replace("\u00a0", " ")


def rows(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in plain(text).split("\n") if line[:1] == "|"
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_table_has_each_limit_with_its_outcome(results, language):
    made = results(decision=LIMITS, language=language)
    lines, limits = rows(filerisk_brief.limits_of_file(made))[2:], made.table("verdict/limits.csv")
    words = {
        "en": {"breaks": "broken", "none": "not decided", UNBREAKABLE: "cannot be broken"},
        "de": {"breaks": "verletzt", "none": "nicht entschieden", UNBREAKABLE: "nicht verletzbar"},
    }[language]
    assert len(lines) == len(limits) == len(LIMITS)
    for line, outcome in zip(lines, limits["outcome"], strict=True):
        assert words.get(outcome, "met" if language == "en" else "eingehalten") in line[3]
    assert lines[0][4] == {"en": "not stated", "de": "nicht angegeben"}[language]
    overall = plain(filerisk.risk_overall(made))
    n = int((limits["outcome"] == "breaks").sum())
    assert {"en": f"{n} of 6 limits are broken", "de": f"{n} von 6 Grenzwerten sind verletzt"}[language] in overall


def test_a_limit_that_nothing_can_break_says_why(results):
    made = results(decision=LIMITS)
    lines = {line[0].strip("*"): line for line in rows(filerisk_brief.limits_of_file(made))}
    assert "no share is above 100 %" in lines["Unique matches that are right (DIS)"][3]
    assert f"the file has only {filerisk.quantity(made, 'records'):.0f}," in lines["Expected re-identifications"][3]


def test_the_brief_says_of_how_many_records_its_numbers_are(results):
    file = drawn(60)
    made = results(file=file)
    complete = 60 - int(filerisk.quantity(made, "records_missing_a_value"))
    assert complete < 60
    text = plain(brief.test(made))
    assert f"{complete} of them have a value of every key variable; the other {60 - complete} are" in text
    assert "the file stands for" in text
    found = plain(filerisk_brief.file_at_risk(made))
    assert f"of {complete} records in the file that have a value of every key variable" in found
    left = int(made.table("filerisk/conventions.csv").set_index("convention").at["wildcard", "below_2"])
    assert f"each of all 60 records has, {left} match no other record" in found


def test_the_squares_are_of_all_records(results):
    """Five of sixty records have all values and are alike; the others are alone by what is left of theirs."""
    file = drawn(60).assign(age="20", sex="1", region="1", tenure="1", job="-9")
    file.loc[:4, "job"] = "1"
    section = {**FILE_RISK, "key_variables": ["region", {"name": "job", "missing": ["-9"]}]}
    file.loc[5:, "region"] = [str(at) for at in range(2, 57)]
    made = results(section, file=file)
    assert filerisk.quantity(made, "U") == 0
    assert "Of 60 records, 55 are unique in the file" in plain(squares.risk_strip(made))
    assert "on the values that each record has" in plain(squares.risk_strip(made))


def test_limits_are_shown_for_all_records_where_some_miss_a_value(tmp_path, results):
    made = results(SEVERAL, decision={**LIMITS, "unique_share_at_most": 0.5})
    text = plain(filerisk_thresholds.risk_judged(made))
    judged = made.table("filerisk/judged.csv")
    line = judged[judged["limit"] == "expected_reidentifications_at_most"].iloc[0]
    assert f"{line['wildcard']:.2f}".rstrip("0") in text
    people = drawn(60)
    whole = people[(people != "-9").all(axis=1)].reset_index(drop=True)
    complete = Results(write_filerisk(tmp_path / "complete", FILE_RISK, file=whole, decision=LIMITS))
    assert filerisk_thresholds.risk_judged(complete) is None


def test_beside_an_attack_there_is_no_table_of_one_file(results, monkeypatch):
    made = results(decision=LIMITS)
    monkeypatch.setattr(filerisk_brief, "is_alone", lambda _: False)
    assert filerisk_brief.limits_of_file(made) is None
    assert filerisk_brief.file_at_risk(made) is None
    assert filerisk_brief.unseen_of_file(made) is None
