"""The verdict: each limit of the study, and the conclusion from all of them and the warnings (METHODS §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from reident.attribution import limits as attribution
from reident.challenge import limits as attacks
from reident.distances import limits as closest
from reident.filerisk import limits as filerisk
from reident.intake.severity import INVALIDATES, SEVERITIES, UNDERSTATES, table
from reident.linkage.limits import is_out_of_reach, is_silent, judge_metric
from reident.linkage.settings import ANY, WHOLE
from reident.matching import limits as matching
from reident.outcomes import (
    ABOUT,
    ABOVE,
    ATTACK,
    ATTRIBUTES,
    BREAKS,
    CLOSEST,
    EXCEEDS,
    FILE,
    MATCHING,
    NONE,
    NOTHING,
    OPEN,
    PASSES,
    RESERVED,
    SUREST,
    TOGETHER,
    UNBREAKABLE,
    UNKNOWN,
    UNSURE,
    VALUES,
    VERDICTS,
    WITHIN,
    Outcome,
    is_beyond,
    undecided,
)
from reident.sections.decision import LIMITS, Decision
from reident.together import limits as together
from reident.values import limits as values
from reident.verdict import warnings
from reident.verdict.settings import VerdictSettings
from reident.verdict.warnings import WARNED

SECTIONS = {
    **dict.fromkeys(("metrics", "metrics.any"), ATTACK),
    "metrics.surest": SUREST,
    "together": TOGETHER,
    **{section: FILE for section in LIMITS if section.startswith("file_risk")},
    "matching": MATCHING,
    "matching.closest.holdout": CLOSEST,
    "attribute_disclosure": ATTRIBUTES,
    "confirm": VALUES,
}
"""What the limits of each section of :data:`reident.sections.decision.LIMITS` are about."""

ALWAYS_MET = {
    "together_confirmed_rate_at_most": 1,
    "together_best_rank_correct_rate_at_most": 1,
    "true_match_rate_at_most": 1,
    "false_match_rate_at_least": 0,
    "nearer_excess_at_most": 1,
    "disco_at_most": 1,
    "excess_precision_at_most": 1,
}
"""The largest value, or the smallest, of limits on other rates than those of an attack: no result is beyond it."""


class Judged(NamedTuple):
    """The warnings, the outcome of each limit, and the verdict."""

    warnings: pd.DataFrame
    limits: pd.DataFrame
    verdict: pd.DataFrame


def judge(settings: VerdictSettings, tables: Mapping[str, pd.DataFrame]) -> Judged:
    """Collect the warnings, compare every limit, and pass the verdict.

    Parameters
    ----------
    settings : VerdictSettings
    tables : mapping
        The tables of :data:`reident.verdict.settings.TABLES` that the study has, by their paths.

    Returns
    -------
    Judged
        ``verdict`` has a line for the whole study (``ALL``) and one for each thing that a limit is about.
    """
    decision, lines = settings.decision, warnings.collect(settings, tables)
    judged = decide(settings, tables, lines)
    if decision is None or attacks.TABLE not in tables:
        return judged
    at_hand = tables[attacks.TABLE]
    more = list(attacks.exceeding(judged.limits, at_hand, decision))
    if {ATTACK, SUREST} & set(judged.limits["about"]):
        more += attacks.untried(at_hand)
    if not more:
        return judged
    added = pd.concat([lines, table(more).assign(about=ATTACK)], ignore_index=True)
    return decide(settings, tables, warnings.ordered(added))


def decide(settings: VerdictSettings, tables: Mapping[str, pd.DataFrame], warning_lines: pd.DataFrame) -> Judged:
    """Compare every limit, and pass the verdict, where the warnings are known."""
    invalid = set(warning_lines.loc[warning_lines["severity"] == INVALIDATES, "about"])
    lines = [] if settings.decision is None else list(_outcomes(settings, settings.decision, tables, invalid))
    limits = pd.DataFrame(lines, columns=list(Outcome._fields)).astype({"value": float, "bound": float})
    own = attacks.is_own(limits, dict(settings.decision or {}))
    return Judged(warning_lines, limits, _verdicts(limits, own, warning_lines))


def _outcomes(
    settings: VerdictSettings, decision: Decision, tables: Mapping[str, pd.DataFrame], invalid: set[str]
) -> Iterator[Outcome]:
    """Yield every limit; nothing that a warning invalidates has a verdict."""
    outcomes, others = list[Outcome](), list[Outcome]()
    if "rates.csv" in tables:
        outcomes += _of_attack(decision, tables)
        others += attacks.outcomes(decision, tables[attacks.TABLE]) if attacks.TABLE in tables else []
    if "together/rates.csv" in tables:
        outcomes += together.outcomes(decision, tables["together/rates.csv"], tables["rates.csv"])
    if "filerisk/cells.csv" in tables:
        outcomes += filerisk.of_one_file(decision, tables, units=settings.units)
    if "matching/scenarios.csv" in tables:
        outcomes += matching.outcomes(decision, tables["matching/scenarios.csv"], tables["matching/pooled.csv"])
    if "matching/closest.csv" in tables:
        outcomes += closest.outcomes(decision, tables["matching/closest.csv"])
    if "attribution/summary.csv" in tables:
        outcomes += attribution.outcomes(decision, tables["attribution/summary.csv"])
    if "values/rates.csv" in tables:
        outcomes += values.outcomes(decision, tables["values/rates.csv"])
    outcomes += _without_line(decision, settings.names, outcomes)
    for row in _marked(decision, tables, [*outcomes, *others]):
        yield row._replace(outcome=NONE) if WARNED.get(row.about, row.about) in invalid else row


def _of_attack(decision: Decision, tables: Mapping[str, pd.DataFrame]) -> Iterator[Outcome]:
    """Yield the limits on metrics, on the records that any of them confirms, and on the surest claims."""
    rates = tables["rates.csv"]
    for _, line in rates[rates["stratum"] == WHOLE].iterrows():
        yield from (judge_metric(line, *one, decision.by) for one in decision.given("metrics", line["metric"]).items())
    yield from _of_any(decision, tables)
    if "surest/summary.csv" in tables and decision.surest is not None:
        yield from _of_surest(decision.surest.at_most, tables["surest/summary.csv"], rates)


def _marked(decision: Decision, tables: Mapping[str, pd.DataFrame], outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
    """Yield outcomes, those of limits that no result can break as such."""
    line = tables["rates.csv"].iloc[0] if "rates.csv" in tables else None  # of the whole study
    n_linked = float(tables[attacks.TABLE]["n_linked"].iloc[0]) if attacks.TABLE in tables else float("nan")
    for one in outcomes:
        out_of_reach = one.limit in ALWAYS_MET and not is_beyond(one.limit, ALWAYS_MET[one.limit], one.bound)
        if one.about in {ATTACK, SUREST} and line is not None:
            # While a share of the claims is right, there are at most this many for each right one.
            bound = one.bound * decision.surest.right if one.about == SUREST and decision.surest else one.bound
            out_of_reach = is_out_of_reach(one.limit, bound, line, n_linked)
        yield one._replace(outcome=UNBREAKABLE) if out_of_reach and one.outcome != NONE else one


def _without_line(
    decision: Decision, names: Mapping[str, Sequence[str]], outcomes: Sequence[Outcome]
) -> Iterator[Outcome]:
    """Yield no verdict for each limit whose table, or whose line of it, is missing: what is not judged is not met."""
    judged = {(row.limit, name) for row in outcomes for name in (row.metric, "")}
    for section, about in SECTIONS.items():
        for key, name, limit in decision.each(section, names.get(section, ())):
            if (key, name) not in judged:
                bound = getattr(limit, "at_most", limit)
                yield Outcome(about, key, ANY if section == "metrics.any" else name, float("nan"), bound, NONE)


def _of_surest(bound: int, surest: pd.DataFrame, rates: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limit on the surest claims of which a share is right, for every metric and their agreement.

    A metric that can suspect nothing, and claims nothing, has no verdict.
    """
    tolerance = rates[rates["stratum"] == WHOLE].set_index("metric")["tolerance"]
    for line in surest.to_dict("records"):
        metric, value = str(line["metric"]), float(line["n_at_limit"])
        nothing = NONE if tolerance.get(metric, 0) < 0 else NOTHING
        outcome = BREAKS if value > bound else PASSES if line["n_claims"] else nothing
        yield Outcome(SUREST, "surest", metric, value, bound, outcome)


