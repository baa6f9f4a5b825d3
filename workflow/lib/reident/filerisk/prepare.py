"""Typing the file, and its population, and giving every value of the key a code (METHODS §1, §3, §7)."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import Guard, InputError
from reident.filerisk import coding, dis
from reident.filerisk.settings import FILE, ORIGINAL, POPULATION, RiskFileSettings
from reident.intake.account import WHOLE_KEY, Account
from reident.intake.records import Sink, in_memory, require_records
from reident.intake.severity import UNDERSTATES, StudyWarning, table
from reident.intake.sources import Source, give, opened
from reident.intake.values import Place, typed
from reident.language.messages import Fields
from reident.linkage import categories
from reident.sections.codes import Coding

ROW, WEIGHT, STRATUM, HOUSEHOLD = "row", ".weight", ".stratum", ".household"
"""Columns of the prepared tables beside those of the file: the row (the header is row 1), the weight, the stratum, and
the household."""

MAX_VARIATION = 0.1
"""Weights that vary by more, as a share of their mean, do not come from equal inclusion probabilities."""

MAX_DIFFERENCE = 1.1
"""The population and the people for whom the file stands may differ by this factor."""

MAX_PEOPLE = 8_500_000_000
"""The people of the world."""

MIN_SCALE, SCALED = 1000, 1e-6
"""Weights that vary, with a mean that is a power of ten from the first number on, up to the second one as a share of
it, are weights of mean 1 in another unit."""


class PreparedRisk(NamedTuple):
    """The coded files, with the columns that `reident.pipeline.tables` declares.

    Attributes
    ----------
    file : pyarrow.Table (n rows)
        In the order of the names of its records, or of its rows.
    population : pyarrow.Table (N rows)
        In the order of its values; no row without a population.
    original : pyarrow.Table (n rows, or none)
        Row by row as ``file``; no row without an original file.
    categories, account, warnings : pandas.DataFrame
    """

    file: pa.Table
    population: pa.Table
    original: pa.Table
    categories: pd.DataFrame
    account: pd.DataFrame
    warnings: pd.DataFrame


def prepare(
    settings: RiskFileSettings,
    text: pa.Table,
    population: pa.Table | None = None,
    original: pa.Table | None = None,
    guard: Guard = contextlib.nullcontext,
) -> PreparedRisk:
    """Type and code files that are in memory, as :func:`prepare_files` does.

    Parameters
    ----------
    text : pyarrow.Table
        The text of the file, at least the columns of its extract.
    population, original : pyarrow.Table, optional
        The same of the population, and of the records before perturbation.
    """
    texts = {FILE: text, POPULATION: population, ORIGINAL: original}
    sources = {name: [source] for name, source in texts.items() if source is not None}
    with opened(settings.extracts, sources) as opened_texts:
        return PreparedRisk(**in_memory(texts, lambda sinks: prepare_files(settings, opened_texts, sinks, guard)))


def prepare_files(
    settings: RiskFileSettings,
    texts: Mapping[str, Source],
    sinks: Mapping[str, Sink],
    guard: Guard = contextlib.nullcontext,
) -> dict[str, pd.DataFrame]:
    """Type and code the file, and its population and its records before perturbation if they are given.

    By prepared table, ``texts`` are those of :func:`reident.intake.sources.opened`. The sinks take the batches of the
    prepared tables of :class:`PreparedRisk`, whose other tables are returned. The guard encloses checks of keys,
    weights, codes and original records.

    Raises
    ------
    InputError
        A file without a record, a repeated key, a value that is not a number where it must be one, weights that
        cannot be, a variable without a code in common with another file, an original file of other records.
    """
    text = texts[FILE]
    file = settings.file.file_name
    require_records(settings.file, text.num_rows)
    # Rows of a unit may have one key, unless each is to be found in another file by it.
    order = text.order(guard, repeats=bool(settings.household) and ORIGINAL not in texts)
    front: dict[str, pa.Array] = {}
    if not settings.id:
        first = settings.file.first_row
        front[ROW] = pa.array(np.arange(first, first + text.num_rows, dtype=np.int32))
    warnings: list[StudyWarning] = []
    if settings.weight:
        with guard():
            front[WEIGHT] = _weights(text, settings.weight)
            warnings += _uneven_weights(front[WEIGHT], settings.weight, file)
            warnings += _implausible_weights(front[WEIGHT], settings.weight, file)
    if settings.household:
        front[HOUSEHOLD] = pa.array(_households(text, settings.household, order))
    if POPULATION in texts:
        require_records(texts[POPULATION].source, texts[POPULATION].num_rows)
        warnings += _population_size(settings, text.num_rows, front.get(WEIGHT), texts[POPULATION].num_rows)
    original_rows = None
    if ORIGINAL in texts:
        texts[ORIGINAL].order(guard)
        if text.sound and texts[ORIGINAL].sound:
            with guard():
                original_rows = _same_records(settings, text, texts[ORIGINAL])
    columns, lines, variable_warnings = coding.coded(settings, texts, guard)
    if text.again.any():
        with guard():
            order = _members_in_order(settings, order, text.again, {**columns[FILE], **front})
    give(sinks[FILE], {**front, **columns[FILE]}, order, text.sorted_keys() if settings.id else None)
    _give_population(settings, texts.get(POPULATION), columns.get(POPULATION), sinks[POPULATION])
    if original_rows is None:
        sinks[ORIGINAL](_no_row(settings))
    else:
        give(sinks[ORIGINAL], columns[ORIGINAL], original_rows[order])
    return {
        "categories": lines,
        "account": _account(settings, columns, excluded=settings.missing == "excluded"),
        "warnings": table([*warnings, *variable_warnings]),
    }


def _weights(text: Source, column: str) -> pa.Array:
    """Return the weights; every one a number that is not negative, together at least as many as records."""
    source = text.source
    file, first = source.file_name, source.first_row
    values = typed(
        text[column],
        Coding("numeric", decimal=source.decimal, thousands=source.thousands),
        Place.locate(source, column, column),
    )
    numbers = values.to_numpy(zero_copy_only=False)
    if (numbers < 0).any():
        row = int((numbers < 0).argmax()) + first
        raise InputError(f"{file}, row {row}, column `{column}`: the weight must not be negative. Correct the file.")
    if numbers.mean() < 1:
        raise InputError(
            f"{file}, column `{column}`: the mean weight must be at least 1; a sample is not larger than its "
            "population. Name the column of expansion weights, or give `sampling_fraction`."
        )
    return values


def _households(text: Source, names: Sequence[str], order: np.ndarray) -> np.ndarray:
    """Return the number of each record's household; one with an empty value is a household of its own, in order."""
    code = text.codes(names)
    single = np.any([text.is_empty(name) for name in names], axis=0)
    code[order[single[order]]] = code.max() + 1 + np.arange(single.sum())
    return np.unique(code, return_inverse=True)[1].astype(np.int32)


