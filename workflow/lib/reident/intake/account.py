"""The row account: rows in = rows used + rows left out by each named cause (METHODS §1)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd


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
        self.lines += [(self.step, file, cause, n) for cause, n in causes.items()]

    def table(self) -> pd.DataFrame:
        """Return the account with columns step, file, cause, rows."""
        return pd.DataFrame(self.lines, columns=["step", "file", "cause", "rows"])
