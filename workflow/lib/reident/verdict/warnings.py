"""The warnings of a study: those of reading its files, and those that only its results show (METHODS §1, §2, §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reident.intake.severity import (
    INVALIDATES,
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
from reident.verdict.parts import Judging

ATTACK, TOGETHER, FILE, MATCHING, CLOSEST, ATTRIBUTES = (
    "attack", "together", "file_risk", "matching", "closest", "attribute_disclosure",
)  # fmt: skip
ABOUT = (ATTACK, TOGETHER, FILE, MATCHING, CLOSEST, ATTRIBUTES)
"""What warnings and limits are about."""

LIKELY = 0.5
"""Pairs of a lower mean match probability are more often chance than not."""

WARNED = {TOGETHER: ATTACK}
"""What the warnings on something are about, where it has none of its own."""

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
        [*_links(tables), *_thresholds(part, tables), *_probabilities(tables), *_default_scores(part)]
    )
    lines = pd.concat([*parts, attack_warnings.assign(about=ATTACK)], ignore_index=True)
    order = lines["severity"].map(SEVERITIES.index)
    return lines.loc[order.sort_values(kind="stable").index, ["about", *Line._fields[:-1]]].reset_index(
        drop=True
    )


def _links(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Warn of true links outside the strata; without a link the warnings of reading say so."""
    if "strata" not in tables:
        return []
    account = tables["strata"]
    account = account[account["file"] == "iuf"].set_index("cause")["rows"]
    links, lost = int(account["in"]), int(account["in"] - account["used"])
    if not lost:
        return []
    extent, severity = "True links lie outside the strata", NOTABLE
    if lost == links:
        extent, severity = "All true links lie outside the strata", INVALIDATES
    elif 2 * lost > links:
        extent, severity = "Most true links lie outside the strata", UNDERSTATES
    warning = (
        f"{extent}: no metric can find {lost:,} of {links:,} ({percentage(lost / links)}). The rates do not apply to "
        "an intruder who does not use the strata variables. Check the codes of the strata variables."
    )
    return [Line(severity, warning, lost, lost / links)]


def _thresholds(part: Judging, tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Warn of thresholds that nothing can reach, and of those that exclude little and that pairs pass (METHODS §4)."""
    if "rates" not in tables:
        return []
    whole = tables["rates"][tables["rates"]["stratum"] == WHOLE]
    lines = (_threshold(row, part.n_variables) for row in whole.itertuples() if REGISTRY[row.metric].ranked)
    return [line for line in lines if line is not None]


_REMEDIES = {
    "euclidean": " The option `norm: rms` has a threshold that excludes more.",
    "adhoc": " A higher `threshold` excludes more.",
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
    passing = round(row.n_suspected + row.n_ambiguous)
    if 2 * row.tolerance <= v or not passing or REGISTRY[row.metric].weighs:
        return None
    share = float(row.passing_rate)
    warning = (
        f"{name}: the threshold is weak. A pair passes even if {row.tolerance} of the {v} linking variables differ "
        f"completely, and {passing:,} of {row.n_compared:,} compared records ({percentage(share)}) have a pair that "
        f"passes. Many suspected pairs are then chance, which lowers the conditional rate."
        f"{_REMEDIES.get(row.metric, '')}"
    )
    return Line(UNDERSTATES, warning, passing, share)


def _probabilities(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Warn of suspected pairs that are more often chance than not by their own match probabilities (METHODS §4.6)."""
    lines = tables.get("weighed", pd.DataFrame())
    if lines.empty:
        return []
    n = int(lines["n_pairs"].sum())
    mean = float((lines["probability"] * lines["n_pairs"]).sum()) / n
    if mean >= LIKELY:
        return []
    warning = (
        f"Fellegi–Sunter: the threshold is weak. The mean match probability of the {n:,} suspected pairs is "
        f"{percentage(mean)}, so that most of them are chance, which lowers the conditional rate. A higher `threshold` "
        "excludes more."
    )
    return [Line(UNDERSTATES, warning)]


def _default_scores(part: Judging) -> list[Line]:
    """Warn of linking variables that adhoc scores by its default rules."""
    if not part.default_scores:
        return []
    name, variables = REGISTRY["adhoc"].title, named(part.default_scores)
    return [
        Line(NOTABLE, f"{name}: the study declares no scores for {variables}; the default rules are used.")
    ]
