"""The comparison of a study's variants: the results of each, line by line beside the values that vary."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from reident.pipeline.family import Compared
from reident.pipeline.tables import RowFilter


def compare(rows: RowFilter, studies: Sequence[Compared], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the lines of one table of every variant, those about the whole study, beside each other.

    Returns
    -------
    pandas.DataFrame
        ``variant``; ``reference``, ``yes`` for the study as its file says; ``set_…``, the label of each thing that
        varies; then the columns of the table, in the order of the studies and of their tables.
    """
    lines = []
    for study, table in zip(studies, tables, strict=True):
        line = table[table[rows.column] == rows.value].drop(columns=rows.column)
        front = {"variant": study.variant, "reference": "yes" if study.reference else "no"}
        front |= {f"set_{name}": label for name, label in study.labels.items()}
        lines.append(line.assign(**front)[[*front, *line]])
    return pd.concat(lines, ignore_index=True)
