"""What of the source files an analyst should look at: accepted, but perhaps not what was meant (METHODS §1).

A sentence names a file, a variable and a count, never a key or a value. A code that looks like a missing one is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import NamedTuple

from reident.errors import Guard, InputError
from reident.intake.columns import CodeTexts
from reident.intake.parts import Preparing
from reident.intake.records import KeyCounts, RecordReader
from reident.intake.severity import (
    INVALIDATES,
    MATERIAL,
    NOTABLE,
    UNDERSTATES,
    Line,
    named,
    named_frequent,
    of_share,
    percentage,
)
from reident.intake.undeclared import MISSING_WORDS, OTHER, Counts, look_missing
from reident.sections.codes import normaliser, number
from reident.sections.linkage import Column

Texts = Mapping[tuple[str, str], CodeTexts]
"""By side and name of the variable."""

Records = Mapping[str, RecordReader]
"""The PUF and the EIF as they are typed, by side."""


def key_warnings(part: Preparing, counts: Mapping[tuple[str, str], KeyCounts]) -> list[Line]:
    """Keys that look as if a program had changed them; counts by side and name of the column."""
    warnings = []
    for (side, name), keys in counts.items():
        file, n = part.file_name(side), max(1, keys.n)
        if keys.rounded:
            warning = (
                f"{file}, column {name}: {keys.rounded:,} keys look like 1.2E+15, which is how a spreadsheet "
                "writes a long number after rounding it. Check that no two keys have become equal."
            )
            warnings.append(Line(UNDERSTATES, warning, keys.rounded, keys.rounded / n))
        if keys.changed:
            warning = (
                f"{file}, column {name}: {keys.changed:,} keys have blanks around them or are not in Unicode NFC. "
                "Keys are compared exactly as written. Check that the other file writes them in the same way."
            )
            warnings.append(Line(NOTABLE, warning, keys.changed, keys.changed / n))
    return warnings


def cluster_warnings(part: Preparing, n: int, rows: int) -> list[Line]:
    """Warn of records without a cluster: `n` of all records."""
    text = (
        f"{part.file_name('puf')}, `rates.cluster`: {n:,} records have an empty value. Each counts as a cluster of "
        "its own. Check that they have no household or other cluster."
    )
    return [Line(NOTABLE, text, n, n / rows)] if n else []


def missing_code_warnings(part: Preparing, texts: Texts, rows: Mapping[str, int]) -> list[Line]:
    """Warn of codes that are declared missing for one file only and occur in the other."""
    warnings = []
    for column in part.columns:
        for side, other in OTHER.items():
            codes = texts[side, column.name]
            if n := codes.foreign_rows:
                warning = (
                    f"{part.file_name(side)}, variable {column.name}: {n:,} values are a code that is declared "
                    f"missing for {part.file_name(other)} only. Here they count as values."
                )
                share = n / rows[side]
                warnings.append(Line(of_share(share), warning, n, share, named(sorted(codes.foreign))))
    return warnings


def unused_code_warnings(part: Preparing, texts: Texts) -> list[Line]:
    """Warn of recoded codes that do not occur, and of several missing codes in one text.

    A missing code that occurs in no record is nothing to look at, nor is a recode table that names more codes than
    the file has, and all of those.
    """
    warnings = []
    for column in part.columns:
        for side in OTHER:
            codes, where = texts[side, column.name], f"{part.file_name(side)}, variable {column.name}"
            if codes.others and (unused := len(codes.unused)):
                warning = (
                    f"{where}: {unused:,} of the {codes.n_codes:,} codes in `recode` do not occur, while codes "
                    "that are not in it do. Check how the file writes its codes."
                )
                warnings.append(Line(NOTABLE, warning))
            if unused := len(codes.joined):
                warning = (
                    f"{where}: {unused:,} of the codes in `missing` contain a comma or a semicolon and do not occur. "
                    'List codes one by one, as in ["-9", "-8"].'
                )
                warnings.append(Line(UNDERSTATES, warning))
    return warnings


def value_warnings(part: Preparing, records: Records, links: int, guard: Guard = nullcontext) -> list[Line]:
    """Variables without a value, with one value only, with codes that look missing, or with few codes in common.

    Raises
    ------
    InputError
        A categorical variable without a code in common.
    """
    warnings = []
    for column in part.columns:
        linking = column in part.variables
        role = "linking variable" if linking else "strata variable"
        counts = [records[side].counts(column.name) for side in OTHER]
        if not all(counts):
            warning = f"The {role} {column.name} is missing in every record of one of the two files."
            warnings.append(Line(UNDERSTATES if linking else INVALIDATES, warning))
            continue
        warnings += _code_warnings(part, column, records, links)
        if column.coding("puf").kind == "categorical":
            with guard():
                warnings += _common_codes(part, column, role, set(counts[0]), set(counts[1]))
        elif any(len(values) == 1 < records[side].n for side, values in zip(OTHER, counts, strict=True)):
            warning = (
                f"The {role} {column.name} has a single value in one of the two files and distinguishes no "
                "records."
            )
            warnings.append(Line(NOTABLE, warning))
    return warnings


def _common_codes(
    part: Preparing, column: Column, role: str, ours: set[str | float], theirs: set[str | float]
) -> list[Line]:
    """Refuse a categorical variable without a code in common; warn below half (METHODS §1)."""
    common, codes = len(ours & theirs), len(ours | theirs)
    if not common:
        raise InputError(
            f"{part.file_name('puf')} and {part.file_name('eif')}, columns `{column.puf}` and `{column.eif}`: no code "
            f"of `{column.name}` is in both files. Recode one of the files (`recode`)."
        )
    if 2 * common >= codes:
        return []
    warning = (
        f"Fewer than half of the codes of the {role} {column.name} occur in both files "
        f"({common} of {codes}). Check the recodes."
    )
    return [Line(NOTABLE, warning)]


class CodeGroup(NamedTuple):
    """Codes of a variable in one file: the file, the variable, the records that have them, and their true links."""

    side: str
    column: Column
    codes: Mapping[str | float, int]
    n: int
    n_links: int
    links: int

    @property
    def rows(self) -> int:
        """The records."""
        return sum(self.codes.values())

    @property
    def records(self) -> str:
        """The records, with their share, in words."""
        return f"{self.rows:,} of {self.n:,} records ({percentage(self.rows / self.n)})"

    @property
    def cost(self) -> str:
        """The true links that they concern, in words."""
        share = percentage(self.n_links / self.links) if self.links else "0 %"
        return f"{self.n_links:,} of {self.links:,} true links ({share})"

    def line(self, warning: str, *, harmless: bool = False) -> Line:
        """Return the warning; it is grave if it is about a material share of the records, and of the true links."""
        shares = [self.rows / self.n, *([self.n_links / self.links] if self.links else [])]
        severity = NOTABLE if harmless else of_share(min(shares))
        texts = (value if isinstance(value, str) else f"{value:.15g}" for value in self.codes)
        return Line(severity, warning, self.rows, self.rows / self.n, named(sorted(texts)))


def _code_warnings(part: Preparing, column: Column, records: Records, links: int) -> list[Line]:
    """Warn of codes of a variable that look like missing ones, and of those that one file only has."""
    warnings = []
    for side, other in OTHER.items():
        codes, others = (records[name].counts(column.name) for name in (side, other))
        looks = look_missing(codes, _declared(column, side))
        if looks:
            warnings.append(_undeclared(part, _code_group(records, links, side, column, looks), others))
        if column.coding(side).kind == "categorical":
            single = {code: rows for code, rows in codes.items() if code not in others and code not in looks}
            if sum(single.values()) > MATERIAL * records[side].n:
                warnings.append(_single(part, _code_group(records, links, side, column, single)))
    return warnings


def _code_group(records: Records, links: int, side: str, column: Column, codes: Counts) -> CodeGroup:
    """Count the true links of the records that have some codes."""
    file = records[side]
    return CodeGroup(side, column, codes, file.n, file.linked(column.name, codes), links)


def _declared(column: Column, side: str) -> set[str | float | None]:
    """Return the codes that the study names as values: those of `order`, and those that `recode` results in."""
    coding = column.coding(side)
    normal = normaliser(coding)
    texts = {normal(code) for code in (*(coding.order or ()), *coding.recode.values())}
    return {number(text) for text in texts} if coding.kind == "numeric" else set(texts)


def _undeclared(part: Preparing, group: CodeGroup, others: Counts) -> Line:
    """Return the warning of codes that look like missing ones.

    A category that both files have does not keep records apart: two records that miss it agree on it.
    """
    categorical = group.column.coding(group.side).kind == "categorical"
    rows = {value if isinstance(value, str) else f"{value:.15g}": n for value, n in group.codes.items()}
    # Other codes could be the value of a person.
    usual = {text for text in rows if text.casefold() in MISSING_WORDS or text.startswith("-")}
    codes = named_frequent(rows, usual)
    what = "a code that looks" if len(group.codes) == 1 else "codes that look"
    warning = (
        f"{part.file_name(group.side)}, variable {group.column.name}: {group.records} have {what} like missing values "
        f"and are not declared as missing: {codes}. They count as values, also in {group.cost}. Add them to `missing`, "
        "or, if they are values, recode each to itself."
    )
    return group.line(warning, harmless=categorical and set(group.codes) <= set(others))


def _single(part: Preparing, group: CodeGroup) -> Line:
    """Return the warning of categories that one file only has."""
    column, n = group.column, len(group.codes)
    other, where = (
        part.file_name(OTHER[group.side]),
        f"{part.file_name(group.side)}, variable {column.name}",
    )
    effect = "never agree on this variable"
    if column in part.strata:
        effect = "are in strata without a record of the other file"
    effect = f"{group.records} {effect}, which concerns {group.cost}"
    if column.coding(group.side).recode:
        warning = (
            f"{where}: `recode` is incomplete. It does not result in a code of {other} for {n:,} "
            f"{'code' if n == 1 else 'codes'}, so {effect}. Complete the recode table; `prepared/warnings.csv` "
            "names the codes."
        )
    else:
        occur = "code does" if n == 1 else "codes do"
        warning = (
            f"{where}: {n:,} {occur} not occur in {other}, so {effect}. Recode one of the files (`recode`); "
            "`prepared/warnings.csv` names the codes."
        )
    return group.line(warning)
