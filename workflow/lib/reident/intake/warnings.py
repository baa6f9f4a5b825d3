"""What of the source files an analyst should look at: accepted, but perhaps not what was meant (METHODS §1).

A sentence names a file, a variable and a count, never a key or a value. A code that looks like a missing one is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.intake import undeclared
from reident.intake.parts import Preparing
from reident.intake.severity import INVALIDATES, NOTABLE, UNDERSTATES, Line, named, of_share
from reident.intake.undeclared import Sides
from reident.sections.codes import Coding, clean, normaliser, number
from reident.sections.linkage import Column
from reident.sections.recodes import Recoding

_ROUNDED = r"^\s*[+-]?\d([.,]\d+)?[eE][+]?\d+\s*$"
"""What a spreadsheet makes of a long number: 1.2E+15."""


def of_keys(part: Preparing, puf: pa.Table, eif: pa.Table, iuf: pa.Table) -> list[Line]:
    """Keys that look as if a program had changed them."""
    sides = [
        ("puf", puf, part.files.puf.id),
        ("eif", eif, part.files.eif.id),
        ("iuf", iuf, (*part.files.iuf.puf_id, *part.files.iuf.eif_id)),
    ]
    warnings = []
    for side, table, names in sides:
        file, n = part.file_name(side), max(1, table.num_rows)
        for name in names:
            text = table[name]
            rounded = _count(pc.match_substring_regex(text, _ROUNDED))
            if rounded:
                warning = (
                    f"{file}, column {name}: {rounded:,} keys look like 1.2E+15, which is how a spreadsheet "
                    "writes a long number after rounding it. Check that no two keys have become equal."
                )
                warnings.append(Line(UNDERSTATES, warning, rounded, rounded / n))
            changed = _count(pc.not_equal(pc.utf8_normalize(pc.utf8_trim_whitespace(text), "NFC"), text))
            if changed:
                warning = (
                    f"{file}, column {name}: {changed:,} keys have blanks around them or are not in Unicode NFC. "
                    "Keys are compared exactly as written. Check that the other file writes them in the same way."
                )
                warnings.append(Line(NOTABLE, warning, changed, changed / n))
    return warnings


def without_cluster(part: Preparing, puf: pa.Table) -> np.ndarray:
    """Return which records have an empty value in a cluster column; bool (n,)."""
    columns = [pc.equal(puf[name], "").to_numpy() for name in part.cluster]
    return np.any(columns, axis=0) if columns else np.zeros(puf.num_rows, bool)


def of_clusters(part: Preparing, puf: pa.Table) -> list[Line]:
    """Warn of records without a cluster."""
    n, file = int(without_cluster(part, puf).sum()), part.file_name("puf")
    text = f"{file}, `rates.cluster`: {n:,} records have an empty value. Each counts as a cluster of its own."
    share = n / max(1, puf.num_rows)
    return (
        [Line(NOTABLE, f"{text} Check that they have no household or other cluster.", n, share)] if n else []
    )


def of_missing_codes(part: Preparing, puf: pa.Table, eif: pa.Table) -> list[Line]:
    """Warn of codes that are declared missing for one file only and occur in the other."""
    warnings = []
    for column in part.columns:
        for own, other, table in (("puf", "eif", puf), ("eif", "puf", eif)):
            coding = column.coding(own, part.file(own).decimal)
            normal, stored = normaliser(coding), normaliser(coding, stored=True)
            known, recode = {normal(code) for code in coding.missing}, Recoding(coding)
            others = {normal(code) for code in getattr(column.missing, other)} - known
            foreign = {code for code in others if not recode.names(code)}
            found = {
                text: rows for text, rows in _counts(table[getattr(column, own)]) if stored(text) in foreign
            }
            if rows := sum(found.values()):
                warning = (
                    f"{part.file_name(own)}, variable {column.name}: {rows:,} values are a code that is declared "
                    f"missing for {part.file_name(other)} only. Here they count as values."
                )
                share = rows / table.num_rows
                codes = named(sorted({stored(text) for text in found}))
                warnings.append(Line(of_share(share), warning, rows, share, codes))
    return warnings


def of_unused_codes(part: Preparing, puf: pa.Table, eif: pa.Table) -> list[Line]:
    """Warn of recoded codes that do not occur, and of several missing codes in one text.

    A missing code that occurs in no record is nothing to look at, nor is a recode table that names more codes than
    the file has, and all of those.
    """
    warnings = []
    for column in part.columns:
        for side, table in (("puf", puf), ("eif", eif)):
            coding = column.coding(side, part.file(side).decimal)
            joined = [code for code in coding.missing if _is_joined(code, coding)]
            if not (coding.recode or joined):
                continue
            normal, stored = normaliser(coding), normaliser(coding, stored=True)
            found = {stored(text) for text in pc.unique(table[getattr(column, side)]).to_pylist()}
            where = f"{part.file_name(side)}, variable {column.name}"
            recode, values = Recoding(coding), found - {normal(code) for code in coding.missing}
            others = recode.otherwise is None and not all(map(recode.names, values))
            if others and (unused := len(recode.unused(found))):
                warning = (
                    f"{where}: {unused:,} of the {len(recode.codes):,} codes in `recode` do not occur, while codes "
                    "that are not in it do. Check how the file writes its codes."
                )
                warnings.append(Line(NOTABLE, warning))
            if unused := sum(normal(code) not in found for code in joined):
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


def of_values(part: Preparing, sides: Sides) -> list[Line]:
    """Variables without a value, with one value only, with codes that look missing, or with few codes in common.

    Raises
    ------
    InputError
        A categorical variable without a code in common.
    """
    warnings, files = [], {"puf": sides.puf, "eif": sides.eif}
    for column in part.columns:
        linking = column in part.variables
        role = "linking variable" if linking else "strata variable"
        counts = {side: dict(_counts(table[column.name])) for side, table in files.items()}
        if not all(counts.values()):
            warning = f"The {role} {column.name} is missing in every record of one of the two files."
            warnings.append(Line(UNDERSTATES if linking else INVALIDATES, warning))
            continue
        warnings += undeclared.of_column(part, column, sides, counts)
        if column.coding("puf").kind == "categorical":
            warnings += _common_codes(part, column, role, set(counts["puf"]), set(counts["eif"]))
        elif any(len(counts[side]) == 1 < table.num_rows for side, table in files.items()):
            warning = (
                f"The {role} {column.name} has a single value in one of the two files and distinguishes no "
                "records."
            )
            warnings.append(Line(NOTABLE, warning))
    return warnings


def _common_codes(part: Preparing, column: Column, role: str, ours: set[str], theirs: set[str]) -> list[Line]:
    """Refuse a categorical variable without a code in common; warn below half (METHODS §1)."""
    common, codes = len(ours & theirs), len(ours | theirs)
    if not common:
        raise InputError(
            f"{part.file_name('puf')} and {part.file_name('eif')}, columns `{column.puf}` and `{column.eif}`: no code "
            f"of `{column.name}` is in both files. Recode one of the files (`recode`).",
            ("variable", column.name),
        )
    if 2 * common >= codes:
        return []
    warning = (
        f"Fewer than half of the codes of the {role} {column.name} occur in both files "
        f"({common} of {codes}). Check the recodes."
    )
    return [Line(NOTABLE, warning)]


def _counts(column: pa.ChunkedArray) -> Iterator[tuple[Any, int]]:
    """Yield each value of a column that is not missing, with the number of its records."""
    counts = pc.value_counts(column)
    for value, rows in zip(*(counts.field(at).to_pylist() for at in (0, 1)), strict=True):
        if value is not None:
            yield value, rows


def _count(flags: pa.ChunkedArray) -> int:
    return pc.sum(flags).as_py() or 0
