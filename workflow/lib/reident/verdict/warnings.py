"""The warnings of a study: those of reading its files, and those that only its results show (METHODS §1, §2, §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reident.distances import premise
from reident.filerisk import limits as filerisk
from reident.intake.severity import NOTABLE, SEVERITIES, UNDERSTATES, StudyWarning, named, of_share, table
from reident.language.messages import Fields, words
from reident.linkage.metrics import REGISTRY
from reident.linkage.settings import WHOLE
from reident.outcomes import ATTACK, ATTRIBUTES, CLOSEST, FILE, MATCHING, SUREST, TOGETHER, VALUES
from reident.plausibility.links import severity_of_lost
from reident.plausibility.warnings import in_words, warned
from reident.verdict.settings import VerdictSettings

LIKELY = 0.5
"""Pairs of a lower mean match probability are more often chance than not."""

WARNED = {SUREST: ATTACK, TOGETHER: ATTACK}
"""What the warnings on something are about, where it has none of its own."""

MIN_AMBIGUOUS = 0.1
"""The smallest share of compared records that are many ambiguous ones."""

SOURCES = {
    ATTACK: "prepared/warnings.csv",
    FILE: "filerisk/warnings.csv",
    MATCHING: "matching/warnings.csv",
    ATTRIBUTES: "attribution/warnings.csv",
    VALUES: "values/warnings.csv",
}
"""The table of the warnings of reading the files, by what it is about."""


def collect(settings: VerdictSettings, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return every warning of a study, the gravest first.

    Parameters
    ----------
    settings : VerdictSettings
    tables : mapping
        As :func:`reident.verdict.limits.judge` takes them.

    Returns
    -------
    pandas.DataFrame
        ``about``, one of :data:`ABOUT`, and the columns of :func:`reident.intake.severity.table` but the codes,
        which stay with the tables of reading.
    """
    parts = [tables[name].assign(about=about) for about, name in SOURCES.items() if name in tables]
    parts.append(of_attack(settings, tables).assign(about=ATTACK))
    alone = filerisk.warnings(settings.decision, tables, units=settings.units)
    parts.append(table(alone).assign(about=FILE))
    if "matching/premise.csv" in tables:
        parts.append(table(premise.warnings(tables["matching/premise.csv"])).assign(about=CLOSEST))
    return ordered(pd.concat(parts, ignore_index=True))