def _of_any(decision: Decision, tables: Mapping[str, pd.DataFrame]) -> Iterator[Outcome]:
    """Yield the limit on the records that at least one metric confirms; a bag of an earlier release has no overlap."""
    limit, overlap = "confirmed_by_any_at_most", tables.get("description/overlap.csv")
    if (bound := decision.confirmed_by_any_at_most) is None or overlap is None:
        return
    value = float(overlap.loc[overlap["set"] == "confirmed", "n_pufids"].sum())
    rates = tables["rates.csv"]
    silent = all(is_silent(line) for line in rates[rates["stratum"] == WHOLE].to_dict("records"))
    yield Outcome(ATTACK, limit, ANY, value, bound, NONE if silent else BREAKS if value > bound else PASSES)


def _verdicts(limits: pd.DataFrame, own: pd.Series, warning_lines: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict on the whole study and on each thing that a limit is about.

    `own` tells whether a limit is for what the study limits, and not for another attack at hand.
    """
    lines, kinds = [], list[str]()
    for about in [about for about in ABOUT if about in set(limits["about"])]:
        of_this = limits["about"] == about
        own_warnings = warning_lines[warning_lines["about"] == WARNED.get(about, about)]
        verdict = _verdict(limits[of_this & own], limits[of_this & ~own], own_warnings)
        lines.append(_line(about, verdict, limits[of_this & own], own_warnings))
        kinds += [verdict] * (set(limits.loc[of_this, "outcome"]) != {UNBREAKABLE})
    whole = next((verdict for verdict in VERDICTS if verdict in kinds), UNKNOWN if lines else OPEN)
    return pd.DataFrame([_line(WHOLE, whole, limits[own], warning_lines), *lines])


def _verdict(limits: pd.DataFrame, others: pd.DataFrame, warning_lines: pd.DataFrame) -> str:
    """Return the verdict on one thing that limits are about; `others` are the same limits for other attacks at hand."""
    outcomes = set(limits["outcome"]) - {UNBREAKABLE}
    if BREAKS in outcomes:
        return ABOVE
    if outcomes <= {NONE} or undecided(limits).any():
        return UNKNOWN
    unsure = limits["outcome"] == UNSURE
    reasons = (
        NONE in outcomes,
        EXCEEDS in set(others["outcome"]),
        FILE in set(limits.loc[unsure, "about"]),
        UNDERSTATES in set(warning_lines["severity"]),
    )
    return RESERVED if any(reasons) else WITHIN


def _line(scope: str, verdict: str, limits: pd.DataFrame, warning_lines: pd.DataFrame) -> dict[str, Any]:
    """Return one line of the table of verdicts."""
    counts = warning_lines["severity"].value_counts()
    broken = limits[limits["outcome"] == BREAKS]
    names = [
        f"{limit}: {', '.join(filter(None, group['metric']))}".removesuffix(": ")
        for limit, group in broken.groupby("limit", sort=False)
    ]
    return {
        "scope": scope,
        "verdict": verdict,
        "n_limits": len(limits),
        "n_broken": len(broken),
        "broken": "; ".join(names),
        **{severity: int(counts.get(severity, 0)) for severity in SEVERITIES},
    }
