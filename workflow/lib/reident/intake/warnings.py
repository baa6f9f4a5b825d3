"""Warnings about source files: valid input that may be a mistake (METHODS §1).

A sentence names a file, a variable and a count, never a key or a value. A code that looks like a missing one is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import NamedTuple

from reident.errors import Guard, InputError
from reident.intake.columns import CodeTexts
from reident.intake.key_reader import KeyCounts
from reident.intake.records import RecordReader
from reident.intake.settings import PreparationSettings
from reident.intake.severity import (
    INVALIDATES,
    MATERIAL,
    NOTABLE,
    UNDERSTATES,
    StudyWarning,
    named,
    named_frequent,
    of_share,
)
from reident.intake.undeclared import (
    DISTORTS,
    MISSING_WORDS,
    OTHER,
    Counts,
    are_top_codes,
    look_missing,
    look_missing_dates,
)
from reident.language.messages import Fields
from reident.sections.codes import normaliser
from reident.sections.days import day_text
from reident.sections.linkage import StudyColumn

Texts = Mapping[tuple[str, str], CodeTexts]
"""By side and name of the variable."""

Records = Mapping[str, RecordReader]
"""The PUF and the EIF as they are typed, by side."""

_TOLD = 0.1
"""A share of the links with a code from which on they tell whether it is a top code (METHODS §1.1, `spread_code`)."""


def key_warnings(settings: PreparationSettings, counts: Mapping[tuple[str, str], KeyCounts]) -> list[StudyWarning]:
    """Keys that look as if a program had changed them; counts by side and name of the column."""
    warnings = []
    for (side, name), keys in counts.items():
        file, total = settings.file_name(side), max(1, keys.n)
        if n := keys.rounded:
            fields: Fields = {"file": file, "column": name, "n": n}
            warnings.append(StudyWarning(UNDERSTATES, "rounded_keys", fields, n, n / total))
        if n := keys.changed:
            fields = {"file": file, "column": name, "n": n}
            warnings.append(StudyWarning(NOTABLE, "blank_keys", fields, n, n / total))
    return warnings


def cluster_warnings(settings: PreparationSettings, n: int, rows: int) -> list[StudyWarning]:
    """Warn of records without a cluster: `n` of all records."""
    fields: Fields = {"file": settings.file_name("puf"), "n": n}
    return [StudyWarning(NOTABLE, "no_cluster", fields, n, n / rows)] if n else []


def missing_code_warnings(settings: PreparationSettings, texts: Texts, rows: Mapping[str, int]) -> list[StudyWarning]:
    """Warn of codes that are declared missing for one file only and occur in the other."""
    warnings = []
    for column in settings.columns:
        for side, other in OTHER.items():
            codes = texts[side, column.name]
            if n := codes.foreign_rows:
                fields: Fields = {"file": settings.file_name(side), "variable": column.name, "n": n}
                fields, share = {**fields, "other": settings.file_name(other)}, n / rows[side]
                severity, names = of_share(share), named(sorted(codes.foreign))
                warnings.append(StudyWarning(severity, "missing_elsewhere", fields, n, share, names))
    return warnings


def unused_code_warnings(settings: PreparationSettings, texts: Texts) -> list[StudyWarning]:
    """Warn of recoded codes that do not occur, and of several missing codes in one text.

    A missing code that occurs in no record is nothing to look at, nor is a recode table that names more codes than
    the file has, and all of those.
    """
    warnings = []
    for column in settings.columns:
        for side in OTHER:
            codes = texts[side, column.name]
            fields = {"file": settings.file_name(side), "variable": column.name}
            if codes.others and (n := len(codes.unused)):
                counts = {"n": n, "codes": codes.n_codes}
                warnings.append(StudyWarning(NOTABLE, "unused_recodes", {**fields, **counts}))
            if n := len(codes.joined):
                warnings.append(StudyWarning(UNDERSTATES, "joined_codes", {**fields, "n": n}))
    return warnings


def value_warnings(
    settings: PreparationSettings, records: Records, links: int, guard: Guard = nullcontext
) -> list[StudyWarning]:
    """Variables without a value, with one value only, with codes that look missing, or with few codes in common.

    Raises
    ------
    InputError
        A categorical variable without a code in common.
    """
    warnings = []
    for column in settings.columns:
        linking = column in settings.variables
        fields = {"kind": "linking" if linking else "strata", "variable": column.name}
        counts = [records[side].counts(column.name) for side in OTHER]
        if not all(counts):
            warnings.append(StudyWarning(UNDERSTATES if linking else INVALIDATES, "no_value", fields))
            continue
        warnings += _code_warnings(settings, column, records, links)
        if column.coding("puf").kind == "categorical":
            with guard():
                warnings += _common_codes(settings, column, fields, set(counts[0]), set(counts[1]))
        elif any(file.columns[column.name].is_single and file.n > 1 for file in records.values()):
            warnings.append(StudyWarning(NOTABLE, "single_value", fields))
    return warnings


def _common_codes(
    settings: PreparationSettings, column: StudyColumn, fields: Fields, ours: set[str | float], theirs: set[str | float]
) -> list[StudyWarning]:
    """Refuse a categorical variable without a code in common; warn below half (METHODS §1)."""
    common, codes = len(ours & theirs), len(ours | theirs)
    if not common:
        raise InputError(
            f"{settings.file_name('puf')} and {settings.file_name('eif')}, columns `{column.puf}` and `{column.eif}`: "
            f"no code of `{column.name}` is in both files. Recode one of the files (`recode`)."
        )
    if 2 * common >= codes:
        return []
    return [StudyWarning(NOTABLE, "few_common_codes", {**fields, "common": common, "codes": codes})]


class CodeGroup(NamedTuple):
    """Codes of a variable in one file: the file, the variable, the records that have them, and their true links."""

    side: str
    column: StudyColumn
    codes: Mapping[str | float, int]
    n: int
    n_links: int
    links: int

    @property
    def rows(self) -> int:
        """The records."""
        return sum(self.codes.values())

    @property
    def names(self) -> str:
        """The codes in a list."""
        return named(sorted(self.in_words(value) for value in self.codes))

    def in_words(self, value: str | float) -> str:
        """Return a code, a number or the day of a date as text."""
        if isinstance(value, str):
            return value
        return day_text(value) if self.column.date_of(self.side) is not None else f"{value:.15g}"

    def warning(
        self, settings: PreparationSettings, code: str, fields: Fields, *, harmless: bool = False, grave: bool = False
    ) -> StudyWarning:
        """Return the warning; it is grave, too, if it is about a material share of records and of true links."""
        share, links_share = self.rows / self.n, self.n_links / self.links if self.links else 0.0
        severity = NOTABLE if harmless else of_share(min(share, links_share) if self.links else share)
        severity = UNDERSTATES if grave else severity
        own: Fields = {"file": settings.file_name(self.side), "variable": self.column.name, "n": len(self.codes)}
        records = {"records": self.rows, "total": self.n, "share": share}
        links = {"links": self.n_links, "all_links": self.links, "links_share": links_share}
        fields = {**own, **records, **links, **fields}
        return StudyWarning(severity, code, fields, self.rows, share, self.names)


def _code_warnings(
    settings: PreparationSettings, column: StudyColumn, records: Records, links: int
) -> list[StudyWarning]:
    """Warn of codes of a variable that look like missing ones, and of those that one file only has."""
    warnings = []
    for side, other in OTHER.items():
        codes, others = (records[name].counts(column.name) for name in (side, other))
        reader, values = records[side].columns[column.name], _declared(column, side)
        by_file = {code: n for code, n in codes.items() if reader.declared(code) and code not in values}
        look = look_missing if column.date_of(side) is None else look_missing_dates
        looks = by_file | look(codes, values)
        for code, found in (
            ("undeclared_by_study", by_file),
            ("undeclared_missing", {value: n for value, n in looks.items() if value not in by_file}),
        ):
            if found:
                group = _code_group(records, links, side, column, found)
                told = code == "undeclared_missing" and group.n_links >= max(8, _TOLD * links)
                top = told and are_top_codes(found, codes)
                grave = not top and reader.distortion(looks) > DISTORTS
                warnings.append(_undeclared(settings, code, group, others, grave=grave, top=top))
        if column.coding(side).kind == "categorical":
            single = {code: rows for code, rows in codes.items() if code not in others and code not in looks}
            if sum(single.values()) > MATERIAL * records[side].n:
                warnings.append(_single(settings, _code_group(records, links, side, column, single)))
    return warnings


def _code_group(records: Records, links: int, side: str, column: StudyColumn, codes: Counts) -> CodeGroup:
    """Count the true links of the records that have some codes."""
    file = records[side]
    return CodeGroup(side, column, codes, file.n, file.linked(column.name, codes), links)


def _declared(column: StudyColumn, side: str) -> set[str | float | None]:
    """Return the codes that the study names as values: the codes of `order`, and the results of `recode`."""
    coding = column.coding(side)
    normal = normaliser(coding)
    texts = {normal(code) for code in (*(coding.order or ()), *coding.recode.values())}
    return {coding.number(text) for text in texts} if coding.kind == "numeric" else set(texts)


def _undeclared(
    settings: PreparationSettings, code: str, group: CodeGroup, others: Counts, *, grave: bool, top: bool
) -> StudyWarning:
    """Return the warning of codes that look like missing ones.

    A category that both files have does not keep records apart: two records that miss it agree on it. Numbers that
    distort the standard deviation are grave however few they are, since all records are measured by it; the cut points
    of bins move past no larger share of records than they hold.
    """
    categorical = group.column.coding(group.side).kind == "categorical"
    harmless = top or (categorical and set(group.codes) <= set(others))
    rows = {group.in_words(value): n for value, n in group.codes.items()}
    # Other codes could be the value of a person.
    is_date = group.column.date_of(group.side) is not None  # the day stands for no person's
    usual = {text for text in rows if is_date or text.casefold() in MISSING_WORDS or text.startswith("-")}
    usual |= set(rows) if code == "undeclared_by_study" else set()
    fields = {"names": named_frequent(rows, usual)}
    return group.warning(settings, code, fields, harmless=harmless, grave=grave)


def _single(settings: PreparationSettings, group: CodeGroup) -> StudyWarning:
    """Return the warning of categories that one file only has."""
    effect = "other_strata" if group.column in settings.strata else "disagree"
    fields = {"other": settings.file_name(OTHER[group.side]), "effect": effect}
    code = "incomplete_recode" if group.column.coding(group.side).recode else "single_codes"
    return group.warning(settings, code, fields)
