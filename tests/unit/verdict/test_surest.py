"""The limit on the surest claims, and the reservation where several metrics agree."""

import pandas as pd
import pytest
from pydantic import ValidationError
from reident.intake.severity import table
from reident.sections.decision import Decision
from reident.verdict import limits, stronger
from reident.verdict.settings import VerdictSettings

COLUMNS = ("n_puf", "n_suspected", "n_confirmed", "n_ambiguous", "n_compared")


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


def agreement(*lines: tuple[int, int, float]) -> pd.DataFrame:
    columns = ["n_suspected", "n_confirmed", "conditional_low"]
    made = pd.DataFrame(lines, columns=columns).assign(stratum="ALL")
    return made.assign(metrics=range(1, len(made) + 1))


def surest(**n_at_limit: int) -> pd.DataFrame:
    lines = [(metric, 100 if n >= 0 else 0, max(n, 0)) for metric, n in n_at_limit.items()]
    return pd.DataFrame(lines, columns=["metric", "n_claims", "n_at_limit"])


def judged(decision: dict, lines: pd.DataFrame | None = None, **tables: pd.DataFrame) -> limits.Judged:
    return limits.judge(
        VerdictSettings(Decision.model_validate(decision), 4, ()),
        ({} if lines is None else {"rates.csv": lines}) | tables,
    )


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
    found = judged(limit, rates(taxicab=(100, 40), adhoc=(90, 30)), **{"surest/summary.csv": surest(**claims)})
    assert found.limits["outcome"].tolist() == outcomes
    assert set(found.limits["bound"]) == {10.0}
    assert scope(found, "surest") == scope(found, "ALL") == verdict
    assert "attack" not in set(found.verdict["scope"])


def test_a_metric_that_can_suspect_nothing_has_no_verdict():
    lines = rates(taxicab=(100, 40)).assign(tolerance=-1)
    found = judged({"surest": {"right": 0.9, "at_most": 3}}, lines, **{"surest/summary.csv": surest(taxicab=0)})
    assert found.limits["outcome"].tolist() == ["none"]
    assert scope(found, "surest") == "none"


@pytest.mark.parametrize("limit", [{"right": 0, "at_most": 1}, {"right": 1.1, "at_most": 1}, {"right": 0.9}, {}])
def test_a_limit_has_a_share_and_a_number(limit):
    with pytest.raises(ValidationError):
        Decision.model_validate({"surest": limit})


@pytest.mark.parametrize(
    ("lines", "limit", "warns"),
    [
        ([(100, 40, 0.3), (50, 40, 0.7)], 0.6, True),
        ([(100, 40, 0.3), (50, 40, 0.6)], 0.6, False),
        ([(100, 40, 0.3), (0, 0, float("nan"))], 0.6, False),
        ([(100, 40, 0.3), (50, 40, 0.7)], 0.3, False),  # a metric is above the limit itself
    ],
)
def test_agreement_above_a_limit_that_every_metric_meets(lines, limit, warns):
    decision = {"conditional_rate_at_most": limit}
    tables = {"rates.csv": rates(taxicab=(100, 40), adhoc=(90, 30)), "agreement/rates.csv": agreement(*lines)}
    found = judged(decision, **tables)
    named = found.warnings[found.warnings["code"] == "agreement"]
    assert len(named) == warns
    if warns:
        assert scope(found, "attack") == "reservations"
        assert "at least 2 metrics suspect the same pair, 40 of 50 suspected records" in named["warning"].iloc[0]


def test_of_several_numbers_of_metrics_the_warning_names_that_with_the_highest_interval():
    agreed = agreement((9, 8, 0.5), (8, 8, 0.63), (7, 6, 0.42))
    tables = {"rates.csv": rates(taxicab=(100, 40)), "agreement/rates.csv": agreed}
    met = pd.Series(
        [True], pd.MultiIndex.from_tuples([("conditional_rate_at_most", "taxicab")], names=["limit", "metric"])
    )
    (line,) = stronger.lines(Decision(conditional_rate_at_most=0.4), tables, met)
    assert table([line])["fields"].iloc[0].startswith('{"claims":8,"limit":"conditional_rate_at_most","metrics":2')
