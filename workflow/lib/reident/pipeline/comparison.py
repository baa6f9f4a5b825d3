"""The comparison of a study's variants: what each of them found, line by line beside what varies."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from reident.pipeline.family import Compared
from reident.pipeline.tables import Lines


def compare(lines: Lines, studies: Sequence[Compared], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the lines of one table of every variant, those about the whole study, beside each other.

    Returns
    -------
    pandas.DataFrame
        ``variant``; ``reference``, ``yes`` for the study as its file says; ``set_…``, the label of each thing that
        varies; then the columns of the table, in the order of the studies and of their tables.
    """
    parts = []
    for study, table in zip(studies, tables, strict=True):
        part = table[table[lines.column] == lines.value].drop(columns=lines.column)
        part.insert(0, "variant", study.variant)
        part.insert(1, "reference", "yes" if study.reference else "no")
        for at, (name, label) in enumerate(study.labels.items(), start=2):
            part.insert(at, f"set_{name}", label)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
