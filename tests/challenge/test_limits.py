"""Every limit on all metrics is compared with every attack at hand, and one beyond it is a reservation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.warnings import warning_table
from reident.challenge import limits as attacks
from reident.intake.severity import StudyWarning
from reident.linkage.intervals import interval
from reident.sections.decision import LIMITS, Decision
from reident.verdict import limits
from reident.verdict.settings import VerdictSettings

METRICS = ("unicity", "taxicab")
N_PUF, N_LINKED, N_FINDABLE = 240, 160, 150
SINGLE = ("n_suspected", "n_single", "n_claims")
RIGHT = ("n_confirmed", "n_single_confirmed", "best_rank_correct")


def attack(kind: str, metric: str, detail: str, claims: int | None, right: int = 0, **more) -> dict:
    """A line of the attacks at hand whose suspected records have one candidate each; without claims, not tried."""
    line = {"kind": kind, "metric": metric, "detail": detail, "n_puf": N_PUF, "n_findable": N_FINDABLE, "tolerance": 1}
    line |= {"n_linked": N_LINKED, "stratum": "ALL", "n_ambiguous": 0, "n_compared": N_PUF, "passing_rate": 0.1}
    if claims is None:
        return line
    rate, ends = right / claims if claims else np.nan, interval(right, claims)
    return {
        **line,
        **dict.fromkeys(SINGLE, claims),
        **dict.fromkeys(RIGHT, right),
        **dict.fromkeys(("conditional_rate", "single_rate", "best_rank_correct_rate"), rate),
        "confirmed_rate": right / N_PUF,
        "reach": right / N_LINKED,
        "conditional_low": ends.low,
        "conditional_high": ends.high,
        "n_at_limit": claims if right / max(claims, 1) >= 0.9 else 0,
        **more,
    }


def declared(*found: tuple[int, int], metrics=METRICS, **more) -> list[dict]:
    """The attacks of the study: two metrics with so many claims, of which so many are right."""
    return [attack("declared", metric, "", *numbers, **more) for metric, numbers in zip(metrics, found, strict=True)]


WEAK = declared((40, 1), (40, 2))
"""Metrics that hardly find anybody."""


def judged(decision: dict, lines: list[dict], *warnings: StudyWarning) -> limits.Judged:
    table = pd.DataFrame(lines).astype({"detail": str})
    own = table[table["kind"] == "declared"].drop(columns=["kind", "detail", "n_linked"])
    summary = own[["metric", "n_claims", "n_at_limit"]]
    overlap = pd.DataFrame({"set": ["confirmed"], "n_pufids": [own["n_confirmed"].max()]})
    tables = {
        "prepared/warnings.csv": warning_table(warnings),
        "rates.csv": own,
        "attacks.csv": table,
        "surest/summary.csv": summary,
        "description/overlap.csv": overlap,
    }
    return limits.judge(VerdictSettings(Decision.model_validate(decision), 4, ()), tables)


def outcomes(made: limits.Judged) -> dict[str, str]:
    return dict(zip(made.limits["metric"], made.limits["outcome"], strict=True))


def verdict(made: limits.Judged) -> str:
    return str(made.verdict["verdict"].iloc[0])


JOIN = ("join", "exact_values", "age+sex")
STANDARD = ("standard", "adhoc", "")
OTHERS = [JOIN, STANDARD, ("without", "taxicab", "income"), ("agreement", "agreement", "2")]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize(
    ("limit", "bound", "claims", "right", "beyond"),
    [
        ("confirmed_rate_at_most", 0.2, 159, 49, True),
        ("confirmed_rate_at_most", 0.2, 159, 48, False),
        ("confirmed_at_most", 48, 159, 49, True),
        ("reach_at_most", 0.3, 159, 48, False),
        ("reach_at_most", 0.3, 159, 49, True),
        ("conditional_rate_at_most", 0.5, 9, 9, True),  # the lower end is .66
        ("conditional_rate_at_most", 0.5, 9, 5, False),  # of few claims most may be right by chance
        ("conditional_rate_at_most", 0.5, 0, 0, False),
        ("single_rate_at_most", 0.5, 20, 19, True),
        ("expected_correct_rate_at_most", 0.5, 20, 19, True),
        ("expected_correct_rate_at_most", 0.5, 20, 10, False),
        ("confirmed_by_any_at_most", 48, 159, 49, True),
        ("confirmed_by_any_at_most", 49, 159, 49, False),
    ],
)
def test_an_attack_beyond_a_limit_that_every_metric_meets_is_a_reservation(other, limit, bound, claims, right, beyond):
    made = judged({limit: bound}, [*WEAK, attack(*other, claims, right)])
    name = attacks.name(*other)
    assert outcomes(made)[name] == ("exceeds" if beyond else "passes" if claims else "nothing") or not beyond
    assert verdict(made) == ("reservations" if beyond else "within")
    named = made.warnings[made.warnings["code"] == "stronger"]
    assert len(named) == beyond
    if beyond:
        assert f"{right} of {claims}" in named["warning"].iloc[0]
        assert f"`{limit}`" in named["warning"].iloc[0]


@pytest.mark.parametrize(("other", "beyond"), [(JOIN, False), (STANDARD, True)])
def test_rates_of_attacks_that_were_chosen_count_by_the_lower_end(other, beyond):
    made = judged({"conditional_rate_at_most": 0.5}, [*WEAK, attack(*other, 20, 11)])
    assert outcomes(made)[attacks.name(*other)] == ("exceeds" if beyond else "passes")


def test_a_metric_without_its_own_limit_is_compared_with_the_largest_of_the_kind():
    limit = {"confirmed_rate_at_most": {"unicity": 0.1}}
    made = judged(limit, declared((40, 20), (60, 25)))
    assert outcomes(made) == {"unicity": "passes", "taxicab": "exceeds"}
    assert verdict(made) == "reservations"
    assert "Taxicab (computed by the study, without this limit) confirms 25 of 60" in made.warnings["warning"].iloc[0]
    assert verdict(judged(limit, declared((40, 20), (60, 24)))) == "within"
    both = {"confirmed_rate_at_most": {"unicity": 0.1, "taxicab": 0.3}}
    assert outcomes(judged(both, [*WEAK, attack(*JOIN, 90, 72)]))["exact_values age+sex"] == "passes"
    assert outcomes(judged(both, [*WEAK, attack(*JOIN, 90, 73)]))["exact_values age+sex"] == "exceeds"


def test_where_a_metric_breaks_a_limit_no_warning_names_another_attack():
    made = judged({"confirmed_at_most": 10}, [*declared((40, 11), (40, 2)), attack(*JOIN, 90, 80)])
    assert verdict(made) == "above"
    assert made.verdict["broken"].iloc[0] == "confirmed_at_most: unicity"
    assert made.warnings.empty


def test_the_warning_names_the_attack_that_is_furthest_beyond():
    lines = [*WEAK, attack(*JOIN, 90, 60), attack(*STANDARD, 200, 80), attack("without", "taxicab", "sex", 9, 9)]
    made = judged({"confirmed_at_most": 10, "single_rate_at_most": 0.3}, lines)
    texts = dict(zip(made.warnings["fields"], made.warnings["warning"], strict=True))
    by_limit = {("single" if "single_rate" in fields else "count"): text for fields, text in texts.items()}
    assert "Adhoc (at its defaults) confirms 80 of 200" in by_limit["count"]
    assert by_limit["count"].endswith("above this limit: 2.")
    assert "Taxicab (without sex) confirms 9 of 9 records with one candidate" in by_limit["single"]


def test_a_warning_is_told_once():
    notable = StudyWarning("notable", "few_links", {"n": 8})
    made = judged({"confirmed_at_most": 10}, [*WEAK, attack(*JOIN, 90, 60)], notable)
    assert made.warnings["code"].tolist() == ["stronger", "few_links"]


def test_the_surest_claims_of_every_attack_are_compared():
    limit = {"surest": {"right": 0.9, "at_most": 20}}
    made = judged(limit, [*WEAK, attack(*JOIN, 21, 20)])
    assert made.limits.set_index("metric").at["exact_values age+sex", "outcome"] == "exceeds"
    assert verdict(made) == "reservations"
    assert verdict(judged(limit, [*WEAK, attack(*JOIN, 20, 20)])) == "within"


@pytest.mark.parametrize(
    "one",
    [
        STANDARD,
        ("declared", "taxicab", ""),
        ("any", "any", ""),
        ("agreement", "agreement", "2"),
        ("join", "exact_values", "age+hours worked"),
        ("without", "fellegi_sunter", "hours worked"),
        ("order", "fellegi_sunter", "rows"),
    ],
)
def test_the_name_of_an_attack_tells_what_it_is(one):
    assert tuple(attacks.parts(attacks.name(*one)).values()) == one


def test_surest_claims_of_records_that_are_not_suspected_are_judged():
    """Fellegi–Sunter claims every compared record, also where its threshold suspects nobody."""
    decision = {"surest": {"right": 0.9, "at_most": 10}}
    claims = {"n_claims": 40, "n_at_limit": 30}
    line = attack("standard", "fellegi_sunter", "", 0, tolerance=-1) | claims
    made = judged(decision, [*WEAK, line])
    assert outcomes(made)["standard fellegi_sunter"] == "exceeds"
    assert verdict(made) == "reservations"
    assert outcomes(judged(decision, [*WEAK, line | {"n_at_limit": 3}]))["standard fellegi_sunter"] == "passes"


def test_standard_attacks_that_were_not_tried_are_a_reservation():
    lines = [*WEAK, attack(*STANDARD, None), attack(*JOIN, None)]
    made = judged({"confirmed_at_most": 10}, lines)
    assert verdict(made) == "reservations"
    assert "not tried: `adhoc`" in made.warnings["warning"].iloc[0]
    assert set(outcomes(made)) == set(METRICS)
    assert verdict(judged({"confirmed_at_most": 10}, [*WEAK, attack(*JOIN, None)])) == "within"


def test_what_a_warning_invalidates_is_not_judged():
    warning = StudyWarning("invalidates", "no_link", {"file": "iuf.csv"}, 0)
    made = judged({"confirmed_at_most": 200, "reach_at_most": 0.1}, [*WEAK, attack(*JOIN, 90, 80)], warning)
    assert set(made.limits["outcome"]) == {"none"}
    assert verdict(made) == "none"


@pytest.mark.parametrize(
    ("decision", "cannot"),
    [
        ({"confirmed_rate_at_most": N_FINDABLE / N_PUF}, True),
        ({"confirmed_rate_at_most": N_FINDABLE / N_PUF - 0.001}, False),
        ({"reach_at_most": N_FINDABLE / N_LINKED}, True),
        ({"reach_at_most": N_FINDABLE / N_LINKED - 0.001}, False),
        ({"confirmed_at_most": N_FINDABLE}, True),
        ({"confirmed_by_any_at_most": N_FINDABLE - 1}, False),
        ({"confirmed_by_any_at_most": N_FINDABLE}, True),
        ({"surest": {"right": 0.5, "at_most": 2 * N_FINDABLE}}, True),
        ({"surest": {"right": 0.5, "at_most": 2 * N_FINDABLE - 1}}, False),
        ({"conditional_rate_at_most": 1}, True),
        ({"single_rate_at_most": 1}, True),
        ({"expected_correct_rate_at_most": 0.999}, False),
    ],
)
def test_a_limit_that_no_result_can_break_counts_for_no_verdict(decision, cannot):
    made = judged(decision, [*WEAK, attack(*JOIN, 40, 2)])
    assert (set(made.limits["outcome"]) == {"unbreakable"}) == cannot
    assert verdict(made) == ("none" if cannot else "within")
    beside = judged({**decision, "confirmed_at_most": 40}, WEAK)
    assert verdict(beside) == "within"
    assert verdict(judged({**decision, "confirmed_at_most": 1}, WEAK)) == "above"


@pytest.mark.parametrize(
    ("claims", "right", "outcome", "reached"),
    [
        (9, 9, "breaks", "above"),  # the lower end is .66
        (9, 5, "unsure", "none"),  # the value is above the limit, the lower end is not
        (9, 1, "passes", "within"),  # the upper end is .48
        (9, 4, "unsure", "within"),
        (10, 6, "breaks", "above"),
    ],
)
@pytest.mark.parametrize("limit", ["conditional_rate_at_most", "single_rate_at_most", "expected_correct_rate_at_most"])
def test_few_claims_are_judged_by_their_interval(limit, claims, right, outcome, reached):
    made = judged({limit: 0.5}, declared((claims, right), (40, 1)))
    assert outcomes(made)["unicity"] == outcome
    assert verdict(made) == reached


def brute(decision: dict, lines: list[dict]) -> str:
    """The verdict by the definition of METHODS §6.2: two metrics, a limit, and others with one candidate each."""
    ((limit, bound),) = decision.items()
    whole = {"confirmed_at_most": 1, "confirmed_rate_at_most": N_PUF, "reach_at_most": N_LINKED}
    if (whole[limit] and N_FINDABLE / whole[limit] <= bound) if limit in whole else bound >= 1:
        return "none"
    own, others = lines[:2], lines[2:]

    def beyond(line: dict) -> str:
        right, claims = line["n_confirmed"], line["n_suspected"]
        if limit in whole:
            return "breaks" if right / whole[limit] > bound else "passes"
        if not claims:
            return "passes"
        if claims >= 10:
            return "breaks" if right / claims > bound else "passes"
        low = interval(right, claims).low
        return "breaks" if low > bound else "undecided" if right / claims > bound else "passes"

    results = [beyond(line) for line in own]
    if "breaks" in results:
        return "above"
    if "undecided" in results:
        return "none"
    for line in others:
        if line["kind"] == "standard" or limit in whole:
            exceeds = beyond(line) == "breaks"
        else:
            exceeds = bool(line["n_suspected"]) and line["conditional_low"] > bound
        if exceeds:
            return "reservations"
    return "within"


@st.composite
def numbers(draw):
    claims = draw(st.integers(0, 60))
    return claims, draw(st.integers(0, claims))


@given(
    st.sampled_from(LIMITS["metrics"]),
    st.sampled_from([0, 0.1, 0.25, 0.5, 0.7, 1]),
    st.tuples(numbers(), numbers()),
    st.lists(st.tuples(st.sampled_from(OTHERS), numbers()), max_size=4, unique_by=lambda line: line[0]),
)
def test_verdicts_equal_the_definition(limit, bound, own, others):
    bound = int(40 * bound) if limit == "confirmed_at_most" else bound
    lines = [*declared(*own), *(attack(*other, *found) for other, found in others)]
    assert verdict(judged({limit: bound}, lines)) == brute({limit: bound}, lines)