def _members_in_order(
    settings: RiskFileSettings, order: np.ndarray, again: np.ndarray, columns: Mapping[str, pa.Array]
) -> np.ndarray:
    """Return rows in which those of one key are in the order of their values; refuse a key of several units."""
    values = {name: pc.fill_null(column, -1).to_numpy(zero_copy_only=False)[order] for name, column in columns.items()}
    strange = again & np.append(False, np.diff(values[HOUSEHOLD]) != 0)
    if strange.any():
        row = int(order[strange].min()) + settings.file.first_row
        raise InputError(
            f"{settings.file.file_name}, row {row}: the key ({', '.join(settings.id)}) is that of rows of several "
            f"units ({int(strange.sum()):,} such rows). Keep a key to one unit, or name every column of the key."
        )
    return order[np.lexsort([*values.values(), np.cumsum(~again)])]


def _uneven_weights(weights: pa.Array, column: str, file: str) -> list[StudyWarning]:
    """Warn of weights that vary: DIS takes every inclusion probability to be the same (METHODS §7)."""
    values = weights.to_numpy(zero_copy_only=False)
    variation = values.std() / values.mean()
    if variation <= MAX_VARIATION:
        return []
    fields: Fields = {"file": file, "column": column, "variation": round(100 * float(variation))}
    return [StudyWarning(UNDERSTATES, "uneven_weights", fields)]


def _implausible_weights(weights: pa.Array, column: str, file: str) -> list[StudyWarning]:
    """Warn of weights that make the file stand for too many people, with which every estimate comes out too low."""
    values = weights.to_numpy(zero_copy_only=False)
    code = implausible(values)
    if not code:
        return []
    fields: Fields = {"file": file, "column": column, "people": round(math.fsum(values)), "mean": round(values.mean())}
    return [StudyWarning(UNDERSTATES, code, fields)]


