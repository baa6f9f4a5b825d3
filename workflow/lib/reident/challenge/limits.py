"""Compare the attacks at hand with the limits on all metrics (METHODS §6.2).

The metrics that a study limits decide whether a limit is met. Another attack that is beyond a limit that they meet puts
the verdict under reservation, with a warning that names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from reident.challenge.settings import DECLARED, EXACT, INFORMED, JOIN, ORDER, STANDARD, WITHOUT
from reident.intake.severity import UNDERSTATES, StudyWarning
from reident.linkage.limits import CLAIMS, COLUMNS, ends, judge_metric
from reident.linkage.settings import AGREEMENT, ANY
from reident.outcomes import ATTACK, BREAKS, EXCEEDS, NOTHING, PASSES, SUREST, Outcome
from reident.plausibility.warnings import in_words

if TYPE_CHECKING:
    from reident.sections.decision import Decision

TABLE = "attacks.csv"

OF_ORDER = "with the order of "
"""What the name of an attack with the position in the files has between its metric and its order."""

BY_ANY, OF_SUREST = "confirmed_by_any_at_most", "surest"
"""The limits on the records that any metric confirms, and on the surest claims."""


def name(kind: str, metric: str, detail: str) -> str:
    """Return the name of an attack at hand where tables have a metric; a declared one has that of its metric."""
    names = {
        DECLARED: metric,
        ANY: "any standard",
        STANDARD: f"standard {metric}",
        JOIN: f"{EXACT} {detail}",
        WITHOUT: f"{metric} without {detail}",
        ORDER: f"{metric} {OF_ORDER}{detail}",
    }
    return names.get(kind, f"{metric} of {detail}")


def parts(attack: str) -> dict[str, str]:
    """Return the kind, the metric and the detail of an attack by its name, as :func:`name` makes it."""
    metric, _, rest = attack.partition(" ")
    kinds = {"standard": STANDARD, ANY: ANY, EXACT: JOIN, AGREEMENT: AGREEMENT}
    kind = kinds.get(metric, ORDER if rest.startswith(OF_ORDER) else WITHOUT) if rest else DECLARED
    before = {JOIN: "", AGREEMENT: "of ", WITHOUT: "without ", ORDER: OF_ORDER}
    detail = rest.removeprefix(before[kind]) if kind in before else ""
    return {"kind": kind, "metric": rest if kind == STANDARD else metric, "detail": detail}


def is_own(limits: pd.DataFrame, decision: Mapping[str, Any]) -> pd.Series:
    """Return whether lines of the limits are about what the study limits, and not about another attack at hand."""
    names, of_others = limits["metric"].fillna("").astype(str), limits["about"].isin([ATTACK, SUREST])
    unlimited = [
        limit in COLUMNS and isinstance(given := decision.get(limit), Mapping) and metric not in given
        for limit, metric in zip(limits["limit"], names, strict=True)
    ]
    return ~of_others | ~(names.str.contains(" ") | pd.Series(unlimited, limits.index, dtype=bool))


def of_others(attacks: pd.DataFrame) -> pd.DataFrame:
    """Return the attacks that were tried, with their names; that of somebody who knows true links is not at hand."""
    lines = attacks[attacks["n_suspected"].notna() & (attacks["kind"] != INFORMED)]
    parts = zip(lines["kind"], lines["metric"], lines["detail"].fillna("").astype(str), strict=True)
    return lines.assign(name=[name(*part) for part in parts])


def bounds(decision: Decision, metrics: Sequence[str]) -> dict[str, float]:
    """Return the limits that every attack is compared with: the largest of each kind that a metric has."""
    given = [decision.given("metrics", metric) for metric in metrics]
    return {
        limit: max(own[limit] for own in given if limit in own)
        for limit in decision.given("metrics")
        if any(limit in own for own in given)
    }


def outcomes(decision: Decision, attacks: pd.DataFrame) -> Iterator[Outcome]:
    """Yield every limit on all metrics for each attack that was tried, and that the study does not limit itself."""
    common = bounds(decision, list(attacks.loc[attacks["kind"] == DECLARED, "metric"]))
    for line in of_others(attacks).to_dict("records"):
        is_declared = line["kind"] == DECLARED
        if line["kind"] == ANY:  # no single metric, nor one order of claims
            if decision.confirmed_by_any_at_most is not None:
                yield _counted(ATTACK, BY_ANY, line, "n_confirmed", decision.confirmed_by_any_at_most)
            continue
        own = decision.given("metrics", line["metric"]) if is_declared else {}
        yield from (_outcome(line, *limit, decision.by) for limit in common.items() if limit[0] not in own)
        if is_declared:
            continue
        if decision.confirmed_by_any_at_most is not None:
            yield _counted(ATTACK, BY_ANY, line, "n_confirmed", decision.confirmed_by_any_at_most)
        if decision.surest is not None and line["kind"] != AGREEMENT:
            yield _counted(SUREST, OF_SUREST, line, "n_at_limit", decision.surest.at_most)


def _outcome(line: Mapping[str, Any], limit: str, bound: float, by: str) -> Outcome:
    """Return the outcome of a limit for one attack.

    A declared or a standard metric is judged as one that the study limits. Among many attacks the best rate of claims
    is often high by chance: it counts by the lower end of its interval.
    """
    if line["kind"] in (DECLARED, STANDARD):
        judged = judge_metric(pd.Series(line), limit, bound, by)
        return judged._replace(metric=line["name"], outcome=EXCEEDS if judged.is_broken else judged.outcome)
    value = float(line[COLUMNS[limit]])
    beyond = ends(line, limit)[0] > bound if limit in CLAIMS else value > bound
    outcome = NOTHING if pd.isna(value) else EXCEEDS if beyond else PASSES
    return Outcome(ATTACK, limit, line["name"], value, bound, outcome)


def _counted(about: str, limit: str, line: Mapping[str, Any], column: str, bound: int) -> Outcome:
    """Return the outcome of a limit on a number of records, or of claims, which may be of records not suspected."""
    value, whole = float(line[column]), "n_claims" if about == SUREST else "n_suspected"
    outcome = NOTHING if not line[whole] else EXCEEDS if value > bound else PASSES
    return Outcome(about, limit, line["name"], value, bound, outcome)


def untried(attacks: pd.DataFrame) -> Iterator[StudyWarning]:
    """Yield a warning of standard attacks that were not tried: the verdict may not be about the strongest attack."""
    lines = attacks[(attacks["kind"] == STANDARD) & attacks["n_suspected"].isna()]
    if len(lines):
        names = ", ".join(f"`{metric}`" for metric in lines["metric"])
        yield StudyWarning(UNDERSTATES, "untried", {"metrics": names}, len(lines))


def exceeding(limits: pd.DataFrame, attacks: pd.DataFrame, decision: Decision) -> Iterator[StudyWarning]:
    """Yield a warning for each limit that what the study limits meets, and that another attack is beyond.

    It names the attack that is furthest beyond it; of rates of claims, by the lower end of the interval.

    Parameters
    ----------
    limits : pandas.DataFrame
        Every limit with its outcomes.
    """
    own, lines = is_own(limits, dict(decision)), of_others(attacks).set_index("name", drop=False)
    broken = set(limits.loc[own & (limits["outcome"] == BREAKS), "limit"])
    for limit, group in limits[limits["outcome"] == EXCEEDS].groupby("limit", sort=False):
        if limit in broken:
            continue
        by_claims = limit in CLAIMS
        beyond = [ends(lines.loc[one], limit)[0] for one in group["metric"]] if by_claims else list(group["value"])
        first = group.iloc[max(range(len(beyond)), key=beyond.__getitem__)]
        yield _warning(lines.loc[first["metric"]], str(limit), float(first["bound"]), len(group))


COUNTED = {OF_SUREST: ("n_at_limit", "n_claims"), **CLAIMS}
"""The counts that a warning has, where these are not those of confirmed and suspected records."""

OF = {"single_rate_at_most": "single", "expected_correct_rate_at_most": "guess"}
"""Of what a warning has the number, where that is not suspected records."""


def _warning(line: pd.Series, limit: str, bound: float, attacks: int) -> StudyWarning:
    """Return the warning that names an attack which is beyond a limit."""
    part, whole = COUNTED.get(limit, ("n_confirmed", "n_suspected"))
    n, is_share = round(float(line[part])), limit in COLUMNS and limit != "confirmed_at_most"
    fields = {
        "metric": in_words(str(line["metric"])),
        "how": str(line["kind"]),
        "detail": " + ".join(str(line["detail"]).split("+")) if line["kind"] in (AGREEMENT, JOIN, WITHOUT) else "",
        "n": n,
        "claims": int(line[whole]),
        "bound": float(bound) if is_share else int(bound),
        "attacks": attacks,
    }
    if limit == OF_SUREST:
        return StudyWarning(UNDERSTATES, "stronger_surest", fields, n)
    return StudyWarning(UNDERSTATES, "stronger", {**fields, "limit": limit, "of": OF.get(limit, "suspected")}, n)
