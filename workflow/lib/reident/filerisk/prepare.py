"""Typing the file, and its population, and giving every value of the key a code (METHODS §1, §3, §7)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident import reading
from reident.errors import InputError
from reident.filerisk.parts import RiskFiles
from reident.intake import keys
from reident.intake.account import Account
from reident.intake.values import Place, typed
from reident.linkage.bins import bin_values, cut_points
from reident.sections.codes import Coding, normaliser
from reident.sections.filerisk import KeyVariable
from reident.sections.files import SourceFile

ROW, WEIGHT, STRATUM = "row", ".weight", ".stratum"
"""Columns of the prepared tables beside those of the file: the row (the header is row 1), the weight, the stratum."""

MISSING_LABEL = "(missing)"


class Prepared(NamedTuple):
    """The coded files.

    Attributes
    ----------
    file : pyarrow.Table (n rows)
        The columns that name a record (text), or :data:`ROW`; :data:`WEIGHT` (float64) where the study takes f from
        it; the key variables, int32 codes from 0, null where missing. In the order of the names, or of the rows.
    population : pyarrow.Table (N rows)
        :data:`STRATUM` (int32) and the key variables, in the order of these; no row without a population.
    categories : pandas.DataFrame
        variable, code, label, n_file, n_population: what the codes stand for, in the order of codes.
    account, warnings : pandas.DataFrame
    """

    file: pa.Table
    population: pa.Table
    categories: pd.DataFrame
    account: pd.DataFrame
    warnings: pd.DataFrame


def read_file(files: RiskFiles, path: Path) -> pa.Table:
    """Return the text of what the study needs of the file whose risk is measured."""
    weight = [files.weight] if files.weight else []
    names = [*files.id, *(variable.column for variable in files.key), *weight]
    return reading.read(path, files.file, names, files.id)


def read_population(files: RiskFiles, path: Path) -> pa.Table:
    """Return the text of what the study needs of the population."""
    if files.population is None:
        raise ValueError("the study has no population")
    names = [*(variable.column for variable in files.key), *files.strata]
    return reading.read(path, files.population, names, ())


def prepare(files: RiskFiles, text: pa.Table, population: pa.Table | None) -> Prepared:
    """Type and code the file, and the population if there is one.

    Parameters
    ----------
    files : RiskFiles
    text : pyarrow.Table
        As :func:`read_file` gives it.
    population : pyarrow.Table, optional
        As :func:`read_population` gives it.

    Raises
    ------
    InputError
        A file without a record, a repeated key, a value that is not a number where it must be one, weights that
        cannot be, a variable without a code in common with the population.
    """
    source = files.file
    file = _last(source)
    if text.num_rows == 0:
        raise InputError(f"{file}: the file has a header and no records. Check the export.")
    code = keys.check(text, files.id, file, source.first_row) if files.id else np.arange(text.num_rows)
    front = {name: text[name] for name in files.id}
    if not front:
        first = source.first_row
        front[ROW] = pa.array(np.arange(first, first + text.num_rows, dtype=np.int32))
    if files.weight:
        front[WEIGHT] = _weights(text, files.weight, source)
    texts = [(source, text)]
    if population is not None and files.population is not None:
        if population.num_rows == 0:
            raise InputError(
                f"{_last(files.population)}: the file has a header and no records. Check the export."
            )
        texts.append((files.population, population))
    categories, warnings = [], []
    columns: list[dict[str, pa.Array]] = [{} for _ in texts]
    for variable in files.key:
        codes, labels = _coded(variable, files, texts)
        categories.append(_lines(variable.name, labels, codes))
        warnings += [
            *_missing_throughout(variable, texts, labels, codes[0]),
            *_unknown_codes(variable, texts, codes),
        ]
        for own, values in zip(columns, codes, strict=True):
            own[variable.name] = pa.array(values, mask=values < 0)
    order = np.argsort(code, kind="stable")
    return Prepared(
        pa.table({**front, **columns[0]}).take(order),
        _population(files, population, columns[-1] if population is not None else None),
        pd.concat(categories, ignore_index=True),
        _account(columns),
        pd.DataFrame({"warning": warnings}, dtype=str),
    )


def _last(source: SourceFile) -> str:
    return source.path.rsplit("/", 1)[-1]


def _weights(text: pa.Table, column: str, source: SourceFile) -> pa.Array:
    """Return the weights; every one a number that is not negative, together at least as many as records."""
    file, first = _last(source), source.first_row
    values = typed(
        text[column], Coding("numeric", decimal=source.decimal), Place(file, column, column, first)
    )
    numbers = values.to_numpy(zero_copy_only=False)
    if (numbers < 0).any():
        row = int((numbers < 0).argmax()) + first
        raise InputError(
            f"{file}, row {row}, column `{column}`: the weight must not be negative. Correct the file."
        )
    if numbers.mean() < 1:
        raise InputError(
            f"{file}, column `{column}`: the mean weight must be at least 1; a sample is not larger than its "
            "population. Name the column of expansion weights, or give `sampling_fraction`."
        )
    return values


def _coding(variable: KeyVariable, source: SourceFile) -> Coding:
    return Coding(
        variable.type,
        variable.missing,
        variable.recode,
        variable.order,
        variable.integer_coded,
        source.decimal,
    )


def _coded(
    variable: KeyVariable, files: RiskFiles, texts: Sequence[tuple[SourceFile, pa.Table]]
) -> tuple[list[np.ndarray], list[str]]:
    """Return the codes of one variable in each file, int32, -1 where missing, and what they stand for."""
    columns = []
    for source, text in texts:
        coding = _coding(variable, source)
        place = Place(_last(source), variable.column, variable.name, source.first_row)
        columns.append(typed(text[variable.column], coding, place))
    if variable.type == "numeric":
        values = [column.to_numpy(zero_copy_only=False).astype(np.float64) for column in columns]
        cuts = cut_points(values[0], files.bins)
        codes = [bin_values(own, cuts) for own in values]
        codes = [np.where(own < 0, -1, own - 1) for own in codes]
        labels = _bin_labels(cuts)
    else:
        codes, sorted_labels = keys.text_codes([pa.chunked_array([column]) for column in columns])
        labels = [str(label) for label in sorted_labels.to_pylist()]
        if variable.order is not None:
            normal = normaliser(_coding(variable, files.file))
            codes, labels = _in_order(codes, labels, [normal(one) for one in variable.order])
    if files.missing == "category" and any((own < 0).any() for own in codes):
        codes = [np.where(own < 0, len(labels), own) for own in codes]
        labels = [*labels, MISSING_LABEL]
    return [own.astype(np.int32) for own in codes], labels


def _bin_labels(cuts: np.ndarray) -> list[str]:
    """Return bins in words; a bin holds what is above one cut point and up to the next."""
    if not len(cuts):
        return []
    shown = [f"{cut:,.6g}" for cut in cuts.tolist()]
    between = [f"above {low} to {high}" for low, high in itertools.pairwise(shown)]
    return [f"up to {shown[0]}", *between, f"above {shown[-1]}"]


def _in_order(
    codes: list[np.ndarray], labels: list[str], order: list[str]
) -> tuple[list[np.ndarray], list[str]]:
    """Return codes in the declared order, which holds every label."""
    place = {label: at for at, label in enumerate(order)}
    new = np.append(np.array([place[label] for label in labels], np.int64), -1)
    return [new[own] for own in codes], order


def _lines(name: str, labels: list[str], codes: list[np.ndarray]) -> pd.DataFrame:
    counts = [np.bincount(own[own >= 0], minlength=len(labels)) for own in codes]
    lines = {"variable": name, "code": np.arange(len(labels)), "label": labels, "n_file": counts[0]}
    return pd.DataFrame({**lines, "n_population": counts[1] if len(counts) > 1 else 0})


def _missing_throughout(
    variable: KeyVariable, files: Sequence[tuple[SourceFile, pa.Table]], labels: list[str], codes: np.ndarray
) -> list[str]:
    """Warn of a variable without a value in the file: no cell has it, and nothing tells where to cut it."""
    file, warnings = _last(files[0][0]), []
    if (codes < 0).all():
        warnings.append(
            f"{file}: {variable.name} is missing in every record. No record is in a cell of the whole key."
        )
    if variable.type == "numeric" and set(labels) <= {MISSING_LABEL} and len(files) > 1:
        warnings.append(
            f"{_last(files[1][0])}: {variable.name} counts as missing; {file} has no values of it "
            "to take cut points from."
        )
    return warnings


def _unknown_codes(
    variable: KeyVariable, files: Sequence[tuple[SourceFile, pa.Table]], codes: list[np.ndarray]
) -> list[str]:
    """Refuse a category without a code in common with the population; warn of codes that it does not have."""
    if len(files) < 2 or variable.type == "numeric":
        return []
    ours, theirs = (np.unique(own[own >= 0]) for own in codes)
    file, population = (_last(source) for source, _ in files)
    if len(ours) and len(theirs) and not np.isin(ours, theirs).any():
        raise InputError(
            f"{file} and {population}, column `{variable.column}`: no code of `{variable.name}` is in both "
            "files. Recode one of the files (`recode`)."
        )
    unknown = int((~np.isin(ours, theirs)).sum())
    if not unknown:
        return []
    return [
        f"{population}: {unknown} of {len(ours)} codes of {variable.name} in {file} are not in the population."
    ]


def _population(files: RiskFiles, text: pa.Table | None, columns: dict[str, pa.Array] | None) -> pa.Table:
    """Return the population in the order of its values: samples must not depend on the order of its rows."""
    if text is None or columns is None:
        names = [STRATUM, *(variable.name for variable in files.key)]
        return pa.schema([(name, pa.int32()) for name in names]).empty_table()
    code = keys.codes([text], [files.strata])[0] if files.strata else np.zeros(text.num_rows, np.int64)
    order = np.lexsort(
        [
            *[pc.fill_null(column, -1).to_numpy(zero_copy_only=False) for column in columns.values()][::-1],
            code,
        ]
    )
    return pa.table({STRATUM: pa.array(code.astype(np.int32)), **columns}).take(order)


def _account(columns: list[dict[str, pa.Array]]) -> pd.DataFrame:
    """Return the account of the rows read, and of the rows in a cell of the whole key."""
    account = Account("prepare_filerisk")
    for name, own in zip(("file", "population"), columns, strict=False):
        n = len(next(iter(own.values())))
        account.open(name, n).close(name)
        misses = np.zeros(n, bool)
        for column in own.values():
            misses |= column.is_null().to_numpy(zero_copy_only=False)
        lines = account.open(f"{name}: cells of the whole key", n)
        lines.leave("misses a value of the key", int(misses.sum()))
        lines.close(f"{name}: cells of the whole key")
    return account.table()


def codes_of(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """Return the key of a prepared table as the library takes it: int32 (n, v), -1 for missing."""
    columns = [pc.fill_null(table[name], -1).to_numpy() for name in names]
    return np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))
