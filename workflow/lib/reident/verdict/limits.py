"""The verdict: each limit of the study, and the conclusion from all of them and the warnings (METHODS §6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reident.intake.severity import INVALIDATES, SEVERITIES, UNDERSTATES, table
from reident.linkage.settings import ANY, WHOLE
from reident.sections.decision import LIMITS, Decision
from reident.verdict import stronger, warnings
from reident.verdict.onefile import of_one_file
from reident.verdict.outcomes import BREAKS, DECIMALS, NONE, NOTHING, PASSES, UNBREAKABLE, UNSURE, Outcome, is_beyond
from reident.verdict.settings import VerdictSettings
from reident.verdict.warnings import ABOUT, ATTACK, ATTRIBUTES, CLOSEST, FILE, MATCHING, SUREST, TOGETHER, WARNED

COLUMNS = {
    "conditional_rate_at_most": "conditional_rate",
    "expected_correct_rate_at_most": "expected_correct_rate",
    "single_rate_at_most": "single_rate",
    "confirmed_rate_at_most": "confirmed_rate",
    "reach_at_most": "reach",
    "confirmed_at_most": "n_confirmed",
}
"""The column of the rates that a limit is compared with."""

SECTIONS = {
    **dict.fromkeys(("metrics", "metrics.any"), ATTACK),
    "metrics.surest": SUREST,
    "together": TOGETHER,
    **{section: FILE for section in LIMITS if section.startswith("file_risk")},
    "matching": MATCHING,
    "matching.closest.holdout": CLOSEST,
    "attribute_disclosure": ATTRIBUTES,
}
"""What the limits of each section of :data:`reident.sections.decision.LIMITS` are about."""

ABOVE, WITHIN, RESERVED, UNKNOWN, OPEN = "above", "within", "reservations", "none", "open"
"""Verdicts, see :data:`VERDICTS`."""

VERDICTS = (ABOVE, UNKNOWN, RESERVED, WITHIN, OPEN)
"""Every verdict; that of a study is the first of those on its analyses."""


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
    if decision is None or "rates.csv" not in tables:
        return judged
    outcomes = judged.limits[judged.limits["about"] == ATTACK].set_index(["limit", "metric"])["outcome"]
    more = table(stronger.lines(decision, tables, outcomes.isin([PASSES, UNSURE, NOTHING])))
    if more.empty:
        return judged
    return decide(settings, tables, warnings.ordered(pd.concat([lines, more.assign(about=ATTACK)])))


def decide(settings: VerdictSettings, tables: Mapping[str, pd.DataFrame], warning_lines: pd.DataFrame) -> Judged:
    """Compare every limit, and pass the verdict, where the warnings are known."""
    invalid = set(warning_lines.loc[warning_lines["severity"] == INVALIDATES, "about"])
    lines = [] if settings.decision is None else list(_outcomes(settings, settings.decision, tables, invalid))
    limits = pd.DataFrame(lines, columns=list(Outcome._fields)).astype({"value": float, "bound": float})
    return Judged(warning_lines, limits, _verdicts(limits, warning_lines))


def _outcomes(
    settings: VerdictSettings, decision: Decision, tables: Mapping[str, pd.DataFrame], invalid: set[str]
) -> Iterator[Outcome]:
    """Yield every limit; nothing that a warning invalidates has a verdict."""
    outcomes: list[Outcome] = []
    if "rates.csv" in tables:
        rates = tables["rates.csv"]
        for _, line in rates[rates["stratum"] == WHOLE].iterrows():
            outcomes += [
                judge_metric(line, *limit, decision.by) for limit in decision.given("metrics", line["metric"]).items()
            ]
        outcomes += [*_of_any(decision, tables), *_of_exact_values(decision, tables)]
    if "surest/summary.csv" in tables and decision.surest is not None:
        outcomes += _of_surest(decision.surest.at_most, tables["surest/summary.csv"], tables["rates.csv"])
    if "together/rates.csv" in tables:
        outcomes += _of_joint(decision, tables["together/rates.csv"], tables["rates.csv"])
    if "filerisk/cells.csv" in tables:
        outcomes += of_one_file(decision, tables, units=settings.units)
    if "matching/scenarios.csv" in tables:
        outcomes += _of_matching(decision, tables["matching/scenarios.csv"], tables["matching/pooled.csv"])
    if "matching/closest.csv" in tables and (bound := decision.nearer_excess_at_most) is not None:
        lines = tables["matching/closest.csv"]
        value = float((lines["share"] - lines["expected"]).max())
        outcome = BREAKS if round(value, DECIMALS) > bound else PASSES
        outcomes.append(Outcome(CLOSEST, "nearer_excess_at_most", "", value, bound, outcome))
    if "attribution/summary.csv" in tables:
        outcomes += _of_targets(decision, tables["attribution/summary.csv"])
    for row in [*outcomes, *_without_line(decision, settings.names, outcomes)]:
        yield row._replace(outcome=NONE) if WARNED.get(row.about, row.about) in invalid else row


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


def judge_metric(line: pd.Series, limit: str, bound: float, by: str = "estimate") -> Outcome:
    """Return the outcome of a limit for one metric.

    Parameters
    ----------
    line : pandas.Series
        The rates of the metric for the whole study.
    limit : str
        One of :data:`COLUMNS`.
    bound : float
    by : {'estimate', 'upper'}
        What the conditional rate is judged by.
    """
    column = COLUMNS[limit]
    has_interval = column == "conditional_rate"
    value = float(line["conditional_high" if by == "upper" and has_interval else column])
    if line["tolerance"] < 0:
        outcome = NONE
    elif pd.isna(value):
        outcome = NOTHING
    elif (round(value, DECIMALS) if column == "expected_correct_rate" else value) > bound:
        outcome = BREAKS
    else:
        outcome = UNSURE if has_interval and line["conditional_high"] > bound else PASSES
    return Outcome(ATTACK, limit, str(line["metric"]), value, bound, outcome)


def _of_surest(bound: int, surest: pd.DataFrame, rates: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limit on the surest claims of which a share is right, for every metric and their agreement."""
    tolerance = rates[rates["stratum"] == WHOLE].set_index("metric")["tolerance"]
    for line in surest.to_dict("records"):
        metric, value = str(line["metric"]), float(line["n_at_limit"])
        outcome = BREAKS if value > bound else PASSES if line["n_claims"] else NOTHING
        yield Outcome(SUREST, "surest", metric, value, bound, NONE if tolerance.get(metric, 0) < 0 else outcome)


