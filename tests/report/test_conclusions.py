"""Every conclusion of the report, with the cases in which it must and must not be printed.

A line of the table is a case: results of a few numbers, and the sentences that they allow. All other sentences must
not be printed.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from making.additions import RIVALS, write_larger, write_surest, write_together, write_utility, write_why
from making.attribution import HELD_OUT, LEARNT, WITHOUT_ID, write_learnt
from making.filerisk import FILE_RISK, POPULATION, drawn, write_filerisk
from making.matching import MATCHING, TRUE, WITH_HOLDOUT, people, write_matching
from making.report import Shape, write_results
from making.variants import ALPHA, add_variants
from making.warnings import Sentence
from reident.attribution import report as attribution
from reident.challenge import report as challenge
from reident.distances import report as closest
from reident.filerisk import report as filerisk
from reident.larger import report as larger
from reident.matching import report as matching
from reident.report.blocks import (
    attack,
    brief,
    fellegi_sunter,
    filerisk_brief,
    front,
    rates,
    squares,
    strata,
    surest,
    variants,
    warnings,
)
from reident.report.results import Results
from reident.together import report as together
from reident.utility import report as utility
from reident.why import report as why

EVERY = ("unicity", "taxicab", "euclidean", "adhoc")
ATTACK = {
    # The verdict on the study
    "ABOVE": r"\*\*\[▲ Above the limit\]",
    "WITHIN": r"\*\*\[Within the limit\]",
    "RESERVED": r"\*\*\[Within the limit, with reservations\]",
    "NO VERDICT": r"\*\*\[No verdict\]",
    "no limit": r"The study sets no limit",
    "all above": r"(The only metric is|Both metrics are|All four metrics are) above the limit",
    "some above": r"of four metrics (is|are) above the limit of [^,.]+: ",
    "many above": r"\w+ of four metrics are above the limit of [^,.]+, with up to .+ \(\w+\)\.",
    "each above": r"Above the limit for .+ \(.+; limit ",
    "all within": r"(The only metric is|All four metrics are) within the limit of",
    "each within": r"Within the limits for ",
    "perhaps by chance": r"many files made in this way may be above",
    "suspected no records": r"suspected no records",
    "invalid": r"A warning below may invalidate the results, so the limits are not applied",
    "cannot suspect": r"cannot suspect any pair, so (it has|they have) no verdict",
    "reservations below": r"warnings? below says? that the risk may be understated",
    "no true link": r"There are no true links between the files",
    "links outside": r"Not one of the \d+ true links is inside a stratum",
    "others above": r"attacks? at hand that the study does not limit (is|are) above a limit",
    "unbreakable": r"No result can break the limit for",
    # The verdict on the strongest attack, and what is above a limit in the table of attacks
    "strip above": r"\[▲ [\w. ]+ found\]\{\.above\} \[[\d,]+ of [\d,]+\. Limit[^]]*: above( of another kind)?\]",
    "strip within": r" found\*\* \[[\d,]+ of [\d,]+\. Limit[^]]*: within(, but see the warning)?\]",
    "strip unsure": r" found\*\* \[[\d,]+ of [\d,]+\. Limit[^]]*: within, but uncertain\]",
    "strip nothing": r"Limit: nothing to judge\]",
    "strip none": r"Limit: no verdict\]",
    "cell above": r"\| \[▲ [*\d.]+",
    # The warnings
    "no warnings": r"checks of files and settings give no warning",
    "only notable": r"There (is one|are \d+) notable warnings?",
    "may understate": r"\*\*May understate the risk\.\*\*",
    "may invalidate": r"\*\*May invalidate the results\.\*\*",
    "example": r"For [\d,]+ of the [\d,]+ records that \w+ suspects",
}
"""The conclusions about an attack."""

NOTABLE = {"only notable"}
GRAVE = Sentence("understates", "Codes are missing.", 3, 0.03)
FATAL = Sentence("invalidates", "Rows do not correspond.")

CASES: list[tuple[str, dict[str, Any], set[str]]] = [
    ("three of four above", {"limit": 0.05},
     {"ABOVE", "some above", "example", "cell above", "strip above"} | NOTABLE),
    ("all above", {"limit": 0.01},
     {"ABOVE", "all above", "example", "cell above", "strip above"} | NOTABLE),
    ("all within", {"limit": 0.9}, {"WITHIN", "all within", "strip within"} | NOTABLE),
    ("no limit", {"limit": None}, {"NO VERDICT", "no limit"} | NOTABLE),
    ("one metric, within", {"metrics": ("taxicab",), "limit": 0.9},
     {"WITHIN", "all within", "strip within"} | NOTABLE),
    ("one metric, above", {"metrics": ("taxicab",), "limit": 0.01},
     {"ABOVE", "all above", "example", "cell above", "strip above"} | NOTABLE),
    ("nothing suspected", {"nothing_suspected": EVERY},
     {"WITHIN", "all within", "suspected no records", "strip nothing"} | NOTABLE),
    ("nothing confirmed", {"nothing_confirmed": EVERY},
     {"WITHIN", "all within", "strip within"} | NOTABLE),
    ("all links outside the strata", {"linked": 0.0, "nothing_confirmed": EVERY},
     {"NO VERDICT", "links outside", "may invalidate"}),
    ("no link", {"linked": 0.0, "lost": False, "nothing_confirmed": EVERY},
     {"NO VERDICT", "no true link", "may invalidate"}),
    ("most links outside the strata", {"linked": 0.006, "limit": 0.9},
     {"RESERVED", "all within", "reservations below", "strip within", "may understate"}),
    ("no metric can suspect anything", {"nothing_suspected": EVERY, "tolerances": dict.fromkeys(EVERY, -1)},
     {"NO VERDICT", "cannot suspect", "strip none", "may understate"}),
    (
        "one of four can suspect nothing",
        {"nothing_suspected": ("adhoc",), "tolerances": {"adhoc": -1}, "limit": 0.9},
        {
            "RESERVED",
            "each within",
            "cannot suspect",
            "reservations below",
            "strip within",
            "may understate",
        },
    ),
    ("a weak threshold, within", {"tolerances": {"euclidean": 6}, "limit": 0.9},
     {"RESERVED", "all within", "reservations below", "strip within", "may understate"}),
    ("a weak threshold, above", {"tolerances": {"euclidean": 6}, "limit": 0.01},
     {"ABOVE", "all above", "example", "cell above", "strip above", "may understate"}),
    ("a warning that may understate", {"warnings": (GRAVE,), "limit": 0.9},
     {"RESERVED", "all within", "reservations below", "strip within", "may understate"}),
    ("a warning that may invalidate, within", {"warnings": (FATAL, GRAVE), "limit": 0.9},
     {"NO VERDICT", "invalid", "may invalidate", "may understate"}),
    ("a warning that may invalidate, above", {"warnings": (FATAL,), "limit": 0.01},
     {"NO VERDICT", "invalid", "may invalidate"}),
    ("no warning", {"lost": False, "metrics": ("taxicab",), "limit": 0.9},
     {"WITHIN", "all within", "strip within", "no warnings"}),
    ("several limits, one broken by all", {"decision": {"conditional_rate_at_most": 0.9, "confirmed_at_most": 5}},
     {"ABOVE", "many above", "cell above", "strip above"} | NOTABLE),
    ("several limits, one broken by two", {"decision": {"conditional_rate_at_most": 0.9, "confirmed_at_most": 150}},
     {"ABOVE", "each above", "cell above", "strip above"} | NOTABLE),
    ("several limits, met", {"decision": {"conditional_rate_at_most": 0.9, "reach_at_most": 0.9}},
     {"WITHIN", "each within", "strip within"} | NOTABLE),
    ("a limit that nothing can break", {"decision": {"conditional_rate_at_most": 0.9, "reach_at_most": 1}},
     {"WITHIN", "all within", "strip within", "unbreakable"} | NOTABLE),
    ("another attack alone above", {"exact": (40, 39), "limit": 0.9},
     {"RESERVED", "others above", "all within", "strip within", "cell above", "reservations below", "may understate"}),
    ("a metric and another attack above", {"exact": (40, 39), "limit": 0.01},
     {"ABOVE", "all above", "example", "cell above", "strip above"} | NOTABLE),
    ("another attack within", {"exact": (40, 1), "decision": {"conditional_rate_at_most": 0.9}},
     {"WITHIN", "all within", "strip within"} | NOTABLE),
    ("no limit, with exact values", {"exact": (40, 1), "limit": None},
     {"NO VERDICT", "no limit"} | NOTABLE),
    ("a limit of one metric alone", {"decision": {"conditional_rate_at_most": {"adhoc": 0.01}}},
     {"ABOVE", "all above", "example", "cell above", "strip above"} | NOTABLE),
]  # fmt: skip


def printed(text: str, sentences: dict[str, str]) -> set[str]:
    """Return the names of the sentences that a text has."""
    plain = " ".join(text.replace("\u00a0", " ").split())
    return {name for name, pattern in sentences.items() if re.search(pattern, plain)}


def front_page(study: Results) -> str:
    """Return the brief as far as it is about an attack."""
    blocks = (front.verdict(front.overall), warnings.grave_warnings, squares.strips, brief.product, brief.unseen)
    return "\n\n".join(str(block(study)) for block in blocks)


BRIEF = {
    "held": r"\*\*\w+ held\*\* \[[\d,]+ of [\d,]+\. The others cannot be found with this file\]",
    "found": r"\*\*Strongest attack: [\w ]+\*\* \[[\w ]+ of \d+ named rightly if it guesses for each; ",
    "any": r"\*\*Any metric\*\* \[at least one, declared or standard\]",
    "surest": r"\*\*The \d+ surest claims\*\* \[[\w ]+; a square is a claim\]",
    "heading": r"Of \d+ records to be released, the intruder holds \w+; the strongest attack, with one guess for each, "
    r"names [\w ]+ rightly \(.+\) \{",
    "heading unknown": r"How many of \d+ records the intruder finds is not known \{\.brief\}",
    "unknown": r"Found: not known",
    "chance": r"Picking as many people at random",
    "one guess": r"One best guess is right for [\d.]+ % (to [\d.]+ % )?of the suspected",
    "interval": r"The 95 % intervals are about the same attack over many files made in this way",
}
LARGER = {
    "larger file": r"With \S+× this file \([\d,]+ records\), .+ would confirm an estimated .+ of the .+ \(95 % int",
    "larger guess": r"One best guess would then be right for [\d.]+ – [\d.]+ % of them \(95 % interval\)",
}
ALWAYS = {"held", "chance", "one guess", "heading", "found", "interval"}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({"limit": 0.05}, ALWAYS | {"any", "surest"}),
        ({"limit": None}, ALWAYS | {"any", "surest"}),
        ({"metrics": ("taxicab",)}, ALWAYS | {"any", "surest"}),
        ({"nothing_suspected": EVERY}, {"held", "heading", "found", "any", "interval"}),
        ({"nothing_confirmed": EVERY}, ALWAYS | {"any"}),
        ({"linked": 0.0, "lost": False, "nothing_confirmed": EVERY}, {"any", "heading unknown", "unknown"}),
    ],
    ids=["four metrics", "no limit", "one metric", "nothing suspected", "nothing confirmed", "no link"],
)
def test_the_brief_says_what_its_numbers_allow_and_nothing_else(results, shape, expected):
    assert printed(front_page(results(**shape)), BRIEF) == expected


CLAIMS = "of these claims|claims are correct|re-identified|could have been|recognise any|safe|sure of"
"""What no sentence may say: an intruder cannot be sure of a claim."""


@pytest.mark.parametrize(("case", "shape", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_conclusion_is_printed_where_its_numbers_allow_it_and_nowhere_else(results, case, shape, expected):
    """No sentence says more than that the true person is among the candidates."""
    study = results(**shape)
    page = front_page(study)
    assert printed(page, ATTACK) == expected, case
    text = page + str(rates.rates_by_metric(study)) + str(strata.strata_sentence(study))
    assert re.findall(CLAIMS, text) == []
    if "WITHIN" not in expected and "RESERVED" not in expected:
        assert "Within the limit**" not in text


def test_every_conclusion_is_printed_in_a_case_and_not_in_another():
    tested = [expected for _, _, expected in CASES]
    extra = {"perhaps by chance", "strip unsure"}  # cases of its own below
    for name in set(ATTACK) - extra:
        assert any(name in expected for expected in tested), name
        assert any(name not in expected for expected in tested), name


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (-1e-9, {"ABOVE", "all above", "example", "cell above", "strip above"}),
        (0, {"WITHIN", "all within", "perhaps by chance", "strip unsure"}),
        (1e-9, {"WITHIN", "all within", "perhaps by chance", "strip unsure"}),
    ],
)
def test_a_rate_just_at_the_limit_is_within(results, step, expected):
    shape = {"metrics": ("taxicab",)}
    rate = results(**shape).whole["conditional_rate"].iloc[0]
    assert printed(front_page(results(**shape, limit=rate + step)), ATTACK) == expected | NOTABLE


@pytest.mark.parametrize(("by", "expected"), [("estimate", "WITHIN"), ("upper", "ABOVE")])
def test_the_upper_end_of_the_interval_may_decide(results, by, expected):
    rate = results(metrics=("taxicab",)).whole["conditional_rate"].iloc[0]
    study = results(metrics=("taxicab",), decision={"conditional_rate_at_most": rate, "by": by})
    shown = front_page(study)
    assert {"WITHIN", "ABOVE"} & printed(shown, ATTACK) == {expected}
    assert ("the upper end of the interval of the conditional rate" in shown) == (by == "upper")


def counted(study: Results, metric: str, **columns: float) -> Results:
    """Return the study with these rates of a metric for the whole study."""
    rates = study.table("rates.csv")
    line = (rates["metric"] == metric) & (rates["stratum"] == "ALL")
    attacks = study.table("attacks.csv")
    for name, value in columns.items():
        rates.loc[line, name] = value
        attacks.loc[(attacks["kind"] == "declared") & (attacks["metric"] == metric), name] = value
    return study


@pytest.mark.parametrize(("n", "shown"), [(9, "| 7 of 9 |"), (10, "| 70 % [7 of 10]{.below} |")])
def test_fewer_than_ten_single_candidates_are_counted(results, n, shown):
    study = counted(results(), "adhoc", n_single=n, n_single_confirmed=7, single_rate=7 / n)
    assert shown in str(brief.product(study)).replace("\u00a0", " ")


@pytest.mark.parametrize(("n", "value"), [(9, "3 of 9"), (40, "33.3\u00a0% of 40")])
def test_a_broken_limit_is_named_with_the_records_of_which_the_rate_is_a_share(results, n, value):
    study = results(metrics=("taxicab",), decision={"single_rate_at_most": 0.01, "conditional_rate_at_most": 0.9})
    limits = study.table("verdict/limits.csv")
    limits.loc[limits["limit"] == "single_rate_at_most", "value"] = 1 / 3
    shown = front_page(counted(study, "taxicab", n_single=n, n_single_confirmed=n // 3, single_rate=1 / 3))
    assert f"Taxicab ({value}; limit 1\u00a0%)" in shown


@pytest.mark.parametrize(
    ("options", "expected", "words"),
    [
        (None, set(), ""),
        ({"population": 26_000}, {"larger file", "larger guess"}, "With 10× this file (20,000 records)"),
        ({"population": 8_000}, {"larger file", "larger guess"}, "With 4× this file (8,000 records)"),
        ({"fixed": EVERY}, set(), ""),
        ({"rivals": (19,)}, set(), ""),
    ],
    ids=["not asked for", "tenfold", "fewer people", "no curve", "few"],
)
def test_the_front_page_says_what_a_larger_file_would_find(tmp_path, options, expected, words):
    folder = write_results(tmp_path / "results", Shape())
    study = Results(folder if options is None else write_larger(folder, **options))
    shown = front_page(study)
    assert printed(shown, LARGER) == expected
    assert words in shown


# Synthetic data, and one file on its own ------------------------------------------------------------

MATCHED = {
    "within": r"\*\*Synthetic data: within the limit\*\*",
    "reserved": r"\*\*Synthetic data: within the limit, with reservations\*\*",
    "beyond": r"\*\*Synthetic data: beyond the limit\*\*",
    "no verdict": r"\*\*Synthetic data: no verdict\*\*",
    "invalid": r"A warning below may invalidate the results",
    "never": r"No result can break these limits, so they count for no verdict",
    "one file": r"matching records of the synthetic file",
    "several files": r"matching records of a synthetic file",
}
ONE_FILE = {**MATCHING, "synthetic": MATCHING["synthetic"][:1]}
LIMIT = {"decision": {"true_match_rate_at_most": 0.99}}


@pytest.mark.parametrize(
    ("section", "decision", "warnings", "expected"),
    [
        (MATCHING, {}, (), {"several files"}),
        (MATCHING, LIMIT, (), {"within", "several files"}),
        (ONE_FILE, LIMIT, (), {"within", "one file"}),
        (MATCHING, {"decision": {"expected_match_risk_at_most": 0}}, (), {"beyond", "several files"}),
        (MATCHING, LIMIT, (GRAVE,), {"reserved", "several files"}),
        (MATCHING, LIMIT, (FATAL,), {"no verdict", "invalid", "several files"}),
        (MATCHING, {"decision": {"true_match_rate_at_most": 1}}, (), {"no verdict", "never", "several files"}),
    ],
    ids=["no limit", "within", "m = 1", "beyond", "understated", "rows do not correspond", "unbreakable"],
)
def test_a_conclusion_about_synthetic_data(tmp_path, section, decision, warnings, expected):
    study = Results(write_matching(tmp_path / "results", section, warnings=warnings, **decision))
    text = str(matching.matching_overall(study)) + str(matching.matching_findings(study))
    assert printed(text, MATCHED) == expected


NEARNESS = {
    "no holdout": r"The study has no holdout, so nothing follows from the distances",
    "as expected": r"are expected if nothing was memorised: the differences are within chance",
    "too few": r"even if (its|their) closest records were all confidential, this could be chance",
    "nearer": r"\*\*more than chance explains\*\* \(at most .+Memory explains it if the .+ of one file",
    "below": r"fewer than chance explains .+ Nothing follows about memory",
    "copied": r"This is \*\*more than chance explains\*\* \(level 95 %\)\. Copying explains it if both",
    "not copied": r"The same holds for .+ of the holdout: the difference is within chance",
    "one file": r"For .+ of the synthetic file, [\d.]+ % of the closest",
    "worst file": r"For .+ of synthetic file 2, [\d.]+ % of the closest",
    "why not": r"No conclusion follows from these distances",
    "above": r"confidential records: above the limit\*\*.+Broken: at most 1 % more .+ here [\d.]+ %",
    "within": r"confidential records: within the limit\*\*.+Met: at most 1 % more .+ here 0\.0 %",
    "alike": r"The two files differ no more than random parts of one file would \(probability [\d.]+ %; level 95 %\)",
    "unlike": r"The two files differ in .+ more than random parts of one file would .+ no conclusion follows",
    "income": r"Nothing follows about memory, in either direction.+ already differ in income more than random parts",
    "together": r"Nothing follows about memory, in either direction.+ already differ in which values occur together",
    "no verdict": r"no verdict\*\*.+more than random parts of one file would, so nothing follows about memory",
    "nothing": r"\| no conclusion \|",
    "share": r"\| more than chance \|.+\| Identical",
    "copies": r"\| Identical.+\| more than chance \|",
    "chance": r"\| within chance \|",
    "few": r"\| within chance, too few nearest records to tell \|",
}
CLOSE = {"decision": {"nearer_excess_at_most": 0.01}}
ONE_HELD = {**WITH_HOLDOUT, "synthetic": MATCHING["synthetic"][:1]}


def other_people(copy, _):
    draw = np.random.default_rng(7)
    return copy.assign(job=draw.integers(0, 9, len(copy)), income=np.exp(draw.normal(10, 0.7, len(copy))).round())


def others(true):
    return people(np.random.default_rng(9), len(true))


def richer(true):
    return others(true).assign(income=lambda held: (1.5 * held["income"]).where(held["income"] > 0, -9).round())


def sorted_jobs(true):
    """The people of the confidential file, whose jobs follow their incomes."""
    return true.sort_values("income").assign(job=sorted(true["job"]))


def copying(records, file=1):
    """The first people have their true jobs and incomes in a file of other people."""

    def change(copy, number):
        copy = other_people(copy, number)
        if number == file:
            copy.loc[: records - 1, ["job", "income"]] = TRUE.loc[: records - 1, ["job", "income"]]
        return copy

    return change


@pytest.mark.parametrize(
    ("section", "change", "holdout", "decision", "expected"),
    [
        ({**MATCHING, "closest": {}}, other_people, None, {}, {"no holdout", "why not"}),
        (ONE_HELD, other_people, None, {}, {"alike", "as expected", "too few", "one file", "chance", "few"}),
        (ONE_HELD, copying(3), None, {},
         {"alike", "as expected", "too few", "not copied", "one file", "chance", "few"}),
        (ONE_HELD, copying(300), None, CLOSE, {"alike", "nearer", "copied", "one file", "above", "share", "copies"}),
        (WITH_HOLDOUT, copying(100, 2), others, {},
         {"alike", "nearer", "copied", "worst file", "share", "copies", "chance", "few"}),
        (WITH_HOLDOUT, copying(10, 2), others, {},
         {"alike", "nearer", "copied", "worst file", "share", "copies", "chance", "few"}),
        (ONE_HELD, other_people, lambda true: other_people(true, 1), CLOSE,
         {"alike", "below", "one file", "within", "chance"}),
        (ONE_HELD, copying(300), richer, CLOSE, {"unlike", "income", "no verdict", "nothing"}),
        (ONE_HELD, other_people, sorted_jobs, {}, {"unlike", "together", "nothing"}),
    ],
    ids=[
        "no holdout", "other people", "three people", "all copied", "one file of three", "ten people",
        "the holdout is the synthetic file", "richer holdout", "other relation",
    ],
)  # fmt: skip
def test_a_conclusion_about_nearness(tmp_path, section, change, holdout, decision, expected):
    study = Results(write_matching(tmp_path / "results", section, change=change, holdout=holdout, **decision))
    blocks = (closest.closest_overall, closest.closest_findings, closest.closest_premise, closest.closest_tables)
    assert printed(" ".join(str(one(study)) for one in blocks), NEARNESS) == expected


RISK = {
    "above": r"on its own: above the limit",
    "within": r"on its own: within the limit\*\*",
    "none": r"on its own: no verdict",
    "reserved": r"on its own: within the limit, with reservations",
    "broken": r"Broken: ",
    "met": r"Met: ",
    "not decided": r"Not decided: DIS of at most 50 %, here –",
    "limit inside": r"The limit for DIS lies inside its 95 % interval \([\d.< ]+ – 100.0 %\)",
    "unsure": r"Met: DIS of at most 50 %, here [\d.]+ %, with the limit inside its 95 % interval",
    "unsure above": r"Not decided: DIS of at most 50 %, here [\d.]+ %, with the limit inside its 95 % interval",
    "no DIS": r"DIS is not defined: no record is unique or in a cell of two records",
    "no pair": r"No cell has exactly two records, .+ in [\d.]+ – 100.0 % of cases",
    "unique": r"(is|are) unique: no other record has the same values",
    "nobody unique": r"None of \d+ records in the file is unique",
    "left": r"Compared on the values that each of all \d+ records has, ",
    "cannot be broken": r"No result can break these limits, so they count for no verdict",
    "reliability": r"would be right in .+ of cases \(DIS",
    "true risk": r"the true risk of the \d+ unique records with a cell in the population is [\d.]+ % on average, and",
    "highest risk": r"highest risk",
    "true share": r"The population is known: the true share is [\d.]+ %",
}


def of_one_file(study, monkeypatch):
    """What the brief says of one file: the verdict as beside an attack, and the findings of a study of it alone."""
    with monkeypatch.context() as patch:
        patch.setattr(filerisk, "is_alone", lambda _: False)
        verdict = str(filerisk.risk_overall(study) or "")
    return " ".join([verdict, *(str(block(study)) for block in (filerisk_brief.file_at_risk, filerisk.risk_findings))])


@pytest.mark.parametrize(
    ("decision", "people", "expected"),
    [
        ({}, {}, {"unique", "left", "reliability"}),
        ({"k_anonymity_at_least": 2}, {}, {"above", "broken", "unique", "left", "reliability"}),
        ({"expected_reidentifications_at_most": 59.9}, {}, {"within", "met", "unique", "left", "reliability"}),
        ({"dis_at_most": 1}, {}, {"none", "cannot be broken", "unique", "left", "reliability"}),
        ({"k_anonymity_at_least": 2, "expected_reidentifications_at_most": 59.9}, {},
         {"above", "broken", "met", "unique", "left", "reliability"}),
        ({"k_anonymity_at_least": 2}, {"age": "-9"}, {"none", "left"}),
    ],
    ids=["no limit", "a unique record", "many expected", "DIS", "one of two", "incomplete keys"],
)  # fmt: skip
def test_a_conclusion_about_one_file(tmp_path, monkeypatch, decision, people, expected):
    keys = {"decision": decision} if decision else {}
    folder = write_filerisk(tmp_path / "results", FILE_RISK, file=drawn(60).assign(**people), **keys)
    study = Results(folder)
    assert printed(of_one_file(study, monkeypatch), RISK) == expected


ALIKE = {"age": "20", "sex": "1", "job": "1", "region": "1", "tenure": "1"}


@pytest.mark.parametrize(
    ("decision", "n_others", "expected"),
    [
        ({"dis_at_most": 0.5}, 1, {"none", "limit inside", "unique", "no pair"}),
        ({"dis_at_most": 0.5}, 2, {"reserved", "met", "unsure", "nobody unique"}),
        ({"dis_at_most": 0.5}, 0, {"none", "no DIS", "nobody unique"}),
        ({"dis_at_most": 0.5, "k_anonymity_at_least": 2}, 0, {"reserved", "met", "not decided", "nobody unique"}),
        ({"dis_at_most": 0.5, "k_anonymity_at_least": 2}, 1,
         {"above", "broken", "unsure above", "unique", "no pair"}),
    ],
    ids=["one unique", "one pair", "neither", "neither, two limits", "one unique, two limits"],
)  # fmt: skip
def test_a_conclusion_about_a_file_without_uniques_or_pairs(tmp_path, monkeypatch, decision, n_others, expected):
    file = drawn(60).assign(**ALIKE)
    file.loc[: n_others - 1, "sex"] = "2"
    study = Results(write_filerisk(tmp_path / "results", FILE_RISK, file=file, decision=decision))
    assert printed(of_one_file(study, monkeypatch), RISK) == expected


STRANGERS = {"sex": ["7"] * 59 + ["1"], "job": ["3"] * 59 + ["-9"]}
"""The one record with a sex of the population has no job."""


@pytest.mark.parametrize(
    ("section", "people", "words", "expected"),
    [
        (FILE_RISK, {}, "", {"unique", "left", "reliability"}),
        (
            POPULATION,
            {},
            "and 100 % for {n} of them",
            {"unique", "left", "reliability", "true risk", "true share"},
        ),
        (POPULATION, STRANGERS, "", {"unique", "left", "reliability"}),
        (POPULATION, {"age": "-9"}, "", {"left"}),
    ],
    ids=["no population", "a population", "nobody of it matches", "no unique record"],
)  # fmt: skip
def test_the_true_risk_is_told_where_it_is_known(tmp_path, section, people, words, expected):
    study = Results(write_filerisk(tmp_path / "results", section, file=drawn(60).assign(**people)))
    text = f"{filerisk_brief.file_at_risk(study)} {filerisk.risk_findings(study)}".replace("\u00a0", " ")
    assert printed(text, RISK) == expected
    quantities = study.table("filerisk/summary.csv").set_index("quantity")["value"]
    assert words.format(n=quantities.get("population_uniques")) in text


CALIBRATED = {
    "too sure": r"The intruder is too sure",
    "too careful": r"The intruder is too careful",
    "about right": r"The probabilities are about right",
    "not converged": r"The EM algorithm did not converge",
    "expected": r"The expected number of links is [\d,]+, the true number [\d,]+",
    "at its bound": r"The estimate is at its bound",
    "weak": r"The evidence is weak:\*\* fewer than a tenth of the [\d,]+ possible links are expected",
    "estimated links": r"The intruder estimates that \S+ % of these pairs are links",
    "known links": r"links among all [\d,]+ pairs\. \S+ % of these pairs are links",
    "estimated weights": r"Estimated weights by linking variable.*\*m\* is the estimated share of links",
    "true shares": r"\*m\* is the share of true links",
}
BLIND = {"expected", "estimated links", "estimated weights"}
INFORMED = {"options": {"fellegi_sunter": {"m": "informed"}}}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({"calibration": ((100, 39, 0.5), (100, 50, 0.6))}, BLIND | {"too sure"}),
        ({"calibration": ((100, 50, 0.5), (100, 70, 0.5))}, BLIND | {"about right"}),
        ({"calibration": ((100, 50, 0.5), (100, 71, 0.5))}, BLIND | {"too careful"}),
        ({"calibration": ((100, 50, 0.7), (300, 160, 0.6))}, BLIND | {"about right"}),
        ({"calibration": ()}, BLIND),
        ({"converged": False}, BLIND | {"about right", "not converged"}),
        ({"at_bound": True}, BLIND | {"about right", "at its bound"}),
        ({"few_expected": 0.1}, BLIND | {"about right", "weak"}),
        ({"few_expected": 0.5}, BLIND | {"about right", "weak"}),
        ({"few_expected": 0.0}, BLIND | {"about right"}),
        (INFORMED, {"about right", "known links", "true shares"}),
        ({"linked": 0.0, "lost": False}, BLIND),
        ({"metrics": ("taxicab",)}, set()),
    ],
)
def test_a_conclusion_about_match_probabilities(results, shape, expected):
    study = results(**{"metrics": ("taxicab", "fellegi_sunter")} | shape)
    blocks = (fellegi_sunter.weights_premise, fellegi_sunter.weights_table, fellegi_sunter.calibration_text)
    text = " ".join(str(block(study)) for block in blocks)
    assert printed(text, CALIBRATED) == expected
    drawn = fellegi_sunter.weights_figure(study)
    assert drawn is None or ("estimated" in drawn.caption) == ("estimated weights" in expected)


AT_HAND = {
    "order": r"\| Taxicab with the order of the rows",
    "order above": r"\| \[▲ Taxicab with the order of the rows\]",
    "order explained": r"With the order of the files, an intruder also compares the positions",
    "insider": r"\| Fellegi–Sunter, with true links known",
    "insider explained": r"about an insider who knows from true links.+No limit is compared with it",
    "insider in the brief": r"would name 600 records rightly by.+the blind intruder names 500\. No limit",
    "others above": r"attacks? at hand that the study does not limit (is|are) above a limit",
}
"""What is said of the order of the files, and of somebody who knows true links."""
BY_ORDER, BLIND_ONE = ("order", "taxicab", "rows", 600, 600), ("standard", "fellegi_sunter", "", 600, 500)
OF_INSIDER = ("informed", "fellegi_sunter", "", 600, 600)
INSIDER = {"insider", "insider explained", "insider in the brief"}


@pytest.mark.parametrize(
    ("others", "limit", "expected"),
    [
        ((), 550, set()),
        ((BY_ORDER,), 990, {"order", "order explained"}),
        ((BY_ORDER,), 550, {"order above", "order explained", "others above"}),
        ((BLIND_ONE, OF_INSIDER), 550, INSIDER),
        ((BY_ORDER, BLIND_ONE, OF_INSIDER), 990, INSIDER | {"order", "order explained"}),
    ],
)
def test_a_conclusion_about_order_and_known_links(results, others, limit, expected):
    study = results(metrics=("taxicab",), decision={"confirmed_at_most": limit}, others=others, standard=(20, 10))
    blocks = (front.overall, brief.product, challenge.attacks_text, challenge.attacks_table)
    assert printed(" ".join(str(block(study)) for block in blocks), AT_HAND) == expected


@pytest.mark.parametrize(
    ("limit", "words"),
    [(0.99, "3 of 3 variants are within the limits"), (0.0001, "No variant of 3 is within the limits"), (None, "")],
)
def test_the_front_page_says_which_variants_pass(tmp_path, limit, words):
    labels = [{"alpha": alpha} for alpha in ALPHA["values"]]
    folder = write_results(tmp_path / "results", Shape(limit=limit))
    study = Results(add_variants(folder, [ALPHA], labels))
    shown = variants.variants_passing(study)
    assert (shown is None) == (not words)
    assert words in (shown or "")
    assert variants.variants_verdicts(study).count("alpha") == 1


FOUND_OUT = {
    "one file": r"An intruder who holds the released file and knows",
    "several files": r"holds one of the two released files \(numbers are means over the files\) and knows",
    "compared": r"Of these (about )?[\d.,]+ disclosed values, .+ are right; the best guess without any key would",
    "others": r"A right value is disclosed for .+; without the person’s own released record, the records of other",
    "holdout": r"A right value is disclosed for .+; the same could be learnt of people who are not in the file",
    "about": r"that all have about the same income for (about )?[\d.,]+ of the [\d,]+ people \(",
    "the same": r"that all have the same job for (about )?[\d.,]+ of the [\d,]+ people \(",
    "no one": r"that all have the same job for no one",
    "shares": r"Of these (about )?[\d.,]+ disclosed values, [\d.]+ % are right",
}
"""What the front page says of attribute disclosure."""
ONE_SEX = {"keys": ["sex"], "targets": ["job"]}


@pytest.mark.parametrize(
    ("options", "n", "expected"),
    [
        (LEARNT, 60, {"several files", "compared", "others", "about", "the same", "shares"}),
        (WITHOUT_ID, 60, {"one file", "compared", "the same", "shares"}),
        (WITHOUT_ID, 8, {"one file", "compared"}),
        (HELD_OUT, 60, {"one file", "compared", "holdout", "the same", "shares"}),
        ({**WITHOUT_ID, **ONE_SEX}, 60, {"one file", "no one"}),
        ({**LEARNT, **ONE_SEX}, 60, {"several files", "no one"}),
    ],
)
def test_the_front_page_compares_what_is_disclosed_with_a_guess_without_a_key(tmp_path, options, n, expected):
    study = Results(write_learnt(tmp_path / "results", options, n=n))
    assert printed(str(attribution.attribution_findings(study)), FOUND_OUT) == expected


LEARNING = {
    "no key": "the only baseline is what is known without any key",
    "without own": "without that person’s own record",
    "of others": r"tells about \d+ people who are not in it",
    "own adds": r"is due to the people’s own released records",
    "more than others": r"is learnt only about people in the file",
    "not lower": r"which is not lower",
    "no baseline": r"There is no baseline for it",
    "right": r"Of the values that it seems to disclose, ",
    "common": r"have the same value, ",
}
"""The conclusions about attribute disclosure."""
ONE_KEY = {"keys": ["sex"], "targets": ["job"]}


@pytest.mark.parametrize(
    ("options", "common", "expected"),
    [
        (LEARNT, False, {"without own", "own adds", "right"}),
        ({**LEARNT, **ONE_KEY}, False, {"without own", "not lower"}),
        (WITHOUT_ID, False, {"no key", "no baseline", "right"}),
        ({**WITHOUT_ID, **ONE_KEY}, False, {"no key", "no baseline"}),
        (WITHOUT_ID, True, {"no key", "no baseline", "right", "common"}),
        (HELD_OUT, False, {"of others", "more than others", "right"}),
        ({**HELD_OUT, **ONE_KEY}, False, {"of others", "not lower"}),
    ],
)
def test_a_conclusion_about_attribute_disclosure(tmp_path, options, common, expected):
    study = Results(write_learnt(tmp_path / "results", options, n=60, common=common))
    blocks = (attribution.attribution_premise, attribution.attribution_targets, attribution.attribution_sets)
    assert printed(" ".join(str(block(study)) for block in blocks), LEARNING) == expected


UTILITY = {
    "unchanged": r"Protection changed no value",
    "changed": r"Protection changed a value of \d+ records? \(",
    "moved": r"The distribution of a variable moved by .+ on average",
    "pairs moved": r"The joint distribution of two variables moved by",
    "model": r"pMSE\]\{term=pmse\} of a model that tells released records from original ones is",
    "expectation": r"times its expectation for two independent samples",
    "means overlap": r"intervals of means and shares before and after protection \[overlap\]",
    "coefficients overlap": r"Those of the coefficients of the regression overlap",
    "least loss": r"Of the variants within the limits, .+ has the least loss",
    "equal loss": r"Of the variants within the limits, .+ have the same, least loss",
}
MEASURED = {"changed", "moved", "pairs moved", "model", "expectation", "means overlap"}
INCOME = {"regression": {"response": "income", "predictors": ["age"]}}


@pytest.mark.parametrize(
    ("shape", "measured", "expected"),
    [
        ({}, {}, MEASURED | {"least loss"}),
        ({}, INCOME, MEASURED | {"coefficients overlap", "least loss"}),
        ({}, {"changed": 0}, {"unchanged", "equal loss"}),
        ({"limit": 0.0001}, {}, MEASURED),
        ({"limit": None}, {}, MEASURED),
        ({"linked": 0.0, "lost": False}, {}, MEASURED),
        ({"linked": 0.006}, {}, MEASURED | {"least loss"}),
        ({"variables": (("income", "numeric", "income"),), "strata": None}, {},
         (MEASURED | {"least loss"}) - {"pairs moved"}),
    ],
    ids=[
        "measured", "a regression", "nothing changed", "none within", "no limit", "no link", "reserved", "one variable",
    ],
)  # fmt: skip
def test_a_conclusion_about_utility(tmp_path, shape, measured, expected):
    folder = write_results(tmp_path / "results", Shape(**{"original": True, "limit": 0.99} | shape))
    labels = [{"alpha": alpha} for alpha in ALPHA["values"]]
    study = Results(add_variants(write_utility(folder, **measured), [ALPHA], labels))
    text = f"{utility.utility_findings(study)} {utility.utility_choice(study)}"
    assert printed(text, UTILITY) == expected


ENLARGED = {
    "now": r"With the intruder’s file, the true person is among the candidates of",
    "then": r"With \S+× this file \(\S+ records\) the estimate is .+ \(.+\)",
    "guess": r"An intruder who names one best candidate of each record is right for",
    "guessed": r"For the one named candidate, the 95 % interval is \S+ – \S+ %",
    "size": r"The rule by which this metric compares two records changes with the size of the file",
    "few": r"Fewer than 20 records are confirmed",
    "whole": r"holds the whole population already",
    "beyond": r"Larger files than the population have no estimate",
    "assumes": r"random samples of the same population",
    "declared": r"The population has [\d,]+ people, as the study declares",
    "estimated": r"The size of the population is not declared; it is estimated",
}
THEN = {"now", "guess", "then", "guessed", "assumes"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, THEN | {"estimated"}),
        ({"population": 26_000}, THEN | {"declared"}),
        ({"population": 8_000}, THEN | {"beyond", "declared"}),
        ({"population": 1_500}, {"now", "guess", "whole"}),
        ({"fixed": EVERY}, {"now", "guess", "size"}),
        ({"fixed": EVERY[:2]}, THEN | {"size", "estimated"}),
        ({"fixed": EVERY[1:]}, {"now", "guess", "size", "then", "assumes", "estimated"}),
        ({"rivals": (19,)}, {"now", "guess", "few"}),
        ({"rivals": (*RIVALS, *RIVALS)}, THEN | {"beyond", "estimated"}),
    ],
    ids=[
        "estimated", "declared", "beyond", "whole", "no curve", "two curves", "unicity alone", "few", "many rivals",
    ],
)  # fmt: skip
def test_a_conclusion_about_a_larger_intruder(tmp_path, options, expected):
    study = Results(write_larger(write_results(tmp_path / "results", Shape()), **options))
    assert printed(str(larger.larger_findings(study)), ENLARGED) == expected


SEVERAL = {
    "above": r"\*\*With all files: above the limit\*\* Broken: confirmed rate of at most 10 % with any of the files",
    "within": r"\*\*With all files: within the limit\*\* Met: ",
    "guess limit": r"one best guess right for at most \S+ % of the suspected records, here",
    "front": r"An intruder who holds (both files|all three files) \(.+\) would find \d+ people",
    "front more": r"would find .+, \d+\.\d % more than with the (better|best) file alone \(first\)",
    "front nobody": r"would find no one",
    "one file": r"One file is attacked with: first\.",
    "two files": r"attacked with two files: first and second\. Each file",
    "three files": r"attacked with three files",
    "nothing": r"No file suspects a record",
    "no file confirms": r"No file confirms a record",
    "any": r"the true person is among the candidates of at least one file",
    "more": r"at least one file, \d+\.\d % more than",
    "few more": r"at least one file, \d+ more than with the better file alone",
    "same": r"as many as with the better file alone \(first\)",
    "all": r"For \d+ records, this holds for every file",
    "all none": r"This holds for every file for not one record",
    "one guess": r"One guess among the best candidates would be right",
    "joint guess": r"An intruder who takes the file whose best candidate",
    "shared": r"For \d+ records, two files have the same person among their candidates; this person is the true one",
    "corroborates": r"corroborate each other",
    "no person shared": r"For not one record do two files have the same person",
}
"""The conclusions about an intruder with several files."""

BOTH = {"front", "front more", "two files", "any", "more", "joint guess"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, BOTH | {"all"}),
        ({"decision": {"together_confirmed_rate_at_most": 0.1}}, BOTH | {"all", "above"}),
        ({"decision": {"together_confirmed_rate_at_most": 0.3}}, BOTH | {"all", "within"}),
        ({"decision": {"together_best_rank_correct_rate_at_most": 0.9}}, BOTH | {"all", "within", "guess limit"}),
        ({"persons": True}, BOTH | {"all", "shared", "corroborates"}),
        ({"persons": True, "suspected": 0, "files": {"first": range(12), "second": range(20, 23)}},
         BOTH | {"all none", "corroborates", "no person shared"}),
        ({"files": {"first": range(40), "second": range(40)}},
         {"front", "two files", "any", "same", "joint guess", "all"}),
        ({"files": {"first": range(4), "second": range(4, 6)}},
         {"front", "two files", "any", "few more", "joint guess", "all none"}),
        ({"files": {"first": range(40)}}, {"one file", "any", "one guess"}),
        ({"files": {"first": range(40), "b": range(50, 60), "c": range(9)}},
         {"front", "front more", "three files", "any", "more", "joint guess", "all none"}),
        ({"files": {"first": (), "second": ()}},
         {"front nobody", "two files", "no file confirms", "joint guess", "all none"}),
        ({"files": {"first": (), "second": ()}, "suspected": 0}, {"front nobody", "two files", "nothing"}),
    ],
    ids=[
        "more", "above", "within", "guess within", "persons", "nobody shared", "same", "few", "one", "three",
        "nobody", "nothing",
    ],
)  # fmt: skip
def test_a_conclusion_about_several_files(tmp_path, options, expected):
    study = Results(write_together(write_results(tmp_path / "results", Shape(limit=None)), **options))
    blocks = (together.together_overall, together.together_front, together.together_findings)
    assert printed("\n".join(str(block(study)) for block in blocks), SEVERAL) == expected


def test_without_a_true_link_the_front_page_says_nothing_of_several_files(tmp_path):
    shape = Shape(linked=0.0, lost=False)
    study = Results(write_together(write_results(tmp_path / "results", shape), {"first": (), "second": ()}))
    assert together.together_front(study) is None


SUREST = {
    "above": r"\*\*The surest claims: above the limit\*\* Broken: at most 5 of the surest claims with 90 % of them",
    "within": r"\*\*The surest claims: within the limit\*\* Met: at most 99 of the surest claims",
    "of 100": r"\*\*The 100 surest claims\*\* \[Adhoc; .+? \*\*\d+ right\*\*",
    "of 50": r"\*\*The 50 surest claims\*\* \[Adhoc; .+? \*\*50 right\*\*",
    "about": r"\*\*The 10 surest claims\*\* \[Taxicab; .+? \*\*4 right\*\*",
    "by agreement": r"\*\*The 10 surest claims\*\* \[At least 2 metrics agree; .+? \*\*10 right\*\*",
    "many at 95": r"Of the \d+ surest claims of (this attack|another attack \(.+?\)), at least 95 % are right",
    "one at 95": r"Beyond the one surest claim, fewer than 95\s% are right",
    "none at 95": r"However few are made, fewer than 95 % of the surest claims are right",
    "order": r"the score of the best candidate, then how far behind the next one is",
    "agreement": r"for the agreement of metrics, the number of metrics that suspect the pair takes the place of the",
}
"""The conclusions about the surest claims."""

TWO, ONE = ("taxicab", "adhoc"), ("taxicab",)
WEAK = ((10, 4.0), (200, 40.0))


@pytest.mark.parametrize(
    ("metrics", "ordered", "limit", "expected"),
    [
        (TWO, {"taxicab": WEAK, "adhoc": ((98, 98), (100, 98), (120, 99)), "agreement": WEAK}, None,
         {"of 100", "many at 95", "order", "agreement"}),
        (TWO, {"taxicab": WEAK, "adhoc": ((60, 60), (80, 70)), "agreement": WEAK[:1]}, None,
         {"many at 95", "order", "agreement"}),
        (TWO, {"taxicab": WEAK[:1], "adhoc": ((60, 60), (80, 70)), "agreement": WEAK[:1]}, (0.9, 5),
         {"above", "of 50", "many at 95", "order", "agreement"}),
        (TWO, {"taxicab": WEAK[:1], "adhoc": (), "agreement": ((10, 10),)}, (0.9, 99),
         {"within", "by agreement", "many at 95", "order", "agreement"}),
        (ONE, {"taxicab": ((10, 4.5), (12, 5))}, None, {"none at 95", "order", "about"}),
        (ONE, {"taxicab": ((1, 1), (11, 4))}, None, {"one at 95", "order", "about"}),
        (ONE, {"taxicab": ((9, 9),)}, None, {"order"}),
        (ONE, {"taxicab": ((200, 0),)}, None, {"order"}),
    ],
    ids=["100", "weak one", "above", "within, agreement", "about", "one", "few claims", "no right claim"],
)  # fmt: skip
def test_a_conclusion_about_the_surest_claims(tmp_path, metrics, ordered, limit, expected):
    study = Results(
        write_surest(write_results(tmp_path / "results", Shape(metrics=metrics, limit=None)), ordered, limit=limit)
    )
    blocks = (surest.surest_overall, squares.strips, surest.surest_text)
    assert printed("\n".join(str(block(study)) for block in blocks), SUREST) == expected


def test_without_a_true_link_the_front_page_says_nothing_of_the_surest_claims(tmp_path):
    study = Results(write_results(tmp_path / "results", Shape(linked=0.0, lost=False)))
    assert squares.surest(study) is None


UNNAMED = {
    "known": r"holds [\d,]+ records of known people",
    "no names": r"holds [\d,]+ records without names",
    "link": r"A link names no one",
    "premise": r"The intruder holds records of known people",
    "premise without": r"holds another file about the same people.+A link between the two files names no one",
}
"""The conclusions that depend on whether the external file has names."""


@pytest.mark.parametrize(
    ("named", "expected"), [(True, {"known", "premise"}), (False, {"no names", "link", "premise without"})]
)
def test_a_conclusion_about_a_file_without_names(tmp_path, named, expected):
    folder = write_results(tmp_path / "results", Shape())
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    study["files"]["eif"]["named"] = named
    (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    read = Results(folder)
    assert printed(f"{brief.test(read)}\n{attack.premise(read)}", UNNAMED) == expected


NET = {
    "carries": r"leaving out .+ would have prevented the most: .+ It would have confirmed \d+ others; the net",
    "coarser": r"the coarser values, .+ They would have confirmed \d+ others; the net change is",
    "none": r"No record is confirmed",
    "nothing": r"None of the changes of a single variable would have prevented",
    "no carrier": r"Leaving out a single variable would have prevented none",
}
"""The conclusions about what carries the confirmed claims."""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"carries", "coarser"}),
        ({"prevented": (30, 0, 0)}, {"carries"}),
        ({"prevented": (0, 12, 0)}, {"no carrier", "coarser"}),
        ({"prevented": (0, 0, 0)}, {"nothing"}),
        ({"prevented": (0, 0, 0), "n_confirmed": 0}, {"none"}),
    ],
)
def test_a_conclusion_about_what_carries_claims(tmp_path, options, expected):
    study = Results(write_why(write_results(tmp_path / "results", Shape()), **options))
    assert printed(str(why.why_findings(study)), NET) == expected
