"""Tables of made-up warnings, with codes or, as earlier releases recorded them, with a sentence alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd
from reident.intake.severity import SEVERITIES, StudyWarning, table


class Sentence(NamedTuple):
    """A warning without a code."""

    severity: str
    warning: str
    affected: int | None = None
    share: float | None = None
    codes: str = ""


def warning_table(lines: Iterable[StudyWarning | Sentence]) -> pd.DataFrame:
    """Return warnings as the table of a step, the gravest first."""
    ordered = sorted(lines, key=lambda line: SEVERITIES.index(line.severity))
    return pd.concat([table([]), *map(_line, ordered)], ignore_index=True) if ordered else table([])


def _line(line: StudyWarning | Sentence) -> pd.DataFrame:
    if isinstance(line, StudyWarning):
        return table([line])
    severity, sentence, *others = line
    coded = table([StudyWarning(severity, "no_link", {"file": ""}, *others)])
    return coded.assign(warning=sentence, code="", fields="")
