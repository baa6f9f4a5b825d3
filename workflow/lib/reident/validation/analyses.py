"""Check the files of one analysis with the function of its own step (METHODS §1, §7, §8, §9, §12).

A text may be None, or lack columns, which is noted already. Each variable is typed first. What is wrong is noted and
left out, and the step's function then notes and warns of what is wrong with the rest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TypeVar

import pandas as pd
import pyarrow as pa

from reident.attribution import prepare as attribution
from reident.attribution.settings import AttributionFileSettings
from reident.filerisk import prepare as filerisk
from reident.filerisk.settings import FILE, ORIGINAL, POPULATION, RiskFileSettings
from reident.intake.values import typed_key
from reident.matching import prepare as matching
from reident.matching.section import HOLDOUT, MatchedVariable
from reident.matching.settings import CONFIDENTIAL, MatchingFileSettings, synthetic_side
from reident.microaggregation import masking
from reident.microaggregation.settings import MaskingSettings
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable
from reident.validation import codes
from reident.validation.findings import Findings
from reident.values import prepare as values
from reident.values.settings import ValuesSettings

Texts = Mapping[str, pa.Table | None]
Key = TypeVar("Key", bound=KeyVariable)


def _sound_keys(
    variables: Iterable[Key],
    sources: Mapping[str, SourceFile],
    texts: Mapping[str, pa.Table],
    reference: str,
    findings: Findings,
) -> tuple[Key, ...]:
    """Return the variables that every file has, with sound values; codes are compared with those of the reference."""

    def is_sound(variable: KeyVariable) -> bool:
        columns = [
            codes.File(source.file_name, texts[side], variable.column, partial(typed_key, variable, source))
            for side, source in sources.items()
            if side in texts
        ]
        compares = not variable.is_numeric and reference in texts
        return codes.check(variable.name, columns, findings, categorical=compares)

    return tuple(filter(is_sound, variables))


def check_risk(settings: RiskFileSettings, texts: Texts, findings: Findings) -> None:
    """Check the file of `file_risk`, its population and its original records, as `prepare_filerisk` does."""
    present = {table: text for table, text in texts.items() if text is not None}
    sources = {table: extract.source for table, extract in settings.extracts.items()}
    file = {FILE: present[FILE]} if FILE in present else {}
    key = _sound_keys(settings.key, sources, present, FILE, findings)
    sensitive = _sound_keys(settings.sensitive, sources, file, FILE, findings)
    if not file or not key:
        return
    sound = dataclasses.replace(_with_columns(settings, present), key=key, sensitive=sensitive)
    if ORIGINAL in present and not (sound.id and set(settings.original_id) <= set(present[ORIGINAL].column_names)):
        del present[ORIGINAL]
    with findings.noting():
        tables = present[FILE], present.get(POPULATION), present.get(ORIGINAL)
        findings.warn_all(filerisk.prepare(sound, *tables, findings.noting).warnings)


def _with_columns(settings: RiskFileSettings, texts: Mapping[str, pa.Table]) -> RiskFileSettings:
    """Return settings without columns that its files lack."""
    columns = set(texts[FILE].column_names)
    population = set(texts[POPULATION].column_names) if POPULATION in texts else set(settings.strata)
    return dataclasses.replace(
        settings,
        id=settings.id if set(settings.id) <= columns else (),
        weight=settings.weight if settings.weight in columns else None,
        strata=settings.strata if set(settings.strata) <= population else (),
        household=settings.household if set(settings.household) <= columns else (),
    )


def check_attribution(settings: AttributionFileSettings, texts: Texts, findings: Findings) -> None:
    """Check the original and the released files of `attribute_disclosure`, as `prepare_attribution` does."""
    present = {side: text for side in settings.files if (text := texts[side]) is not None}
    keys = _sound_keys(settings.keys, settings.files, present, settings.original, findings)
    targets = _sound_keys(settings.targets, settings.files, present, settings.original, findings)
    keyed = [side for side, text in present.items() if set(settings.ids.get(side) or ()) <= set(text.column_names)]
    sound = dataclasses.replace(
        settings,
        files={side: source for side, source in settings.files.items() if side in keyed},
        released=tuple(side for side in settings.released if side in keyed),
        keys=keys,
        targets=targets,
    )
    if settings.original in keyed and sound.released and sound.variables:
        with findings.noting():
            prepared = attribution.prepare(sound, {side: present[side] for side in keyed}, findings.noting)
            findings.warn_all(prepared.warnings)


def check_matching(settings: MatchingFileSettings, texts: Texts, findings: Findings) -> None:
    """Check the confidential and the synthetic files of `matching`, and its holdout, as `prepare_matching` does."""
    sides = {None: CONFIDENTIAL} | {at: synthetic_side(at) for at in range(len(settings.synthetic))}
    present = {at: text for at, side in sides.items() if (text := texts[side]) is not None}
    holdout, confidential = texts.get(HOLDOUT), present.get(None)

    def is_sound(variable: MatchedVariable) -> bool:
        files = [(settings.file(at), text) for at, text in present.items()]
        if holdout is not None and settings.holdout is not None and variable.name in settings.closest:
            files.append((settings.holdout, holdout))
        columns = [
            codes.File(
                source.file_name,
                text,
                variable.name,
                partial(matching.typed_variable, settings, variable, source=source),
            )
            for source, text in files
        ]
        compares = variable.name not in settings.numeric and confidential is not None
        return codes.check(variable.name, columns, findings, categorical=compares)

    variables = tuple(filter(is_sound, settings.variables))
    keyed = [at for at, text in present.items() if set(settings.key(at)) <= set(text.column_names)]
    if confidential is None or None not in keyed:
        return
    names, count = {variable.name for variable in variables}, settings.population_count
    copies = [at for at in keyed if at is not None]
    sound = dataclasses.replace(
        settings,
        variables=variables,
        numeric=settings.numeric & names,
        synthesized=tuple(name for name in settings.synthesized if name in names),
        targets=tuple(target for target in settings.targets if target.variable in confidential.column_names),
        population_count=count if count in confidential.column_names else None,
        synthetic=tuple(settings.synthetic[at] for at in copies),
        closest=tuple(name for name in settings.closest if name in names),
    )
    if sound.synthetic and sound.variables:
        with findings.noting():
            tables = confidential, [present[at] for at in copies]
            findings.warn_all(matching.prepare(sound, *tables, findings.noting, holdout).warnings)


def masked(settings: MaskingSettings, text: pa.Table | None, findings: Findings) -> dict[str, pd.DataFrame]:
    """Check the file that is micro-aggregated, as `microaggregate` does; return the files that are made of it."""
    options = settings.options
    if text is None or not set(options.id) <= set(text.column_names):
        return {}
    lacking = {*masking.columns_of(settings), *options.variables} - set(text.column_names)
    variables = tuple(name for name in options.variables if name not in lacking)
    if not variables:
        return {}
    sound = dataclasses.replace(
        settings,
        options=options.model_copy(update={"variables": variables}),
        columns=tuple(column for column in settings.columns if not lacking & {column.puf, column.eif}),
    )
    files: dict[str, pd.DataFrame] = {}
    with findings.noting():
        made = masking.make(sound, text, findings.noting)
        files.update(puf=made.puf, eif=made.eif, iuf=made.iuf)
    return files


def check_values(settings: ValuesSettings, texts: Texts, findings: Findings) -> None:
    """Check the files of confirmation by values, as `confirm_values` does, if none lacks a column."""
    present = {side: text for side, text in texts.items() if text is not None}
    wanted = settings.extracts
    if wanted.keys() != present.keys() or any(
        set(one.names) - set(present[side].column_names) for side, one in wanted.items()
    ):
        return
    with findings.noting():
        prepared = values.prepare(settings, {side: [text] for side, text in present.items()}, findings.noting)
        findings.warn_all(prepared.warnings)
