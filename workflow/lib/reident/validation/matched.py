"""Check the confidential and the synthetic files, as `prepare_matching` does (METHODS §1, §8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial

import pyarrow as pa

from reident.matching import prepare as matching
from reident.matching.parts import MatchedFiles
from reident.sections.matching import MatchedVariable
from reident.validation import codes
from reident.validation.findings import Findings


def check(
    options: MatchedFiles,
    confidential: pa.Table | None,
    synthetic: Sequence[pa.Table | None],
    holdout: pa.Table | None,
    findings: Findings,
) -> None:
    """Note what is wrong with the files of `matching`, and what an analyst should look at.

    Parameters
    ----------
    options : MatchedFiles
    confidential, synthetic, holdout : pyarrow.Table or None
        The text of each file; it may be None, or lack columns, which is noted already.
    findings : Findings
    """
    texts: dict[int | None, pa.Table | None] = {None: confidential, **dict(enumerate(synthetic))}
    present = {place: text for place, text in texts.items() if text is not None}
    sound = {one.name for one in options.variables if _is_sound(options, one, present, holdout, findings)}
    keyed = [place for place, text in present.items() if set(options.key(place)) <= set(text.column_names)]
    if confidential is None or None not in keyed:
        return
    files = [place for place in keyed if place is not None]
    part = _only(options, sound, confidential.column_names, files)
    if part.synthetic and part.variables:
        with findings.noting():
            copies = [present[place] for place in files]
            findings.warn_all(matching.prepare(part, confidential, copies, findings.noting, holdout).warnings)


def _is_sound(
    options: MatchedFiles,
    variable: MatchedVariable,
    texts: Mapping[int | None, pa.Table],
    holdout: pa.Table | None,
    findings: Findings,
) -> bool:
    columns = []
    for place, text in texts.items():
        source = options.file(place)
        typing = partial(matching.typed_variable, options, variable, source=source)
        columns.append(codes.File(source.file_name, text, variable.name, typing))
    if holdout is not None and options.holdout is not None and variable.name in options.closest:
        typing = partial(matching.typed_variable, options, variable, source=options.holdout)
        columns.append(codes.File(options.holdout.file_name, holdout, variable.name, typing))
    compares = variable.name not in options.numeric and None in texts
    return codes.check(variable.name, columns, findings, categorical=compares)


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
        closest=tuple(name for name in options.closest if name in variables),
    )
