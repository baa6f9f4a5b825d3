"""A limit that every metric meets and a stronger intruder breaks puts the verdict under reservation."""

import pandas as pd
import pytest
from reident.intake.severity import table
from reident.sections.decision import Decision
from reident.verdict import stronger

RATES = pd.DataFrame({"stratum": "ALL", "metric": ["unicity", "taxicab"]})


def met(*broken, **limits) -> pd.Series:
    """Which limits the metrics meet."""
    keys = [(limit, metric) for limit in limits for metric in RATES["metric"]]
    index = pd.MultiIndex.from_tuples(keys, names=["limit", "metric"])
    return pd.Series([key not in broken for key in keys], index)


def exact(n_suspected: int, n_confirmed: int) -> pd.DataFrame:
    """The table of people whom exact values name, with one line."""
    line = ("income", 1, 240, 160, n_suspected, n_confirmed)
    return pd.DataFrame([line], columns=["variables", "n_variables", "n_puf", "n_linked", "n_suspected", "n_confirmed"])


@pytest.mark.parametrize(
    ("limit", "bound", "n_suspected", "n_confirmed", "warns"),
    [
        ("confirmed_rate_at_most", 0.2, 159, 49, True),
        ("confirmed_rate_at_most", 0.2, 159, 48, False),
        ("confirmed_at_most", 48, 159, 49, True),
        ("reach_at_most", 0.3, 159, 48, False),
        ("reach_at_most", 0.3, 159, 49, True),
        ("conditional_rate_at_most", 0.5, 2, 2, False),  # of two claims both may be right by chance
        ("conditional_rate_at_most", 0.5, 20, 19, True),
    ],
)
def test_exact_values_above_a_limit(limit, bound, n_suspected, n_confirmed, warns):
    tables = {"rates": RATES, "exact": exact(n_suspected, n_confirmed)}
    lines = list(stronger.lines(Decision(**{limit: bound}), tables, met(**{limit: bound})))
    assert [line.severity for line in lines] == ["understates"] * warns


def test_a_limit_that_a_metric_breaks_needs_no_other_reason():
    tables = {"rates": RATES, "exact": exact(159, 159)}
    decision = Decision(confirmed_at_most=10)
    broken = met(("confirmed_at_most", "taxicab"), confirmed_at_most=10)
    assert list(stronger.lines(decision, tables, broken)) == []


def test_a_variable_that_only_adds_noise():
    columns = ["variable", "metric", "n_linked", "n_puf", "n_suspected", "n_confirmed"]
    lines = [("income", "unicity", 160, 240, 20, 19), ("income", "taxicab", 160, 240, 200, 147)]
    tables = {"rates": RATES, "without": pd.DataFrame(lines, columns=columns)}
    (line,) = stronger.lines(Decision(confirmed_rate_at_most=0.2), tables, met(confirmed_rate_at_most=0.2))
    sentence = table([line])["warning"].iloc[0]
    assert "Without the linking variable income, Taxicab confirms 147 records of 200" in sentence
