"""Typing the file, and its population, and giving every value of the key a code (METHODS §1, §3, §7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident import reading
from reident.errors import InputError
from reident.filerisk.parts import FILE, ORIGINAL, POPULATION, RiskFiles
from reident.intake import keys
from reident.intake.account import Account
from reident.intake.severity import INVALIDATES, NOTABLE, UNDERSTATES, Line, named, of_share, table
from reident.intake.values import Place, typed, typed_key
from reident.linkage.bins import bin_labels, bin_values, cut_points
from reident.sections.codes import Coding, normaliser
from reident.sections.files import SourceFile
from reident.sections.keys import KeyVariable

ROW, WEIGHT, STRATUM, HOUSEHOLD = "row", ".weight", ".stratum", ".household"
"""Columns of the prepared tables beside those of the file: the row (the header is row 1), the weight, the stratum, and
the household."""

MISSING_LABEL = "(missing)"

MAX_VARIATION = 0.1
"""Weights that vary by more, as a share of their mean, do not come from equal inclusion probabilities."""

Texts = Mapping[str, tuple[SourceFile, pa.Table]]
"""The description and the text of each file, by the table that is made of it."""


class Prepared(NamedTuple):
    """The coded files.

    Attributes
    ----------
    file : pyarrow.Table (n rows)
        The columns that name a record (text), or :data:`ROW`; :data:`WEIGHT` (float64) where the study takes f from
        it; :data:`HOUSEHOLD` (int32, from 0) where the study has households; the key variables and the sensitive ones,
        int32 codes from 0, null where missing. In the order of the names, or of the rows.
    population : pyarrow.Table (N rows)
        :data:`STRATUM` (int32) and the key variables, in the order of these; no row without a population.
    original : pyarrow.Table (n rows, or none)
        The key variables before perturbation, row by row as ``file``; no row without an original file.
    categories : pandas.DataFrame
        variable, code, label, n_file, n_population, missing: what the codes stand for, in the order of codes.
    account, warnings : pandas.DataFrame
    """

    file: pa.Table
    population: pa.Table
    original: pa.Table
    categories: pd.DataFrame
    account: pd.DataFrame
    warnings: pd.DataFrame


def columns_of(files: RiskFiles, table: str = FILE) -> list[str]:
    """Return the columns that the study needs of the source of a prepared table: its file, or another one."""
    weight = (files.weight,) if files.weight else ()
    front, behind = {FILE: (files.id, (*weight, *files.household)), POPULATION: ((), files.strata)}.get(
        table, (files.original_id, ())
    )
    return [*front, *(variable.column for variable in files.variables(table)), *behind]


def read_file(files: RiskFiles, path: Path) -> pa.Table:
    """Return the text of what the study needs of the file whose risk is measured."""
    return reading.read(path, files.file, columns_of(files), files.id)


def read_population(files: RiskFiles, path: Path) -> pa.Table:
    """Return the text of what the study needs of the population."""
    if files.population is None:
        raise ValueError("the study has no population")
    return reading.read(path, files.population, columns_of(files, POPULATION), ())


def read_original(files: RiskFiles, path: Path) -> pa.Table:
    """Return the text of what the study needs of the file before perturbation."""
    if files.original is None:
        raise ValueError("the study has no original file")
    return reading.read(path, files.original, columns_of(files, ORIGINAL), files.original_id)


def prepare(
    files: RiskFiles, text: pa.Table, population: pa.Table | None = None, original: pa.Table | None = None
) -> Prepared:
    """Type and code the file, and its population and its records before perturbation if they are given.

    Parameters
    ----------
    files : RiskFiles
    text : pyarrow.Table
        As :func:`read_file` gives it.
    population : pyarrow.Table, optional
        As :func:`read_population` gives it.
    original : pyarrow.Table, optional
        As :func:`read_original` gives it.

    Raises
    ------
    InputError
        A file without a record, a repeated key, a value that is not a number where it must be one, weights that
        cannot be, a variable without a code in common with another file, an original file of other records.
    """
    source = files.file
    file = source.file_name
    if text.num_rows == 0:
        raise InputError(f"{file}: the file has a header and no records. Check the export.")
    code = keys.check(text, files.id, file, source.first_row) if files.id else np.arange(text.num_rows)
    order = np.argsort(code, kind="stable")
    front = {name: text[name] for name in files.id}
    if not front:
        first = source.first_row
        front[ROW] = pa.array(np.arange(first, first + text.num_rows, dtype=np.int32))
    warnings: list[Line] = []
    if files.weight:
        front[WEIGHT] = _weights(text, files.weight, source)
        warnings += _uneven_weights(front[WEIGHT], files.weight, file)
    if files.household:
        front[HOUSEHOLD] = pa.array(_households(text, files.household, order))
    texts = _texts(files, text, population, original)
    categories = []
    columns: dict[str, dict[str, pa.Array]] = {name: {} for name in texts}
    for variable in files.variables(FILE):
        own = texts if variable in files.key else {FILE: texts[FILE]}
        codes, labels = _coded(variable, files, own)
        with_missing = files.missing == "category" and _add_missing(codes, labels)
        # The codes of a sensitive variable are counted, and named nowhere.
        if variable in files.key or variable.type == "numeric":
            categories.append(_lines(variable.name, labels, codes, with_missing=with_missing))
        warnings += [
            *_missing_throughout(variable, files, own, labels, codes[FILE]),
            *_unknown_codes(variable, own, labels, codes),
        ]
        for name, values in codes.items():
            columns[name][variable.name] = pa.array(values, mask=values < 0)
    return Prepared(
        pa.table({**front, **columns[FILE]}).take(order),
        _population(files, population, columns.get(POPULATION)),
        pa.table(columns[ORIGINAL]).take(order) if ORIGINAL in columns else _no_row(files),
        pd.concat(categories, ignore_index=True),
        _account(files, columns, excluded=files.missing == "excluded"),
        table(warnings),
    )


def _texts(files: RiskFiles, text: pa.Table, population: pa.Table | None, original: pa.Table | None) -> Texts:
    """Return the files that are coded together; the original records in the order of the file's."""
    texts = {FILE: (files.file, text)}
    if population is not None and files.population is not None:
        if population.num_rows == 0:
            raise InputError(
                f"{files.population.file_name}: the file has a header and no records. Check the export."
            )
        texts[POPULATION] = (files.population, population)
    if original is not None and files.original is not None:
        texts[ORIGINAL] = (files.original, _same_records(files, files.original, text, original))
    return texts


