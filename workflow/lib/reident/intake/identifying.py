"""Compared columns that are distinct in nearly every record, as a number of records is (METHODS §7, §8)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.intake.severity import StudyWarning

MIN_RECORDS, MIN_DISTINCT = 20, 0.95
"""Values from which a column is looked at, and the share of them that are distinct in one that may identify records."""

MAX_SPAN = 10
"""Whole numbers of which so many are distinct are numbers of records where they span at most this many times as many:
of numbers that are drawn fewer would be distinct."""


def identifies(values: pa.Array | pa.ChunkedArray) -> bool:
    """Return whether nearly every record has a value of its own, of numbers one of a dense series."""
    present = pc.drop_null(values)
    n = len(present)
    if n < MIN_RECORDS or len(pc.unique(present)) < MIN_DISTINCT * n:
        return False
    if pa.types.is_string(present.type) or pa.types.is_dictionary(present.type):
        return True
    numbers = present.to_numpy().astype(float)
    return bool((numbers == np.rint(numbers)).all() and np.ptp(numbers) <= MAX_SPAN * n)


def warning(severity: str, file: str, variable: str, consequence: str) -> StudyWarning:
    """Return the warning of a variable that is distinct in nearly every record."""
    return StudyWarning(severity, "identifying", {"file": file, "variable": variable, "consequence": consequence})
