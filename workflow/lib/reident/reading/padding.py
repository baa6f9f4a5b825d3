"""Pad keys and codes with zeros, so that `1` and `0001` are equal (METHODS §1)."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

_DIGITS = r"^\s*[0-9]+\s*$"


def padded(batch: pa.RecordBatch, widths: Mapping[str, int]) -> pa.RecordBatch:
    """Return records in which the digits of some columns have zeros in front.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        Text columns.
    widths : mapping
        The width of each column that is padded; other columns than those of the batch do not matter. A value that is
        longer or does not consist of digits stays as it is. Blanks around digits are dropped.
    """
    for name, width in widths.items():
        if (at := batch.schema.get_field_index(name)) >= 0:
            text = batch.column(at)
            filled = pc.utf8_lpad(pc.utf8_trim_whitespace(text), width, "0")
            batch = batch.set_column(
                at, name, pc.if_else(pc.match_substring_regex(text, _DIGITS), filled, text)
            )
    return batch