def of_attack(settings: VerdictSettings, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the warnings of an attack that only its results show, whatever its limits."""
    return table(
        [
            *descriptions(tables),
            *_ambiguous(tables),
            *_sizes(tables),
            *_thresholds(settings, tables),
            *_convergence(tables),
            *_probabilities(tables),
            *_default_scores(settings),
        ]
    )


def ordered(lines: pd.DataFrame) -> pd.DataFrame:
    """Return warnings with the gravest first, in the columns of `verdict/warnings.csv`."""
    return gravest_first(lines)[["about", *table([]).columns.drop("codes")]]


def gravest_first(lines: pd.DataFrame) -> pd.DataFrame:
    """Return warnings with the gravest first, those of one severity in their order."""
    order = lines["severity"].map(SEVERITIES.index).sort_values(kind="stable")
    return lines.loc[order.index].reset_index(drop=True)


def descriptions(tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Return the warnings from links and files about their description.

    `reident validate` has the same.
    """
    checks = warned(tables["plausibility.csv"]) if "plausibility.csv" in tables else []
    return [*_links(tables), *checks]


def _ambiguous(tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Warn of metrics that leave more records ambiguous than they suspect: these are found up to a tie, not safe."""
    if "rates.csv" not in tables:
        return []
    whole = tables["rates.csv"][tables["rates.csv"]["stratum"] == WHOLE]
    warnings = []
    for row in whole.itertuples():
        n, total = round(row.n_ambiguous), round(row.n_compared)
        if n > max(row.n_suspected, MIN_AMBIGUOUS * total):
            fields: Fields = {"metric": in_words(row.metric), "n": n, "total": total}
            warnings.append(StudyWarning(UNDERSTATES, "ambiguous_many", fields, n, n / total))
    return warnings


def _sizes(tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Warn of units that no metric can find, however well their members agree, because members are missing."""
    if "units/sizes.csv" not in tables:
        return []
    counts = tables["units/sizes.csv"].groupby("metric", sort=False)[["n_linked", "n_out_of_reach"]].sum()
    total = int(counts["n_linked"].max())
    warnings = []
    for metric, lost in counts["n_out_of_reach"].items():
        if lost:
            fields: Fields = {"metric": in_words(str(metric)), "n": int(lost), "total": total, "share": lost / total}
            warnings.append(StudyWarning(of_share(lost / total), "out_of_reach", fields, int(lost), lost / total))
    return warnings


def _links(tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Warn of true links outside the strata; without a link the warnings of reading say so."""
    if "strata/account.csv" not in tables:
        return []
    account = tables["strata/account.csv"]
    account = account[account["file"] == "iuf"].set_index("cause")["rows"]
    links, lost = int(account["in"]), int(account["in"] - account["used"])
    if not lost:
        return []
    extent = "some"
    if lost == links:
        extent = "all"
    elif 2 * lost > links:
        extent = "most"
    fields: Fields = {"extent": extent, "n": lost, "links": links, "share": lost / links}
    return [StudyWarning(severity_of_lost(lost, links), "lost_links", fields, lost, lost / links)]


def _thresholds(settings: VerdictSettings, tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Warn of thresholds that nothing can reach, and of those that exclude little and that pairs pass (METHODS §4)."""
    if "rates.csv" not in tables:
        return []
    whole = tables["rates.csv"][tables["rates.csv"]["stratum"] == WHOLE]
    lines = (_threshold(row, settings.n_variables) for row in whole.itertuples() if REGISTRY[row.metric].ranked)
    return [line for line in lines if line is not None]


def _threshold(row: Any, v: int) -> StudyWarning | None:
    fields: Fields = {"metric": in_words(row.metric)}
    passing = round(row.n_suspected + row.n_ambiguous)
    if row.tolerance < 0 and not passing:
        return StudyWarning(UNDERSTATES, "no_pair", fields)
    if 2 * row.tolerance <= v or not passing or REGISTRY[row.metric].weighs:
        return None
    share, remedy = float(row.passing_rate), row.metric if row.metric in words("remedy") else "none"
    fields = {**fields, "n": int(row.tolerance), "variables": v, "remedy": remedy, "passing": passing}
    fields = {**fields, "compared": int(row.n_compared), "share": share}
    return StudyWarning(UNDERSTATES, "weak_threshold", fields, passing, share)


def _convergence(tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Warn of weights with which EM has not converged: the intruder may weigh better (METHODS §4.6)."""
    if "weights/model.csv" not in tables:
        return []
    (model,) = tables["weights/model.csv"].to_dict("records")
    if model["converged"] == "yes":
        return []
    return [StudyWarning(UNDERSTATES, "not_converged", {"rounds": int(model["rounds"])})]


def _probabilities(tables: Mapping[str, pd.DataFrame]) -> list[StudyWarning]:
    """Warn of suspected pairs that are more often chance than not by their own match probabilities (METHODS §4.6)."""
    lines = tables.get("weights/calibration.csv", pd.DataFrame())
    if lines.empty:
        return []
    n = int(lines["n_pairs"].sum())
    mean = float((lines["probability"] * lines["n_pairs"]).sum()) / n
    return [StudyWarning(UNDERSTATES, "unlikely_pairs", {"n": n, "share": mean})] if mean < LIKELY else []


def _default_scores(settings: VerdictSettings) -> list[StudyWarning]:
    """Warn of linking variables that adhoc scores by its default rules."""
    if not settings.default_scores:
        return []
    fields: Fields = {"metric": "adhoc", "names": named(settings.default_scores)}
    return [StudyWarning(NOTABLE, "default_scores", fields)]
