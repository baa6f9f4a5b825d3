"""The row account: rows in = rows used + rows left out by each named cause (METHODS §1)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

CAUSES = {
    "in": "in",
    "used": "used",
    "unknown_link": "link to an unknown record",
    "repeat": "exact repeat of a link",
    "unit_row": "further row of a unit",
    "unit_link": "further link of the same units",
    "no_stratum": "no stratum: a strata value is missing",
    "lost_no_stratum": "lost to stratification: a record of the link is in no stratum",
    "lost_other_strata": "lost to stratification: the records are in different strata",
    "misses_key": "misses a value of the key",
    "not_target": "not a target",
    "not_sampled": "not in the sample",
}
"""The causes of a row account, and the text that its table has for each."""

OF_UNITS = ("unit_row", "unit_link")
"""Causes of rows that are not left out: those of units, and links of units, that have more than one."""

WHOLE_KEY = "cells of the whole key"
"""The table has it after the name of a file whose account is of the records in these cells."""


class Account:
    """The account of one step; a file's account that does not close raises."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.lines: list[tuple[str, str, str, int]] = []

    def add(self, file: str, rows: int, left: Mapping[str, int] = {}, used: int | None = None) -> None:
        """Add the account of a file: its rows, those left out by cause, and those used (by default all others).

        Raises
        ------
        RuntimeError
            If rows in differ from rows used and left out: a defect of the program.
        """
        left_out = sum(left.values())
        used = rows - left_out if used is None else used
        if rows != used + left_out:
            raise RuntimeError(
                f"the row account of {file} in step {self.step} does not close: {rows} ≠ {used} + {left_out}"
            )
        causes = {"in": rows, **left, "used": used}
        self.lines += [(self.step, file, CAUSES[cause], n) for cause, n in causes.items()]

    def table(self) -> pd.DataFrame:
        """Return the account with columns step, file, cause, rows."""
        return pd.DataFrame(self.lines, columns=["step", "file", "cause", "rows"])


def coded(account: pd.DataFrame) -> pd.DataFrame:
    """Return a table of accounts with causes as codes; a cause of an earlier release stays as it is."""
    codes = {text: code for code, text in CAUSES.items()}
    return account.assign(cause=[codes.get(text, text) for text in account["cause"]])
