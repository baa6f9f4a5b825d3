"""Check a file that is micro-aggregated, as `microaggregate` does, and give the files that come of it (METHODS §9)."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from reident.microaggregation import masking
from reident.microaggregation.parts import Masking
from reident.validation.findings import Findings


class _State(NamedTuple):
    """What is checked: the part of the study, and the text of the file."""

    part: Masking
    text: pa.Table


def make(part: Masking, text: pa.Table | None, findings: Findings) -> dict[str, pd.DataFrame]:
    """Note what is wrong with the original file; return the files that the study makes of what is not.

    Parameters
    ----------
    part : Masking
    text : pyarrow.Table or None
        The text of the original file; it may be None, or lack columns, which is noted already.
    findings : Findings
    """
    if text is None:
        return {}
    names = set(text.column_names)
    if not set(part.options.id) <= names:
        return {}
    state: _State | None = _State(part, text)
    for name in {*masking.columns_of(part), *part.options.variables} - names:
        state = state and _without(state, ("variable", name))
    made = None if state is None else findings.until_accepted(lambda own: masking.make(*own), state, _without)
    return {} if made is None else {"puf": made.puf, "eif": made.eif, "iuf": made.iuf}


def _without(state: _State, about: tuple[str, ...]) -> _State | None:
    """Return what is checked, without a column, and without the variables that compare it."""
    options, name = state.part.options, about[1]
    variables = tuple(variable for variable in options.variables if variable != name)
    columns = tuple(own for own in state.part.columns if name not in (own.puf, own.eif))
    if not variables or (variables, columns) == (options.variables, state.part.columns):
        return None
    own = options.model_copy(update={"variables": variables})
    return state._replace(part=dataclasses.replace(state.part, options=own, columns=columns))
