"""The draft of a study of files without records of people, confirmed by the values of people (METHODS §14)."""

from __future__ import annotations

from pathlib import Path

from reident.drafting import draft, links, types
from reident.drafting.linked import add_linking, add_strata, choose_strata, find_variables
from reident.drafting.links import Key
from reident.drafting.profile import File, profile
from reident.drafting.sheet import Sheet, listed, number, scalar
from reident.drafting.sheet import key as key_value
from reident.drafting.source import describe
from reident.errors import InputError

_BY_ROW = Key((), (), "the row")


def make(confidential: Path, released: Path, external: Path, out: Path) -> tuple[str, list[str]]:
    """Return the draft of a study that is confirmed by values, and sentences about the files for the terminal."""
    sources = [describe(path, out) for path in (released, external, confidential)]
    puf, eif, iuf = map(profile, sources)
    key = links.alone(eif)
    lacking = [name for name in key.columns if name not in iuf.columns]
    if lacking:
        raise InputError(
            f"{iuf.name}: the confidential file must have the key of {eif.name}, but has no column {listed(lacking)}. "
            "Name the columns alike."
        )
    variables = find_variables(puf, eif, (_BY_ROW, key), None)
    known = {variable.pair.puf.name for variable in variables}
    learnt = [name for name in puf.columns if name in iuf.columns and name not in {*known, *key.columns}]
    if not variables or not learnt:
        raise InputError(
            f"{puf.name}: the file must share columns with {eif.name}, by which persons are linked, and others with "
            f"{iuf.name}, which are learnt. Name columns alike that have the same meaning."
        )
    every = puf.records * eif.records
    effects, stratum = choose_strata(variables, every)
    sheet = Sheet()
    draft.head(sheet, out, sources, "A study of a file without records of people")
    _files(sheet, (puf, eif, iuf), key)
    add_strata(sheet, variables, effects, stratum, every)
    add_linking(sheet, [variable for variable in variables if variable.name != stratum], [])
    sheet.add("metrics: {euclidean: {}, fellegi_sunter: {}}", "config/README.md describes their options")
    sheet.gap()
    _confirm(sheet, puf, iuf, learnt)
    sheet.add("# decision: {excess_precision_at_most: 0.05}", draft.LIMIT)
    facts = [
        draft.described(file, of_file.columns, "the row") for file, of_file in ((puf, _BY_ROW), (eif, key), (iuf, key))
    ]
    n = len(variables) - (stratum is not None)
    stratified = f", strata by {stratum}" if stratum else ", no strata"
    return sheet.text(), [*facts, f"{number(n, 'linking variable')}{stratified}", f"To be learnt: {listed(learnt)}"]


def _files(sheet: Sheet, files: tuple[File, File, File], key: Key) -> None:
    sheet.add("files:")
    for side, file in zip(("puf", "eif", "iuf"), files, strict=True):
        sheet.end_block()
        sheet.add(f"  {side}:")
        draft.file(sheet, "    ", file.source, file.records)
        if side == "eif":
            sheet.add(f"    id: {key_value(key.columns)}", key.reason)
    sheet.add(f"    eif_id: {key_value(key.columns)}", "the confidential record of each person, in place of links")
    sheet.gap()


def _confirm(sheet: Sheet, puf: File, iuf: File, learnt: list[str]) -> None:
    sheet.add("confirm:")
    sheet.add("  by: values")
    sheet.end_block()
    sheet.remark("What the intruder learns from a released record. Remove what is not confidential.", 2)
    sheet.add("  learn:")
    for name in learnt:
        columns = [puf.columns[name], iuf.columns[name]]
        kind = types.kind(columns)
        missing = draft.missing(columns[0], kind.kind)
        sheet.add(f"    - name: {scalar(name)}")
        sheet.add(f"      type: {kind.kind}", kind.reason)
        if missing.codes or missing.todo:
            sheet.add(f"      missing: {draft.value_of(missing)}", missing.reason)
    sheet.end_block()
    sheet.remark("Numbers that must agree within a difference before a claim is confirmed, such as {age: 1}.", 2)
    sheet.add("  within: {}")
    sheet.gap()
