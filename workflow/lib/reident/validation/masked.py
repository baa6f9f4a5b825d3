"""Check a file that is micro-aggregated, as `microaggregate` does, and give the files that come of it (METHODS §9)."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pyarrow as pa

from reident.microaggregation import masking
from reident.microaggregation.parts import Masking
from reident.validation.findings import Findings


def make(part: Masking, text: pa.Table | None, findings: Findings) -> dict[str, pd.DataFrame]:
    """Note what is wrong with the original file; return the files that the study makes of what is not.

    Parameters
    ----------
    part : Masking
    text : pyarrow.Table or None
        The text of the original file; it may be None, or lack columns, which is noted already.
    findings : Findings
    """
    options = part.options
    if text is None or not set(options.id) <= set(text.column_names):
        return {}
    lacking = {*masking.columns_of(part), *options.variables} - set(text.column_names)
    variables = tuple(name for name in options.variables if name not in lacking)
    columns = tuple(column for column in part.columns if not lacking & {column.puf, column.eif})
    if not variables:
        return {}
    sound = dataclasses.replace(
        part, options=options.model_copy(update={"variables": variables}), columns=columns
    )
    files: dict[str, pd.DataFrame] = {}
    with findings.noting():
        made = masking.make(sound, text, findings.noting)
        files.update(puf=made.puf, eif=made.eif, iuf=made.iuf)
    return files
