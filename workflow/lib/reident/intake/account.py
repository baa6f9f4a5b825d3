"""The row account: rows in = rows used + rows left out by each named cause (METHODS §1)."""

from __future__ import annotations

import pandas as pd


class Account:
    """The account of one step; a file's account that does not close raises."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.lines: list[tuple[str, str, str, int]] = []
        self._file, self._rows = "", 0

    def open(self, file: str, rows: int) -> Account:
        """Begin the account of a file with its rows in."""
        self._file, self._rows = file, rows
        self.lines.append((self.step, file, "in", rows))
        return self

    def leave(self, cause: str, rows: int) -> None:
        """Rows of the open file that are left out for a cause."""
        self.lines.append((self.step, self._file, cause, rows))

    def close(self, file: str, used: int | None = None) -> None:
        """End the account of a file with its rows used (by default all that are not left out).

        Raises
        ------
        RuntimeError
            If rows in differ from rows used and left out: a defect of the program.
        """
        rows = self._rows
        left = sum(line[3] for line in self.lines if line[1] == file and line[2] != "in")
        used = rows - left if used is None else used
        if rows != used + left:
            raise RuntimeError(
                f"the row account of {file} in step {self.step} does not close: {rows} ≠ {used} + {left}"
            )
        self.lines.append((self.step, file, "used", used))

    def table(self) -> pd.DataFrame:
        """Return the account with columns step, file, cause, rows."""
        return pd.DataFrame(self.lines, columns=["step", "file", "cause", "rows"])
