"""Check the three files that the metrics compare, as `prepare` and `stratify` do (METHODS §1, §2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial

import pandas as pd
import pyarrow as pa

from reident.intake import prepare as intake
from reident.intake.columns import typed_text
from reident.intake.records import require_records
from reident.intake.settings import PreparationSettings
from reident.intake.severity import table
from reident.linkage import strata
from reident.linkage.settings import StratificationSettings, Variable
from reident.plausibility.check import check as check_description
from reident.plausibility.settings import DescriptionCheckSettings
from reident.sections.linkage import StudyColumn
from reident.validation import codes
from reident.validation.findings import Findings
from reident.verdict.warnings import descriptions

SIDES = ("puf", "eif")
_NO_LINK = "no_link"


def check(settings: PreparationSettings, texts: Mapping[str, pa.Table | None], findings: Findings) -> None:
    """Note the problems of the files of a study, and warnings for the analyst.

    The text of one of :attr:`PreparationSettings.sides` may be None, or lack columns, which is noted already.
    """
    present = {side: text for side, text in texts.items() if text is not None}
    records = {side: present[side] for side in SIDES if side in present}
    sound = {column.name for column in settings.columns if _is_sound(settings, column, records, findings)}
    for side, text in records.items():
        with findings.noting():
            require_records(settings.file(side), text.num_rows)
    if len(records) < len(SIDES) or not all(text.num_rows for text in records.values()):
        return
    tables, whole = _checkable(settings, present)
    cluster = settings.cluster if set(settings.cluster) <= set(records["puf"].column_names) else ()
    checked = dataclasses.replace(
        settings,
        cluster=cluster,
        strata=tuple(column for column in settings.strata if column.name in sound),
        variables=tuple(column for column in settings.variables if column.name in sound),
    )
    with findings.noting():
        prepared = intake.prepare(checked, **tables, guard=findings.noting)
        findings.warn_all(prepared.warnings if whole else prepared.warnings[prepared.warnings["code"] != _NO_LINK])
        if len(settings.strata) == len(checked.strata):
            _check_strata(settings, prepared, records if whole else {}, findings)


def _is_sound(
    settings: PreparationSettings, column: StudyColumn, texts: Mapping[str, pa.Table], findings: Findings
) -> bool:
    columns = []
    for side, text in texts.items():
        source = getattr(settings.files, side)
        typing = partial(typed_text, column, side, source)
        columns.append(codes.File(source.file_name, text, getattr(column, side), typing))
    compares = column.coding("puf").kind == "categorical"
    return codes.check(column.name, columns, findings, categorical=compares)


def _checkable(settings: PreparationSettings, texts: Mapping[str, pa.Table]) -> tuple[dict[str, pa.Table], bool]:
    """Return the files with numbers for keys that are not there, and whether the links are among them."""
    tables, whole = dict(texts), True
    for side in SIDES:
        text = texts[side]
        numbers = pa.array(map(str, range(text.num_rows)), pa.string())
        for name in (*settings.keys_of(side), *settings.row_key_of(side)):
            if name not in text.column_names:
                text, whole = text.append_column(name, numbers), False
        tables[side] = text
    links = settings.keys_of("iuf")
    if not whole or "iuf" not in texts or not set(links) <= set(texts["iuf"].column_names):
        tables["iuf"], whole = pa.schema([(name, pa.string()) for name in links]).empty_table(), False
    if "original" in tables and not (
        whole and set(settings.keys_of("original")) <= set(tables["original"].column_names)
    ):
        del tables["original"]
    return tables, whole


def _check_strata(
    settings: PreparationSettings, prepared: intake.PreparedFiles, texts: Mapping[str, pa.Table], findings: Findings
) -> None:
    """Note strata of one file only; refuse files without a stratum in common."""
    names = settings.file_name("puf"), settings.file_name("eif")
    section = StratificationSettings(tuple(column.name for column in settings.strata), names)
    with findings.noting():
        stratified = strata.stratify(section, prepared.puf, prepared.eif, prepared.iuf)
        _check_description(settings, prepared, stratified, texts, findings)
        manifest = stratified.manifest
        for side, other, (file, lacking) in (("n_puf", "n_eif", names), ("n_eif", "n_puf", names[::-1])):
            alone = manifest[(manifest[side] > 0) & (manifest[other] == 0)]
            if len(alone):
                verb = "has" if len(alone) == 1 else "have"
                findings.warn(
                    f"{file}: {int(alone[side].sum()):,} records are compared with none, because {len(alone):,} of "
                    f"{len(manifest):,} strata {verb} no record of {lacking}. Check the codes of `strata`, or use "
                    "fewer."
                )


def _check_description(
    settings: PreparationSettings,
    prepared: intake.PreparedFiles,
    stratified: strata.Strata,
    texts: Mapping[str, pa.Table],
    findings: Findings,
) -> None:
    """Note the findings of links and files on their description, as the step and the verdict do (METHODS §1.1)."""
    if not len(prepared.iuf):
        return
    variables = tuple(
        Variable(variable.name, variable.type, variable.integer_coded)
        for variable in settings.variables
        if variable.name in prepared.puf.column_names
    )
    tables, strata_ = ({side: getattr(made, side) for side in SIDES} for made in (prepared, stratified))
    account = pd.concat([prepared.account, stratified.account])
    checking = DescriptionCheckSettings(variables, settings.key_names, settings)
    checked = check_description(checking, tables, prepared.iuf, strata_, account, texts)
    for warning in table(descriptions({"strata/account.csv": stratified.account, "plausibility.csv": checked}))[
        "warning"
    ]:
        findings.warn(warning)
