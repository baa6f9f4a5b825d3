"""One line of the table of checks: the measurement, its value by chance, and its severity (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

MIN_LINKS = 10
"""The fewest links from which something is concluded."""

NAN = float("nan")


class Finding(NamedTuple):
    """The measurement of one check.

    Attributes
    ----------
    scope : str
        The linking variable, the variables joined by `+`, or the file: ``puf``, ``eif``, ``iuf``.
    check : str
        The code of the check, see :data:`reident.plausibility.warnings.KINDS`.
    statistic : float
        What the check measured.
    chance : float
        What chance, or the other file, gives.
    n : int
        The links or records that it was measured on.
    severity : str
        One of :data:`reident.intake.severity.SEVERITIES`; empty without a warning.
    proposal : str
        What to write into the study, as far as the check knows it; of numbers and words of the study file alone.
    """

    scope: str
    check: str
    statistic: float
    chance: float = NAN
    n: int = 0
    severity: str = ""
    proposal: str = ""


def table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return findings as the table ``plausibility.csv``."""
    types = {"statistic": float, "chance": float, "n": "int64"}
    return pd.DataFrame(list(findings), columns=list(Finding._fields)).astype(types)