def implausible(weights: np.ndarray) -> str:
    """Return the warning of weights that make a file stand for too many people; empty for others."""
    mean, total = float(weights.mean()), math.fsum(weights.tolist())
    power = 10 ** round(math.log10(mean))
    is_scaled = power >= MIN_SCALE and math.isclose(mean, power, rel_tol=SCALED)
    if is_scaled and float(weights.std()) > SCALED * mean:
        return "scaled_weights"
    return "too_many_people" if total > MAX_PEOPLE else ""


def _population_size(settings: RiskFileSettings, n: int, weights: pa.Array | None, size: int) -> list[StudyWarning]:
    """Warn of a population file of another size than the people for whom the file stands."""
    people = n / settings.fraction if settings.fraction else float("nan")
    if weights is not None:
        people = math.fsum(weights.to_numpy(zero_copy_only=False).tolist())
    if not max(people / size, size / people) > MAX_DIFFERENCE or settings.population is None:
        return []
    fields: Fields = {
        "file": settings.population.file_name,
        "n": size,
        "people": round(people),
        "origin": "fraction" if weights is None else "weight",
        "other": settings.file.file_name,
    }
    return [StudyWarning(UNDERSTATES, "population_size", fields)]


def _same_records(settings: RiskFileSettings, text: Source, original: Source) -> np.ndarray:
    """Return the row of each of the file's records in the original file; refuse others than those of the file."""
    file, name = settings.file.file_name, original.source.file_name
    rows = original.rows(text)
    if (rows < 0).any():
        row = int((rows < 0).argmax()) + settings.file.first_row
        raise InputError(
            f"{name}: the file must have the records of {file}, but {int((rows < 0).sum()):,} are not in it, the first "
            f"in row {row} of {file}. Give both files the same records."
        )
    if original.num_rows > text.num_rows:
        raise InputError(
            f"{name}: the file must have the records of {file} and no others, but has "
            f"{original.num_rows - text.num_rows:,} more. Give both files the same records."
        )
    return rows


def _no_row(settings: RiskFileSettings, *names: str) -> pa.Table:
    """Return a table of the key, after other columns of integers, without a row."""
    integers = [*names, *(variable.name for variable in settings.key)]
    return pa.schema([(name, pa.int32()) for name in integers]).empty_table()


def _give_population(
    settings: RiskFileSettings, text: Source | None, columns: dict[str, pa.Array] | None, sink: Sink
) -> None:
    """Give the population in the order of its values: samples must not depend on the order of its rows."""
    if text is None or columns is None:
        sink(_no_row(settings, STRATUM))
        return
    code = text.codes(settings.strata) if settings.strata else np.zeros(text.num_rows, np.int64)
    order = np.lexsort(
        [*[pc.fill_null(column, -1).to_numpy(zero_copy_only=False) for column in columns.values()][::-1], code]
    )
    give(sink, {STRATUM: pa.array(code.astype(np.int32)), **columns}, order)


def _account(settings: RiskFileSettings, columns: dict[str, dict[str, pa.Array]], *, excluded: bool) -> pd.DataFrame:
    """Return the account of the rows read, and of the rows in a cell of the whole key."""
    account = Account("prepare_filerisk")
    for name, variables in columns.items():
        n = len(next(iter(variables.values())))
        account.add(name, n)
        misses = np.zeros(n, bool)
        for variable in settings.key:
            misses |= variables[variable.name].is_null().to_numpy(zero_copy_only=False)
        left_out = int(misses.sum()) if excluded else 0
        account.add(f"{name}: {WHOLE_KEY}", n, {"misses_key": left_out})
    return account.table()


def codes_of(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """Return the key of a prepared table as the library takes it: int32 (n, v), -1 for missing."""
    return np.ascontiguousarray(np.stack([categories.codes_of(table[name]) for name in names], axis=1))


def weighted(file: pa.Table, declared_fraction: float | None) -> tuple[float, np.ndarray]:
    """Return f, and how many people each record of the prepared file stands for: its weight, or 1 / f."""
    if WEIGHT in file.column_names:
        weights = file[WEIGHT].to_numpy()
        return dis.sampling_fraction(weights), weights
    if declared_fraction is None:
        raise ValueError("the file has no weights, and the study no sampling fraction")
    return declared_fraction, np.full(file.num_rows, 1 / declared_fraction)
