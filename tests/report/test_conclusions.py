"""Every conclusion of the report, with the cases in which it must and must not be printed.

A line of the table is a case: results of a few numbers, and the sentences that they allow. All other sentences must
not be printed.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from making.additions import write_surest
from making.conclusions import EVERY, FATAL, GRAVE, front_page, printed
from making.report import Shape, write_results
from making.variants import ALPHA, add_variants
from reident.challenge import report as challenge
from reident.report.blocks import attack, brief, fellegi_sunter, front, rates, squares, strata, surest, variants
from reident.report.results import Results

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