def _of_any(decision: Decision, tables: Mapping[str, pd.DataFrame]) -> Iterator[Outcome]:
    """Yield the limit on the records that at least one metric confirms; a bag of an earlier release has no overlap."""
    limit, overlap = "confirmed_by_any_at_most", tables.get("description/overlap.csv")
    if (bound := decision.confirmed_by_any_at_most) is None or overlap is None:
        return
    value = float(overlap.loc[overlap["set"] == "confirmed", "n_pufids"].sum())
    silent = (tables["rates.csv"]["tolerance"] < 0).all()
    yield Outcome(ATTACK, limit, ANY, value, bound, NONE if silent else BREAKS if value > bound else PASSES)


def _of_exact_values(decision: Decision, tables: Mapping[str, pd.DataFrame]) -> Iterator[Outcome]:
    """Yield the limits of all metrics for the join on exact values; of a few claims there is nothing to judge."""
    if (exact := tables.get("description/exact.csv")) is None:
        return
    for limit, bound in stronger.bounds(decision, sorted(set(tables["rates.csv"]["metric"]))).items():
        line = stronger.judged_set(exact, limit, bound)
        outcome = judge_metric(line, limit, bound, decision.by)
        yield outcome._replace(outcome=NOTHING) if stronger.is_few(line, limit, bound) else outcome


