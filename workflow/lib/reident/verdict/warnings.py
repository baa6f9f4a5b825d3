"""The warnings of a study: those of reading its files, and those that only its results show (METHODS §1, §2, §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reident.intake.severity import (
    NOTABLE,
    SEVERITIES,
    UNDERSTATES,
    Line,
    named,
    percentage,
    table,
)
from reident.linkage.metrics import REGISTRY
from reident.linkage.ranking import WHOLE
from reident.plausibility import sentences
from reident.plausibility.links import severity_of_lost
from reident.verdict.parts import Judging

ATTACK, TOGETHER, FILE, MATCHING, CLOSEST, ATTRIBUTES = (
    "attack", "together", "file_risk", "matching", "closest", "attribute_disclosure",
)  # fmt: skip
ABOUT = (ATTACK, TOGETHER, FILE, MATCHING, CLOSEST, ATTRIBUTES)
"""What warnings and limits are about."""

WARNED = {TOGETHER: ATTACK}
"""What the warnings on something are about, where it has none of its own."""

MIN_AMBIGUOUS = 0.1
"""The smallest share of compared records that are many ambiguous ones."""

SOURCES = {ATTACK: "prepared", FILE: "risk", MATCHING: "matched", ATTRIBUTES: "attributed"}
"""The table of the warnings of reading the files, by what it is about."""


def collect(part: Judging, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return every warning of a study, the gravest first.

    Parameters
    ----------
    part : Judging
    tables : mapping
        Those of ``prepared``, ``risk``, ``matched`` and ``attributed`` (warnings of reading), ``strata`` (the row
        account) and ``rates`` that the study has.

    Returns
    -------
    pandas.DataFrame
        ``about``, one of :data:`ABOUT`, and the columns of :class:`reident.intake.severity.Line` but the codes,
        which stay with the tables of reading.
    """
    parts = [tables[name].assign(about=about) for about, name in SOURCES.items() if name in tables]
    attack_warnings = table(
        [*descriptions(tables), *_ambiguous(tables), *_thresholds(part, tables), *_default_scores(part)]
    )
    return ordered(pd.concat([*parts, attack_warnings.assign(about=ATTACK)], ignore_index=True))


def ordered(lines: pd.DataFrame) -> pd.DataFrame:
    """Return warnings with the gravest first, in the columns of `verdict/warnings.csv`."""
    order = lines["severity"].map(SEVERITIES.index).sort_values(kind="stable")
    return lines.loc[order.index, ["about", *Line._fields[:-1]]].reset_index(drop=True)


def descriptions(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Return the warnings of what links and files show of their description: of ``strata`` and ``checks``.

    `reident validate` has the same.
    """
    checks = sentences.lines(tables["checks"]) if "checks" in tables else []
    return [*_links(tables), *checks]


def _ambiguous(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Warn of metrics that leave more records ambiguous than they suspect: these are found up to a tie, not safe."""
    if "rates" not in tables:
        return []
    whole = tables["rates"][tables["rates"]["stratum"] == WHOLE]
    many = (
        row
        for row in whole.itertuples()
        if row.n_ambiguous > max(row.n_suspected, MIN_AMBIGUOUS * row.n_compared)
    )
    return [
        Line(
            UNDERSTATES,
            f"{REGISTRY[row.metric].title}: {round(row.n_ambiguous):,} of {round(row.n_compared):,} compared records "
            "are ambiguous, more than are suspected. Their person may be among equally good candidates, which are too "
            "many to count. Raise the rank limit, or use more variables.",
            round(row.n_ambiguous),
            row.n_ambiguous / row.n_compared,
        )
        for row in many
    ]


def _links(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Warn of true links outside the strata; without a link the warnings of reading say so."""
    if "strata" not in tables:
        return []
    account = tables["strata"]
    account = account[account["file"] == "iuf"].set_index("cause")["rows"]
    links, lost = int(account["in"]), int(account["in"] - account["used"])
    if not lost:
        return []
    extent = "True links lie outside the strata"
    if lost == links:
        extent = "All true links lie outside the strata"
    elif 2 * lost > links:
        extent = "Most true links lie outside the strata"
    warning = (
        f"{extent}: no metric can find {lost:,} of {links:,} ({percentage(lost / links)}). The rates do not apply to "
        "an intruder who does not use the strata variables. Check the codes of the strata variables."
    )
    return [Line(severity_of_lost(lost, links), warning, lost, lost / links)]


def _thresholds(part: Judging, tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Warn of thresholds that nothing can reach, and of those that exclude little (METHODS §4)."""
    if "rates" not in tables:
        return []
    whole = tables["rates"][tables["rates"]["stratum"] == WHOLE]
    lines = (_threshold(row, part.n_variables) for row in whole.itertuples() if REGISTRY[row.metric].ranked)
    return [line for line in lines if line is not None]


_REMEDIES = {
    "euclidean": " The option `norm: rms` has a threshold that excludes more.",
    "adhoc": " A higher `threshold` excludes more.",
    "fellegi_sunter": " A higher `threshold` excludes more.",
    "winkler": " A larger `min_agree` excludes more; `closest` has no threshold.",
}


def _threshold(row: Any, v: int) -> Line | None:
    name = REGISTRY[row.metric].title
    if row.tolerance < 0:
        warning = (
            f"{name}: no pair can be suspected. Even a pair that agrees on all linking variables does not pass the "
            "threshold, so the metric has no verdict. Lower its `threshold`."
        )
        return Line(UNDERSTATES, warning)
    if 2 * row.tolerance <= v:
        return None
    passing, share = round(row.n_suspected + row.n_ambiguous), float(row.passing_rate)
    passing_ = (
        f"{passing:,} of {row.n_compared:,} compared records ({percentage(share)}) have a pair that passes"
    )
    warning = (
        f"{name}: the threshold is weak. A pair passes even if {row.tolerance} of the {v} linking variables differ "
        f"completely, and {passing_ if row.n_compared else 'no records are compared'}. Many suspected pairs are then "
        f"chance, which lowers the conditional rate.{_REMEDIES.get(row.metric, '')}"
    )
    return Line(UNDERSTATES, warning, passing, share)


def _default_scores(part: Judging) -> list[Line]:
    """Warn of linking variables that adhoc scores by its default rules."""
    if not part.default_scores:
        return []
    name, variables = REGISTRY["adhoc"].title, named(part.default_scores)
    return [
        Line(NOTABLE, f"{name}: the study declares no scores for {variables}; the default rules are used.")
    ]
