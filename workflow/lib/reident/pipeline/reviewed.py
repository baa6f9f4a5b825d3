"""The tables that a report shows: those that its study asks for, and no others that lie beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reident.linkage.metrics import REGISTRY
from reident.pipeline import comparison

RESOLVED = "study.json"
"""The study itself, with every default: what tells which tables the report shows."""

_LINKAGE = {
    "accounts": ["prepared/account.csv", "strata/account.csv"],
    "warnings": ["prepared/warnings.csv"],
    "manifest": ["strata/manifest.csv"],
    "cutpoints": ["binned/cutpoints.csv"],
    "rates": ["rates.csv"],
    "descriptions": [f"description/{table}.csv" for table in ("variables", "agreement", "overlap")],
}
_MICROAGGREGATION = ("account", "variables")
_MATCHING = ("account", "warnings", "summary", "scenarios", "distribution", "variables")
_FILE_RISK = (
    "categories", "account", "warnings", "summary", "definitions", "hazards", "cells", "sizes", "variables", "levels",
    "scores", "classes",
)  # fmt: skip
_NUMERICAL_STUDY = ("by_sample", "by_class", "by_tenth")


def tables(study: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tables that the report of a study shows.

    The step `report` has them as its inputs, and its notebook reads no others: a section that was dropped
    from a study leaves its tables on the disk.

    Parameters
    ----------
    study : mapping
        The study in plain values, as ``study.json`` has it.

    Returns
    -------
    dict of list of str
        Paths from the study's results folder, by the names of the inputs of the step `report`.
    """
    own = study.get("metrics") or {}
    metrics = [name for name in REGISTRY if own.get(name) is not None]
    found: dict[str, list[str]] = {}
    if metrics:
        found |= {name: list(paths) for name, paths in _LINKAGE.items()}
        found["distributions"] = [f"suspected/{metric}.distribution.csv" for metric in metrics]
        found["limits"] = [f"confirmed/{metric}.limits.csv" for metric in metrics]
    if "winkler" in metrics:
        found["agreements"] = ["agreements.csv"]
    if study.get("microaggregate") is not None:
        found["microaggregation"] = _in("microaggregation", _MICROAGGREGATION)
    if study.get("matching") is not None:
        found["matching"] = _in("matching", _MATCHING)
    if compared := comparison.asked(study):
        found["comparison"] = _in("comparison", compared)
    if (risk := study.get("file_risk")) is not None:
        samples = (risk.get("population") or {}).get("numerical_study") is not None
        found["filerisk"] = _in("filerisk", [*_FILE_RISK, *(_NUMERICAL_STUDY if samples else ())])
    return found


def _in(folder: str, names: list[str] | tuple[str, ...]) -> list[str]:
    return [f"{folder}/{name}.csv" for name in names]