def _weights(text: pa.Table, column: str, source: SourceFile) -> pa.Array:
    """Return the weights; every one a number that is not negative, together at least as many as records."""
    file, first = source.file_name, source.first_row
    values = typed(
        text[column], Coding("numeric", decimal=source.decimal), Place(file, column, column, first)
    )
    numbers = values.to_numpy(zero_copy_only=False)
    if (numbers < 0).any():
        row = int((numbers < 0).argmax()) + first
        raise InputError(
            f"{file}, row {row}, column `{column}`: the weight must not be negative. Correct the file.",
            ("weight",),
        )
    if numbers.mean() < 1:
        raise InputError(
            f"{file}, column `{column}`: the mean weight must be at least 1; a sample is not larger than its "
            "population. Name the column of expansion weights, or give `sampling_fraction`.",
            ("weight",),
        )
    return values


def _households(text: pa.Table, names: Sequence[str], order: np.ndarray) -> np.ndarray:
    """Return the number of each record's household; one with an empty value is a household of its own, in order."""
    code = keys.codes([text], [names])[0]
    alone = np.any([pc.equal(text[name], "").to_numpy() for name in names], axis=0) | (code < 0)
    code[order[alone[order]]] = code.max() + 1 + np.arange(alone.sum())
    return np.unique(code, return_inverse=True)[1].astype(np.int32)


