"""Check the file of `file_risk`, its population and its original records, as `prepare_filerisk` does (METHODS §7)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.filerisk import prepare as filerisk
from reident.filerisk.parts import FILE, ORIGINAL, POPULATION, RiskFiles
from reident.intake import keys
from reident.intake.values import typed_key
from reident.sections.files import SourceFile
from reident.validation import codes
from reident.validation.findings import Findings


class _State(NamedTuple):
    """What is checked: the part of the study, and the text of each file."""

    files: RiskFiles
    texts: Mapping[str, pa.Table]


def sources(files: RiskFiles) -> dict[str, SourceFile]:
    """Return the files that a study measures, by the prepared tables that are made of them."""
    every = {FILE: files.file, POPULATION: files.population, ORIGINAL: files.original}
    return {table: source for table, source in every.items() if source is not None}


def keys_of(files: RiskFiles, table: str) -> tuple[str, ...]:
    """Return the key columns of a file."""
    return {FILE: files.id, ORIGINAL: files.original_id}.get(table, ())


def check(files: RiskFiles, texts: Mapping[str, pa.Table | None], findings: Findings) -> None:
    """Note what is wrong with the files of `file_risk`, and what an analyst should look at.

    Parameters
    ----------
    files : RiskFiles
    texts : mapping
        The text of each of :func:`sources`; it may be None, or lack columns, which is noted already.
    findings : Findings
    """
    known = {table: text for table, text in texts.items() if text is not None}
    typed: dict[str, dict[str, pa.Array]] = {}
    for table, text in list(known.items()):
        source, names = sources(files)[table], keys_of(files, table)
        typed[table] = {}
        for variable in files.variables(table):
            if variable.column in text.column_names:
                with findings.noting():
                    typed[table][variable.name] = typed_key(variable, source, text[variable.column])
        if names and set(names) <= set(text.column_names):
            code = keys.codes([text], [names])[0]
            file = source.file_name
            problems = list(keys.problems(text, names, code, file, source.first_row))
            findings.note_all(problems)
            if problems:
                known.pop(ORIGINAL, None)  # which must have the records of the file
            if problems and table == FILE:
                known[table] = _first_of_each(text, names, code)
    _compare_codes(files, typed, findings)
    if FILE not in known:
        return
    state = _checkable(files, known, typed)
    if state.files.key:
        prepared = findings.until_accepted(
            lambda own: filerisk.prepare(
                own.files, own.texts[FILE], own.texts.get(POPULATION), own.texts.get(ORIGINAL)
            ),
            state,
            _without,
        )
        if prepared is not None:
            findings.warn_all(prepared.warnings)


def _compare_codes(files: RiskFiles, typed: Mapping[str, Mapping[str, pa.Array]], findings: Findings) -> None:
    for variable in files.key:
        for other in (POPULATION, ORIGINAL):
            pair = [
                (sources(files)[table].file_name, typed[table][variable.name])
                for table in (FILE, other)
                if variable.name in typed.get(table, ())
            ]
            if variable.type == "categorical" and len(pair) > 1:
                table = codes.compared(variable.name, pair)
                if table is not None:
                    findings.hint(table)


def _checkable(
    files: RiskFiles, texts: Mapping[str, pa.Table], typed: Mapping[str, Mapping[str, pa.Array]]
) -> _State:
    """Return what of a study the step can check."""
    sound, own = dict(texts), set(texts[FILE].column_names)
    key = tuple(
        variable for variable in files.key if all(variable.name in column for column in typed.values())
    )
    sensitive = tuple(variable for variable in files.sensitive if variable.name in typed[FILE])
    named = set(files.id) <= own
    if ORIGINAL in sound and not (named and set(files.original_id) <= set(sound[ORIGINAL].column_names)):
        del sound[ORIGINAL]
    strata = files.strata
    if POPULATION in sound and not set(strata) <= set(sound[POPULATION].column_names):
        strata = ()
    return _State(
        dataclasses.replace(
            files,
            key=key,
            id=files.id if named else (),
            weight=files.weight if files.weight in own else None,
            strata=strata,
            household=files.household if set(files.household) <= own else (),
            sensitive=sensitive,
        ),
        sound,
    )


def _first_of_each(text: pa.Table, names: tuple[str, ...], code: np.ndarray) -> pa.Table:
    """Return the first record of each key that is not empty."""
    rows = np.sort(np.unique(code, return_index=True)[1])
    return text.take(pa.array(rows[~keys.without_key(text, names)[rows]]))


def _without(state: _State, about: tuple[str, ...]) -> _State | None:
    """Return what is checked, without what an error is about."""
    files = state.files
    if about[0] == "original":
        return state._replace(texts={table: text for table, text in state.texts.items() if table != ORIGINAL})
    if about[0] == "weight" or about == ("variable", files.weight):
        return state._replace(files=dataclasses.replace(files, weight=None))
    if about[0] == "variable":
        sensitive = tuple(variable for variable in files.sensitive if variable.name != about[1])
        if len(sensitive) < len(files.sensitive):
            return state._replace(files=dataclasses.replace(files, sensitive=sensitive))
        key = tuple(variable for variable in files.key if variable.name != about[1])
        if key and len(key) < len(files.key):
            return state._replace(files=dataclasses.replace(files, key=key))
    return None
