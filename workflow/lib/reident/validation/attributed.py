"""Check the original and the released files, as `prepare_attribution` does (METHODS §1, §12)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from functools import partial

import pyarrow as pa

from reident.attribution import prepare as attribution
from reident.attribution.parts import AttributionFiles
from reident.intake.values import typed_key
from reident.sections.keys import KeyVariable
from reident.validation import codes
from reident.validation.findings import Findings


def check(files: AttributionFiles, texts: Mapping[str, pa.Table | None], findings: Findings) -> None:
    """Note what is wrong with the files of `attribute_disclosure`, and what an analyst should look at.

    Parameters
    ----------
    files : AttributionFiles
    texts : mapping
        The text of each file, by side; it may be None, or lack columns, which is noted already.
    findings : Findings
    """
    present = {side: text for side in files.files if (text := texts[side]) is not None}
    sound = {variable.name for variable in files.variables if _is_sound(files, variable, present, findings)}
    keyed = [
        side for side, text in present.items() if set(files.ids.get(side) or ()) <= set(text.column_names)
    ]
    part = _only(files, sound, keyed)
    if files.original in keyed and part.released and part.variables:
        with findings.noting():
            prepared = attribution.prepare(part, {side: present[side] for side in keyed}, findings.noting)
            findings.warn_all(prepared.warnings)


def _is_sound(
    files: AttributionFiles, variable: KeyVariable, texts: Mapping[str, pa.Table], findings: Findings
) -> bool:
    columns = [
        codes.File(source.file_name, texts[side], variable.column, partial(typed_key, variable, source))
        for side, source in files.files.items()
        if side in texts
    ]
    compares = variable.type != "numeric" and files.original in texts
    return codes.check(variable.name, columns, findings, categorical=compares)


def _only(files: AttributionFiles, names: set[str], sides: Collection[str]) -> AttributionFiles:
    """Return the part of a study with some of the variables and files."""
    return dataclasses.replace(
        files,
        files={side: source for side, source in files.files.items() if side in sides},
        released=tuple(side for side in files.released if side in sides),
        keys=tuple(variable for variable in files.keys if variable.name in names),
        targets=tuple(variable for variable in files.targets if variable.name in names),
    )