def _uneven_weights(weights: pa.Array, column: str, file: str) -> list[Line]:
    """Warn of weights that vary: DIS takes every inclusion probability to be the same (METHODS §7)."""
    values = weights.to_numpy(zero_copy_only=False)
    variation = values.std() / values.mean()
    if variation <= MAX_VARIATION:
        return []
    warning = (
        f"{file}, column {column}: the weights vary by {variation:.0%} of their mean (coefficient of variation). DIS "
        "assumes that every person had the same probability of being in the file. For records with small weights a "
        "unique match is more often correct than DIS says, for those with large weights less often."
    )
    return [Line(UNDERSTATES, warning)]


def _same_records(files: RiskFiles, source: SourceFile, text: pa.Table, original: pa.Table) -> pa.Table:
    """Return the original records in the order of the file's; refuse others than those of the file."""
    file, name = files.file.file_name, source.file_name
    keys.check(original, files.original_id, name, source.first_row)
    rows = keys.positions(original, files.original_id, text, files.id)
    if (rows < 0).any():
        row = int((rows < 0).argmax()) + files.file.first_row
        raise InputError(
            f"{name}: the file must have the records of {file}, but {int((rows < 0).sum()):,} are not in it, the first "
            f"in row {row} of {file}. Give both files the same records.",
            ("original",),
        )
    if original.num_rows > text.num_rows:
        raise InputError(
            f"{name}: the file must have the records of {file} and no others, but has "
            f"{original.num_rows - text.num_rows:,} more. Give both files the same records.",
            ("original",),
        )
    return original.take(rows)


