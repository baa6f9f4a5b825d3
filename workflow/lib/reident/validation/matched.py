"""Check the confidential and the synthetic files, as `prepare_matching` does (METHODS §1, §8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from reident.intake import keys
from reident.matching import prepare as matching
from reident.matching.parts import MatchedFiles
from reident.validation import codes
from reident.validation.findings import Findings


class _State(NamedTuple):
    """What is checked: the part of the study, and the text of each file."""

    options: MatchedFiles
    confidential: pa.Table
    synthetic: tuple[pa.Table, ...]


def check(
    options: MatchedFiles,
    confidential: pa.Table | None,
    synthetic: Sequence[pa.Table | None],
    findings: Findings,
) -> None:
    """Note what is wrong with the files of `matching`, and what an analyst should look at.

    Parameters
    ----------
    options : MatchedFiles
    confidential, synthetic : pyarrow.Table or None
        The text of each file; it may be None, or lack columns, which is noted already.
    findings : Findings
    """
    places = [None, *range(len(synthetic))]
    texts = dict(zip(places, [confidential, *synthetic], strict=True))
    sound = {variable.name for variable in options.variables}
    typed: dict[int | None, dict[str, pa.Array]] = {}
    for place, text in texts.items():
        if text is None or not text.num_rows:
            continue
        typed[place] = _typed(options, place, text, findings)
        sound &= set(typed[place])
    _compare_codes(options, typed, findings)
    keyed = [
        place
        for place, text in texts.items()
        if text is not None and _has_key(options, place, text, findings)
    ]
    if confidential is None or None not in keyed:
        return
    left = [place for place in keyed if place is not None]
    state = _State(
        _only(options, sound, confidential.column_names, left),
        confidential,
        tuple(text for at in left if (text := synthetic[at]) is not None),
    )
    if state.synthetic and state.options.variables:
        prepared = findings.until_accepted(lambda own: matching.prepare(*own), state, _without)
        if prepared is not None:
            findings.warn_all(prepared.warnings)


def _has_key(options: MatchedFiles, place: int | None, text: pa.Table, findings: Findings) -> bool:
    """Return whether the key of a file is there and sound, or not needed; note what is wrong with it."""
    names, source = options.key(place), options.file(place)
    if not names or not set(names) <= set(text.column_names):
        return not names
    code = keys.codes([text], [names])[0]
    problems = list(keys.problems(text, names, code, source.file_name, source.first_row))
    findings.note_all(problems)
    return not problems


def _compare_codes(
    options: MatchedFiles, typed: Mapping[int | None, Mapping[str, pa.Array]], findings: Findings
) -> None:
    """Show the codes of a synthetic file beside those of the confidential file where they do not correspond."""
    for variable in options.variables:
        name = variable.name
        if name in options.numeric or name not in typed.get(None, ()):
            continue
        for place, own in typed.items():
            if place is not None and name in own:
                files = [(options.file(at).file_name, typed[at][name]) for at in (None, place)]
                if (table := codes.compared(name, files)) is not None:
                    findings.hint(table)


def _typed(
    options: MatchedFiles, place: int | None, text: pa.Table, findings: Findings
) -> dict[str, pa.Array]:
    """Return the variables of a file that can be read, typed."""
    typed = {}
    for variable in options.variables:
        if variable.name in text.column_names:
            with findings.noting():
                typed[variable.name] = matching.typed_variable(
                    options, variable, text[variable.name], options.file(place)
                )
    return typed


def _only(
    options: MatchedFiles, variables: set[str], columns: Sequence[str], files: Sequence[int]
) -> MatchedFiles:
    """Return the part of a study with some of the variables and files, and the columns that are there."""
    count = options.population_count
    return dataclasses.replace(
        options,
        variables=tuple(variable for variable in options.variables if variable.name in variables),
        numeric=options.numeric & variables,
        synthesized=tuple(name for name in options.synthesized if name in variables),
        targets=tuple(target for target in options.targets if target.variable in columns),
        population_count=count if count in columns else None,
        synthetic=tuple(options.synthetic[at] for at in files),
    )


def _without(state: _State, about: tuple[str, ...]) -> _State | None:
    """Return what is checked, without what an error is about."""
    options, columns = state.options, state.confidential.column_names
    names, files = {variable.name for variable in options.variables}, range(len(state.synthetic))
    if about[0] == "targets":
        return state._replace(options=dataclasses.replace(options, targets=()))
    if about[0] == "population":
        return state._replace(options=dataclasses.replace(options, population_count=None))
    if about[0] == "file" and len(files) > 1:
        left = [at for at in files if at != int(about[1])]
        return _State(
            _only(options, names, columns, left),
            state.confidential,
            tuple(state.synthetic[at] for at in left),
        )
    if about[0] == "variable" and (about[1] in names or about[1] in columns):
        others = [name for name in columns if name != about[1]]
        if len(names - {about[1]}) == 0:
            return None
        return state._replace(options=_only(options, names - {about[1]}, others, files))
    return None