def _of_joint(decision: Decision, together: pd.DataFrame, rates: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for an intruder with several files, on records that any of them finds in the whole study."""
    lines = together[(together["stratum"] == WHOLE) & (together["files"] == ANY)]
    tolerance = rates[rates["stratum"] == WHOLE].set_index("metric")["tolerance"]
    for line in lines[lines["metric"].isin(tolerance.index)].to_dict("records"):
        for limit, bound in decision.given("together", line["metric"]).items():
            column = limit.removeprefix("together_").removesuffix("_at_most")
            value = float(line[column])
            compared = value if column == "confirmed_rate" else round(value, DECIMALS)
            outcome = BREAKS if compared > bound else NOTHING if pd.isna(value) else PASSES
            outcome = NONE if tolerance[line["metric"]] < 0 else outcome
            yield Outcome(TOGETHER, limit, str(line["metric"]), value, bound, outcome)


def _of_targets(decision: Decision, learnt: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for every target of attribute disclosure: of its most dangerous set, the mean over the files."""
    for row in learnt[(learnt["danger"] == 1) & (learnt["file"].astype(str) == "mean")].to_dict("records"):
        value = float(row["disco"])
        for limit, bound in decision.given("attribute_disclosure", str(row["target"])).items():
            outcome = BREAKS if round(value, DECIMALS) > bound else NONE if pd.isna(value) else PASSES
            outcome = UNBREAKABLE if bound >= 1 else outcome
            yield Outcome(ATTRIBUTES, limit, str(row["target"]), value, bound, outcome)


def _of_matching(decision: Decision, scenarios: pd.DataFrame, pooled: pd.DataFrame) -> Iterator[Outcome]:
    """Yield the limits for every intruder that the study lists."""
    lines = worst(scenarios, pooled).reset_index()
    for limit, bound in decision.given("matching").items():
        column, most = limit.removesuffix("_at_most").removesuffix("_at_least"), limit.endswith("_at_most")
        for row in lines.to_dict("records"):
            value = float(row[column])
            broken = value > bound if most else value < bound
            outcome = BREAKS if broken else NOTHING if pd.isna(value) else PASSES
            yield Outcome(MATCHING, limit, str(row["scenario"]), value, bound, outcome)


def worst(scenarios: pd.DataFrame, pooled: pd.DataFrame) -> pd.DataFrame:
    """Return the summaries of matching that limits apply to, by the name of the intruder (METHODS §8).

    Each is that of the mean over the synthetic files or of an intruder who uses all of them, whichever is worse.
    """
    lines = scenarios[scenarios["file"] == "mean"].set_index("scenario")
    lines = lines[lines["listed"]].copy() if lines["listed"].any() else lines.copy()
    together = pooled[pooled["membership"] == "certain"].set_index("scenario").reindex(lines.index)
    for column in ("expected_match_risk", "true_match_rate"):
        lines[column] = np.fmax(lines[column], together[column])
    lines["false_match_rate"] = np.fmin(lines["false_match_rate"], together["false_match_rate"])
    return lines


def _verdicts(limits: pd.DataFrame, warning_lines: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict on the whole study and on each thing that a limit is about."""
    abouts = [about for about in ABOUT if about in set(limits["about"])]
    lines = []
    for about in abouts:
        own_limits, own_warnings = (
            limits[limits["about"] == about],
            warning_lines[warning_lines["about"] == WARNED.get(about, about)],
        )
        lines.append(_line(about, _verdict(own_limits, own_warnings), own_limits, own_warnings))
    kinds = {line["verdict"] for line in lines}
    whole = next((verdict for verdict in VERDICTS if verdict in kinds), OPEN)
    return pd.DataFrame([_line(WHOLE, whole, limits, warning_lines), *lines])


def _verdict(limits: pd.DataFrame, warning_lines: pd.DataFrame) -> str:
    """Return the verdict on one thing that limits are about."""
    limits = limits[limits["outcome"] != UNBREAKABLE]
    outcomes = set(limits["outcome"])
    if BREAKS in outcomes:
        return ABOVE
    if set(limits.loc[limits["metric"] != stronger.EXACT, "outcome"]) <= {NONE} or undecided(limits).any():
        return UNKNOWN
    unsure = limits["outcome"] == UNSURE
    reasons = NONE in outcomes, FILE in set(limits.loc[unsure, "about"]), UNDERSTATES in set(warning_lines["severity"])
    return RESERVED if any(reasons) else WITHIN


def undecided(limits: pd.DataFrame) -> pd.Series:
    """Return which limits are unsure with a value on their wrong side."""
    values = zip(limits["limit"], limits["value"], limits["bound"], strict=True)
    beyond = np.array([is_beyond(*line) for line in values], bool)
    return (limits["outcome"] == UNSURE) & beyond


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