def _coded(variable: KeyVariable, files: RiskFiles, texts: Texts) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the codes of one variable in each file, int32, -1 where missing, and what they stand for."""
    columns = {name: typed_key(variable, *own) for name, own in texts.items()}
    if variable.type == "numeric":
        values = [column.to_numpy(zero_copy_only=False).astype(np.float64) for column in columns.values()]
        cuts = cut_points(values[0], files.bins, files.ranks)
        codes = [bin_values(own, cuts) for own in values]
        codes = [np.where(own < 0, -1, own - 1) for own in codes]
        labels = bin_labels(cuts)
    else:
        chunked = [pa.chunked_array([column]) for column in columns.values()]
        codes, sorted_labels = keys.text_codes(chunked)
        labels = [str(label) for label in sorted_labels.to_pylist()]
        if variable.order is not None:
            normal = normaliser(variable.coding(files.file.decimal))
            codes, labels = _in_order(codes, labels, [normal(one) for one in variable.order])
    return {name: own.astype(np.int32) for name, own in zip(columns, codes, strict=True)}, list(labels)


def _add_missing(codes: dict[str, np.ndarray], labels: list[str]) -> bool:
    """Make missing values the last category, in place; return whether there is one."""
    if not any((own < 0).any() for own in codes.values()):
        return False
    for own in codes.values():
        own[own < 0] = len(labels)
    labels.append(MISSING_LABEL)
    return True


def _in_order(
    codes: list[np.ndarray], labels: list[str], order: list[str]
) -> tuple[list[np.ndarray], list[str]]:
    """Return codes in the declared order, which holds every label."""
    place = {label: at for at, label in enumerate(order)}
    new = np.append(np.array([place[label] for label in labels], np.int64), -1)
    return [new[own] for own in codes], order


def _lines(name: str, labels: list[str], codes: dict[str, np.ndarray], *, with_missing: bool) -> pd.DataFrame:
    """Return the categories of a variable with their counts; the last one may be that of missing values."""
    at = np.arange(len(labels))
    counts = {
        table: np.bincount(own[own >= 0], minlength=len(labels))
        for table, own in {POPULATION: at[:0], **codes}.items()
    }
    lines = {"variable": name, "code": at, "label": labels, "n_file": counts[FILE]}
    missing = (at == len(labels) - 1) & with_missing
    return pd.DataFrame({**lines, "n_population": counts[POPULATION], "missing": missing})


def _missing_throughout(
    variable: KeyVariable, files: RiskFiles, texts: Texts, labels: list[str], codes: np.ndarray
) -> list[Line]:
    """Warn of a variable without a value in the file: no cell has it, and nothing tells where to cut it."""
    file, warnings = files.file.file_name, []
    if (codes < 0).all():
        severity, effect = INVALIDATES, "No record is in a cell of the whole key."
        if files.missing == "wildcard":
            severity, effect = NOTABLE, "It distinguishes no records."
        if variable in files.sensitive:
            severity, effect = NOTABLE, "Its diversity is not measured."
        warning = f"{file}: {variable.name} is missing in every record. {effect}"
        warnings.append(Line(severity, warning, len(codes), 1.0))
    if variable.type == "numeric" and set(labels) <= {MISSING_LABEL}:
        for name, (source, _) in texts.items():
            if name != FILE:
                warning = (
                    f"{source.file_name}: {variable.name} counts as missing; {file} has no values of it "
                    "to take cut points from."
                )
                warnings.append(Line(INVALIDATES, warning))
    return warnings


def _unknown_codes(
    variable: KeyVariable, texts: Texts, labels: list[str], codes: dict[str, np.ndarray]
) -> list[Line]:
    """Refuse a category without a code in common with another file; warn of codes that are not in both."""
    warnings: list[Line] = []
    if variable.type == "numeric":
        return warnings
    file, ours = texts[FILE][0].file_name, np.unique(codes[FILE][codes[FILE] >= 0])
    for name in (POPULATION, ORIGINAL):
        if name not in codes:
            continue
        other, theirs = texts[name][0].file_name, np.unique(codes[name][codes[name] >= 0])
        if len(ours) and len(theirs) and not np.isin(ours, theirs).any():
            raise InputError(
                f"{file} and {other}, column `{variable.column}`: no code of `{variable.name}` is in both "
                "files. Recode one of the files (`recode`).",
                ("variable", variable.name),
            )
        if name == POPULATION:
            every, have, holder = ours, theirs, FILE
            where = f"in {file} are not in the population."
        else:
            every, have, holder = theirs, ours, ORIGINAL
            where = f"are not in {file}. Records with these codes match no record. Recode the codes that only differ."
        unknown = every[~np.isin(every, have)]
        if len(unknown):
            rows = int(np.isin(codes[holder], unknown).sum())
            share = rows / len(codes[holder])
            warning = f"{other}: {len(unknown)} of {len(every)} codes of {variable.name} {where}"
            warnings.append(
                Line(of_share(share), warning, rows, share, named(labels[code] for code in unknown))
            )
    return warnings


def _no_row(files: RiskFiles, *names: str) -> pa.Table:
    """Return a table of the key, after other columns of integers, without a row."""
    every = [*names, *(variable.name for variable in files.key)]
    return pa.schema([(name, pa.int32()) for name in every]).empty_table()


def _population(files: RiskFiles, text: pa.Table | None, columns: dict[str, pa.Array] | None) -> pa.Table:
    """Return the population in the order of its values: samples must not depend on the order of its rows."""
    if text is None or columns is None:
        return _no_row(files, STRATUM)
    code = keys.codes([text], [files.strata])[0] if files.strata else np.zeros(text.num_rows, np.int64)
    order = np.lexsort(
        [
            *[pc.fill_null(column, -1).to_numpy(zero_copy_only=False) for column in columns.values()][::-1],
            code,
        ]
    )
    return pa.table({STRATUM: pa.array(code.astype(np.int32)), **columns}).take(order)


def _account(files: RiskFiles, columns: dict[str, dict[str, pa.Array]], *, excluded: bool) -> pd.DataFrame:
    """Return the account of the rows read, and of the rows in a cell of the whole key."""
    account = Account("prepare_filerisk")
    for name, own in columns.items():
        n = len(next(iter(own.values())))
        account.open(name, n).close(name)
        misses = np.zeros(n, bool)
        for variable in files.key:
            misses |= own[variable.name].is_null().to_numpy(zero_copy_only=False)
        lines = account.open(f"{name}: cells of the whole key", n)
        lines.leave("misses a value of the key", int(misses.sum()) if excluded else 0)
        lines.close(f"{name}: cells of the whole key")
    return account.table()


def codes_of(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """Return the key of a prepared table as the library takes it: int32 (n, v), -1 for missing."""
    columns = [pc.fill_null(table[name], -1).to_numpy() for name in names]
    return np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))
