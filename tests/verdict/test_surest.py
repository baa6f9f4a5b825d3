"""The limit on the surest claims."""

import pandas as pd
import pytest
from pydantic import ValidationError
from reident.sections.decision import Decision
from reident.verdict import limits
from reident.verdict.settings import VerdictSettings

RATES, SUMMARY = "rates.csv", "surest/summary.csv"


def rates(**by_metric: tuple[int, int]) -> pd.DataFrame:
    """The rates of metrics with so many suspected and confirmed records of 1,000."""
    lines = [
        {
            "metric": metric, "stratum": "ALL", "tolerance": 1, "n_puf": 1000, "n_suspected": n, "n_confirmed": right,
            "n_ambiguous": 0, "n_compared": 1000, "passing_rate": n / 1000, "conditional_rate": right / n,
            "conditional_low": right / n - 0.05, "conditional_high": right / n + 0.05,
        }
        for metric, (n, right) in by_metric.items()
    ]  # fmt: skip
    return pd.DataFrame(lines)


def surest(**n_at_limit: int) -> pd.DataFrame:
    lines = [(metric, 100 if n >= 0 else 0, max(n, 0)) for metric, n in n_at_limit.items()]
    return pd.DataFrame(lines, columns=["metric", "n_claims", "n_at_limit"])


def judged(decision: dict, tables: dict[str, pd.DataFrame]) -> limits.Judged:
    return limits.judge(VerdictSettings(Decision.model_validate(decision), 4, ()), tables)


def scope(found: limits.Judged, name: str) -> str:
    return found.verdict.set_index("scope").at[name, "verdict"]


@pytest.mark.parametrize(
    ("claims", "outcomes", "verdict"),
    [
        ({"taxicab": 10, "adhoc": 0, "agreement": 3}, ["passes", "passes", "passes"], "within"),
        ({"taxicab": 11, "adhoc": 0, "agreement": 3}, ["breaks", "passes", "passes"], "above"),
        ({"taxicab": 10, "adhoc": -1, "agreement": 11}, ["passes", "nothing", "breaks"], "above"),
    ],
)
def test_a_metric_passes_with_at_most_so_many_surest_claims(claims, outcomes, verdict):
    limit = {"surest": {"right": 0.95, "at_most": 10}}
    found = judged(limit, {RATES: rates(taxicab=(100, 40), adhoc=(90, 30)), SUMMARY: surest(**claims)})
    assert found.limits["outcome"].tolist() == outcomes
    assert set(found.limits["bound"]) == {10.0}
    assert scope(found, "surest") == scope(found, "ALL") == verdict
    assert "attack" not in set(found.verdict["scope"])


def test_a_metric_that_can_suspect_nothing_has_no_verdict():
    lines = rates(taxicab=(100, 40)).assign(tolerance=-1)
    found = judged({"surest": {"right": 0.9, "at_most": 3}}, {RATES: lines, SUMMARY: surest(taxicab=-1)})
    assert found.limits["outcome"].tolist() == ["none"]
    assert scope(found, "surest") == "none"


def test_claims_of_a_metric_that_can_suspect_nothing_are_judged():
    lines = rates(fellegi_sunter=(100, 40)).assign(tolerance=-1)
    tables = {RATES: lines, SUMMARY: surest(fellegi_sunter=30)}
    found = judged({"surest": {"right": 0.9, "at_most": 3}}, tables)
    assert found.limits["outcome"].tolist() == ["breaks"]
    assert scope(found, "surest") == "above"
    found = judged({"surest": {"right": 0.9, "at_most": 30}}, tables)
    assert found.limits["outcome"].tolist() == ["passes"]


@pytest.mark.parametrize("limit", [{"right": 0, "at_most": 1}, {"right": 1.1, "at_most": 1}, {"right": 0.9}, {}])
def test_a_limit_has_a_share_and_a_number(limit):
    with pytest.raises(ValidationError):
        Decision.model_validate({"surest": limit})
