"""A join on exact values is judged as a metric; a variable without which more is found is a reservation."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.warnings import warning_table
from reident.intake.severity import table
from reident.linkage.intervals import interval
from reident.sections.decision import LIMITS, Decision
from reident.verdict import limits, stronger
from reident.verdict.settings import VerdictSettings

METRICS = ["unicity", "taxicab"]
N_PUF, N_LINKED = 240, 160
RATES = {
    "stratum": "ALL", "n_puf": N_PUF, "n_eif": 240, "n_suspected": 40, "n_confirmed": 1, "n_ambiguous": 0,
    "confirmed_rate": 1 / N_PUF, "conditional_rate": 1 / 40, "conditional_low": 0.0, "conditional_high": 0.1,
    "reach": 1 / N_LINKED, "expected_correct_rate": 1 / 40, "single_rate": 1 / 40, "tolerance": 1,
    "n_compared": N_PUF, "passing_rate": 0.1,
}  # fmt: skip
"""The rates of metrics that hardly find anybody."""


def exact(*sets: tuple[str, int, int]) -> pd.DataFrame:
    """The people whom exact values name: variables, claims and those that are right, most people first."""
    lines = [
        (names, names.count("+") + 1, N_PUF, N_LINKED, claims, right, *interval(right, claims))
        for names, claims, right in sorted(sets, key=lambda line: -line[2])
    ]
    columns = ["variables", "n_variables", "n_puf", "n_linked", "n_suspected", "n_confirmed", "low", "high"]
    return pd.DataFrame(lines, columns=columns).astype({"low": float, "high": float})


def judged(decision: dict, *sets: tuple[str, int, int], **changed) -> limits.Judged:
    """Judge two metrics that meet every limit, and a join on exact values."""
    rates = pd.DataFrame([{**RATES, "metric": metric, **changed} for metric in METRICS])
    tables = {"prepared/warnings.csv": warning_table([]), "rates.csv": rates, "description/exact.csv": exact(*sets)}
    return limits.judge(VerdictSettings(Decision.model_validate(decision), 4, ()), tables)


def outcome(made: limits.Judged) -> str:
    lines = made.limits.set_index("metric")
    return str(lines.at["exact_values", "outcome"])


@pytest.mark.parametrize(
    ("limit", "bound", "claims", "right", "expected"),
    [
        ("confirmed_rate_at_most", 0.2, 159, 49, "breaks"),
        ("confirmed_rate_at_most", 0.2, 159, 48, "passes"),
        ("confirmed_at_most", 48, 159, 49, "breaks"),
        ("reach_at_most", 0.3, 159, 48, "passes"),
        ("reach_at_most", 0.3, 159, 49, "breaks"),
        ("conditional_rate_at_most", 0.5, 9, 5, "nothing"),  # of few claims most may be right by chance
        ("conditional_rate_at_most", 0.5, 9, 9, "breaks"),
        ("conditional_rate_at_most", 0.5, 20, 11, "breaks"),
        ("conditional_rate_at_most", 0.5, 20, 10, "unsure"),
        ("conditional_rate_at_most", 0.5, 20, 1, "passes"),
        ("conditional_rate_at_most", 0.5, 0, 0, "nothing"),
        ("single_rate_at_most", 0.5, 20, 11, "breaks"),
        ("expected_correct_rate_at_most", 0.5, 20, 10, "passes"),
    ],
)
def test_the_join_is_judged_as_a_metric(limit, bound, claims, right, expected):
    made = judged({limit: bound}, ("income", claims, right))
    assert outcome(made) == expected
    assert made.verdict["verdict"].iloc[0] == ("above" if expected == "breaks" else "within")
    assert made.verdict["broken"].iloc[0] == (f"{limit}: exact_values" if expected == "breaks" else "")


def test_a_set_that_is_surely_above_the_limit_counts_beside_the_one_that_names_most():
    sets = [("income", 200, 30), ("age", 20, 19), ("age+sex", 3, 2)]
    assert outcome(judged({"conditional_rate_at_most": 0.5}, *sets)) == "breaks"
    assert outcome(judged({"conditional_rate_at_most": 0.5}, sets[0], sets[2])) == "passes"


def test_the_upper_end_of_the_interval_is_compared_where_the_study_says_so():
    sets = [("income", 100, 15)]
    assert outcome(judged({"conditional_rate_at_most": 0.2, "by": "upper"}, *sets)) == "breaks"
    assert outcome(judged({"conditional_rate_at_most": 0.2}, *sets)) == "unsure"


@pytest.mark.parametrize(
    ("bounds", "expected"), [({"unicity": 0.1, "taxicab": 0.3}, "passes"), ({"unicity": 0.1}, None)]
)
def test_limits_by_metric_hold_by_the_largest_if_every_metric_has_one(bounds, expected):
    lines = judged({"confirmed_rate_at_most": bounds}, ("income", 100, 50)).limits
    assert dict(zip(lines["metric"], lines["outcome"], strict=True)).get("exact_values") == expected


def test_metrics_without_a_verdict_leave_none_unless_exact_values_break_a_limit():
    assert judged({"confirmed_rate_at_most": 0.2}, ("age", 9, 1), tolerance=-1).verdict["verdict"].iloc[0] == "none"
    assert judged({"confirmed_rate_at_most": 0.2}, ("age", 99, 90), tolerance=-1).verdict["verdict"].iloc[0] == "above"


def brute_outcome(limit: str, bound: float, sets: list[tuple[str, int, int]]) -> str:
    """The outcome by the definition of METHODS §6.2, set by set."""
    claims, right = max((line[1:] for line in sets), key=lambda line: line[1])
    if limit in ("confirmed_at_most", "confirmed_rate_at_most", "reach_at_most"):
        whole = {"confirmed_at_most": 1, "confirmed_rate_at_most": N_PUF, "reach_at_most": N_LINKED}[limit]
        return "breaks" if right / whole > bound else "passes"
    if any(n and interval(k, n).low > bound for _, n, k in sets):
        return "breaks"
    if claims < 10:
        return "nothing"
    if right / claims > bound:
        return "breaks"
    is_unsure = limit == "conditional_rate_at_most" and interval(right, claims).high > bound
    return "unsure" if is_unsure else "passes"


@st.composite
def claimed(draw):
    """A set of variables with its claims."""
    claims = draw(st.integers(0, 60))
    return draw(st.sampled_from(["age", "sex", "age+sex"])), claims, draw(st.integers(0, claims))


@given(
    st.sampled_from(LIMITS["metrics"]),
    st.sampled_from([0, 0.1, 0.25, 0.5, 1]),
    st.lists(claimed(), min_size=1, max_size=4),
)
def test_outcomes_equal_the_definition(limit, bound, sets):
    bound = int(40 * bound) if limit == "confirmed_at_most" else bound
    # Of sets that name as many people, the first one counts.
    ordered = sorted(sets, key=lambda line: -line[2])
    assert outcome(judged({limit: bound}, *sets, n_confirmed=0)) == brute_outcome(limit, bound, ordered)


def without(*lines: tuple) -> pd.DataFrame:
    """What metrics find without a variable."""
    columns = ["variable", "metric", "n_linked", "n_puf", "n_suspected", "n_confirmed"]
    more = {"expected_correct": 10.0, "n_single": 30, "n_single_confirmed": 28}
    return pd.DataFrame(lines, columns=columns).assign(**more)


def met(*broken, **bounds) -> pd.Series:
    """Which limits the metrics meet."""
    keys = [(limit, metric) for limit in bounds for metric in METRICS]
    index = pd.MultiIndex.from_tuples(keys, names=["limit", "metric"])
    return pd.Series([key not in broken for key in keys], index)


NOISE = [("income", "unicity", 160, 240, 20, 19), ("income", "taxicab", 160, 240, 200, 147)]


def test_a_variable_that_only_adds_noise():
    tables = {
        "rates.csv": pd.DataFrame({"stratum": "ALL", "metric": METRICS}),
        "description/without.csv": without(*NOISE),
    }
    (line,) = stronger.lines(Decision(confirmed_rate_at_most=0.2), tables, met(confirmed_rate_at_most=0.2))
    sentence = table([line])["warning"].iloc[0]
    assert "Without the linking variable income, Taxicab confirms 147 records of 200" in sentence
    broken = met(("confirmed_rate_at_most", "taxicab"), confirmed_rate_at_most=0.2)
    assert list(stronger.lines(Decision(confirmed_rate_at_most=0.2), tables, broken)) == []


@pytest.mark.parametrize(
    ("limit", "bound", "warns"),
    [
        ("conditional_rate_at_most", 0.7, 1),  # unicity: 19 of 20; taxicab: 147 of 200 is .735, at least .668
        ("reach_at_most", 0.9, 1),
        ("reach_at_most", 0.92, 0),
        ("single_rate_at_most", 0.7, 2),
        ("single_rate_at_most", 0.8, 0),
        ("expected_correct_rate_at_most", 0.25, 1),  # unicity: 10 of 20
        ("confirmed_at_most", 146, 1),
    ],
)
def test_each_limit_that_an_attack_without_a_variable_breaks(limit, bound, warns):
    tables = {
        "rates.csv": pd.DataFrame({"stratum": "ALL", "metric": METRICS}),
        "description/without.csv": without(*NOISE),
    }
    lines = list(stronger.lines(Decision(**{limit: bound}), tables, met(**{limit: bound})))
    assert [line.severity for line in lines] == ["understates"] * warns
