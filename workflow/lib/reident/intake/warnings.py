"""What of the source files an analyst should look at: accepted, but perhaps not what was meant (METHODS §1).

A sentence names a file, a variable and a count, never a key or a value. A code that looks like a missing one is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import Guard, InputError
from reident.intake import undeclared
from reident.intake.parts import Preparing
from reident.intake.severity import INVALIDATES, NOTABLE, UNDERSTATES, Line, named, of_share
from reident.intake.undeclared import Files
from reident.sections.codes import Coding, clean, normaliser, number
from reident.sections.linkage import Column
from reident.sections.recodes import Recoding

_ROUNDED = r"^\s*[+-]?\d([.,]\d+)?[eE][+]?\d+\s*$"
"""What a spreadsheet makes of a long number: 1.2E+15."""


class KeyCounts:
    """How many texts of a key column look as if a program had changed them."""

    def __init__(self) -> None:
        self.n = self.rounded = self.changed = 0

    def add(self, text: pa.Array) -> None:
        """Count some texts."""
        self.n += len(text)
        self.rounded += pc.match_substring_regex(text, _ROUNDED).true_count
        composed = pc.utf8_normalize(pc.utf8_trim_whitespace(text), "NFC")
        self.changed += pc.not_equal(composed, text).true_count


class CodeTexts:
    """The texts of one variable in one file that the study may have declared wrongly.

    Attributes
    ----------
    foreign_rows : int
        Records with a code that is declared missing for the other file only.
    foreign : set of str
        These codes.
    unused, joined : set of str
        Codes of the recode table, and codes in `missing` that look like several ones, which do not occur.
    others : bool
        Whether codes occur that the recode table leaves as they are.
    """

    def __init__(self, column: Column, side: str, decimal: str) -> None:
        coding = column.coding(side, decimal)
        normal, self._stored = normaliser(coding), normaliser(coding, stored=True)
        self._missing, self._recode = {normal(code) for code in coding.missing}, Recoding(coding)
        others = {normal(code) for code in getattr(column.missing, undeclared.OTHER[side])} - self._missing
        self._foreign = {code for code in others if not self._recode.names(code)}
        self.foreign_rows, self.foreign = 0, set[str]()
        self.unused = set(self._recode.codes) if coding.recode else set[str]()
        self.joined = [normal(code) for code in coding.missing if _is_joined(code, coding)]
        self.others = False
        self.matter = bool(self._foreign or coding.recode or self.joined)

    @property
    def n_codes(self) -> int:
        """The number of codes in the recode table."""
        return len(self._recode.codes)

    def learn(self, texts: list[str]) -> list[bool]:
        """Take distinct texts of the file, and return whether each is declared missing for the other file only."""
        codes = [self._stored(text) for text in texts]
        distinct = set(codes)
        self.foreign |= distinct & self._foreign
        self.unused &= set(self._recode.unused(distinct))
        self.joined = [code for code in self.joined if code not in distinct]
        if self._recode.otherwise is None and not self.others:
            self.others = not all(map(self._recode.names, distinct - self._missing))
        return [code in self._foreign for code in codes]


Texts = Mapping[tuple[str, str], CodeTexts]
"""By side and name of the variable."""


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
        for side, other in undeclared.OTHER.items():
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
        for side in undeclared.OTHER:
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


def _is_joined(code: str, coding: Coding) -> bool:
    """Whether a missing code looks like several ones: separated by a comma that is not that of a number's decimals."""
    decimal = coding.decimal == "," and number(clean(code).replace(",", ".")) is not None
    return bool({",", ";"} & set(code)) and not decimal


def value_warnings(part: Preparing, files: Files, guard: Guard = nullcontext) -> list[Line]:
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
        counts = [file.counts(column.name) for file in (files.puf, files.eif)]
        if not all(counts):
            warning = f"The {role} {column.name} is missing in every record of one of the two files."
            warnings.append(Line(UNDERSTATES if linking else INVALIDATES, warning))
            continue
        warnings += undeclared.code_warnings(part, column, files)
        if column.coding("puf").kind == "categorical":
            with guard():
                warnings += _common_codes(part, column, role, set(counts[0]), set(counts[1]))
        elif any(
            len(values) == 1 < file.n for values, file in zip(counts, (files.puf, files.eif), strict=True)
        ):
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
