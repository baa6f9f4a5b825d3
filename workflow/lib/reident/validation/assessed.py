"""Check the file of `file_risk`, its population and its original records, as `prepare_filerisk` does (METHODS §7)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial

import pyarrow as pa

from reident.filerisk import prepare as filerisk
from reident.filerisk.parts import FILE, ORIGINAL, POPULATION, RiskFiles
from reident.intake.values import typed_key
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable
from reident.validation import codes
from reident.validation.findings import Findings


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
    present = {table: text for table, text in texts.items() if text is not None}
    key = tuple(one for one in files.key if _is_sound(files, one, present, findings))
    own = {FILE: present[FILE]} if FILE in present else {}
    sensitive = tuple(one for one in files.sensitive if _is_sound(files, one, own, findings))
    if not own or not key:
        return
    part = dataclasses.replace(_with_columns(files, present), key=key, sensitive=sensitive)
    names = {table: set(text.column_names) for table, text in present.items()}
    if ORIGINAL in names and not (part.id and set(files.original_id) <= names[ORIGINAL]):
        del present[ORIGINAL]
    with findings.noting():
        prepared = filerisk.prepare(
            part, present[FILE], present.get(POPULATION), present.get(ORIGINAL), findings.noting
        )
        findings.warn_all(prepared.warnings)


def _is_sound(
    files: RiskFiles, variable: KeyVariable, texts: Mapping[str, pa.Table], findings: Findings
) -> bool:
    columns = [
        codes.File(source.file_name, texts[table], variable.column, partial(typed_key, variable, source))
        for table, source in sources(files).items()
        if table in texts
    ]
    compares = variable.type == "categorical" and FILE in texts
    return codes.check(variable.name, columns, findings, categorical=compares)


def _with_columns(files: RiskFiles, texts: Mapping[str, pa.Table]) -> RiskFiles:
    """Return the part of a study without columns that its files lack."""
    own = set(texts[FILE].column_names)
    population = set(texts[POPULATION].column_names) if POPULATION in texts else set(files.strata)
    return dataclasses.replace(
        files,
        id=files.id if set(files.id) <= own else (),
        weight=files.weight if files.weight in own else None,
        strata=files.strata if set(files.strata) <= population else (),
        household=files.household if set(files.household) <= own else (),
    )
