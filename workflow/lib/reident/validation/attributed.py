"""Check the original and the released files, as `prepare_attribution` does (METHODS §1, §12)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from reident.attribution import prepare as attribution
from reident.attribution.parts import AttributionFiles
from reident.intake import keys
from reident.intake.values import typed_key
from reident.validation import codes
from reident.validation.findings import Findings


class _State(NamedTuple):
    """What is checked: the part of the study, and the text of each file."""

    files: AttributionFiles
    texts: Mapping[str, pa.Table]


def check(files: AttributionFiles, texts: Mapping[str, pa.Table | None], findings: Findings) -> None:
    """Note what is wrong with the files of `attribute_disclosure`, and what an analyst should look at.

    Parameters
    ----------
    files : AttributionFiles
    texts : mapping
        The text of each file, by side; it may be None, or lack columns, which is noted already.
    findings : Findings
    """
    known = {side: text for side, text in texts.items() if text is not None and text.num_rows}
    typed = {side: _typed(files, side, text, findings) for side, text in known.items()}
    _compare_codes(files, typed, findings)
    sound = {side: text for side, text in known.items() if _has_key(files, side, text, findings)}
    released = tuple(side for side in files.released if side in sound)
    if files.original not in sound or not released:
        return
    names = {variable.name for variable in files.variables}
    for side in sound:
        names &= set(typed[side])
    state = _State(_only(files, names, tuple(sound)), sound)
    if state.files.variables:
        prepared = findings.until_accepted(lambda own: attribution.prepare(*own), state, _without)
        if prepared is not None:
            findings.warn_all(prepared.warnings)


def _typed(files: AttributionFiles, side: str, text: pa.Table, findings: Findings) -> dict[str, pa.Array]:
    """Return the variables of a file that can be read, typed."""
    typed = {}
    for variable in files.variables:
        if variable.column in text.column_names:
            with findings.noting():
                typed[variable.name] = typed_key(variable, files.files[side], text[variable.column])
    return typed


def _compare_codes(
    files: AttributionFiles, typed: Mapping[str, Mapping[str, pa.Array]], findings: Findings
) -> None:
    """Show the codes of a file beside those of the original file where they do not correspond."""
    first = files.original
    for variable in files.variables:
        if variable.type == "numeric" or variable.name not in typed.get(first, ()):
            continue
        for side, own in typed.items():
            if side != first and variable.name in own:
                pair = [(files.files[at].file_name, typed[at][variable.name]) for at in (first, side)]
                if (table := codes.compared(variable.name, pair)) is not None:
                    findings.hint(table)


def _has_key(files: AttributionFiles, side: str, text: pa.Table, findings: Findings) -> bool:
    """Return whether the columns that identify a person are there and sound, or not needed."""
    names = files.ids.get(side) or ()
    if not names or not set(names) <= set(text.column_names):
        return not names
    code = keys.codes([text], [names])[0]
    problems = list(
        keys.problems(text, names, code, files.files[side].file_name, files.files[side].first_row)
    )
    findings.note_all(problems)
    return not problems


def _only(files: AttributionFiles, names: set[str], sides: tuple[str, ...]) -> AttributionFiles:
    """Return the part of a study with some of the variables and files."""
    return dataclasses.replace(
        files,
        files={side: source for side, source in files.files.items() if side in sides},
        released=tuple(side for side in files.released if side in sides),
        keys=tuple(variable for variable in files.keys if variable.name in names),
        targets=tuple(variable for variable in files.targets if variable.name in names),
    )


def _without(state: _State, about: tuple[str, ...]) -> _State | None:
    """Return what is checked, without the variable or file that an error is about."""
    files, names = state.files, {variable.name for variable in state.files.variables}
    if about[0] == "variable" and about[1] in names and len(names) > 1:
        return _State(_only(files, names - {about[1]}, tuple(state.texts)), state.texts)
    if about[0] == "file" and about[1] in files.released and len(files.released) > 1:
        texts = {side: text for side, text in state.texts.items() if side != about[1]}
        return _State(_only(files, names, tuple(texts)), texts)
    return None
