"""Typing the confidential file and the synthetic files, row beside row (METHODS §1, §8).

Every synthetic file is put into the order of the confidential file's rows: record i corresponds to synthetic
record i, whether rows correspond by order or by a key.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import Guard, InputError
from reident.intake import identifying
from reident.intake.account import Account
from reident.intake.records import Sink, in_memory, require_records
from reident.intake.severity import NOTABLE, UNDERSTATES, StudyWarning, table
from reident.intake.sources import Source, give, narrow, opened
from reident.intake.values import Place, typed, typed_codes
from reident.matching import correspondence
from reident.matching.pairing import pair
from reident.matching.section import HOLDOUT, MatchedVariable, Target
from reident.matching.settings import CONFIDENTIAL, MatchingFileSettings, synthetic_side
from reident.sections.codes import Coding, clean, normaliser
from reident.sections.files import SourceFile

ROW, TARGET, FILE, POPULATION = ".row", ".target", ".file", ".population"
"""Columns of the prepared tables beside the file's own, which cannot be so named in a study file."""


class PreparedMatching(NamedTuple):
    """The typed files, with the columns that `columns.csv` declares.

    Of the synthetic files, one after the other, each is in the order of the confidential rows, which messages count as
    rows of the file.
    """

    confidential: pa.Table
    synthetic: pa.Table
    holdout: pa.Table
    account: pd.DataFrame
    warnings: pd.DataFrame
    correspondence: pd.DataFrame


def prepare(
    settings: MatchingFileSettings,
    confidential: pa.Table,
    synthetic: Sequence[pa.Table],
    guard: Guard = contextlib.nullcontext,
    holdout: pa.Table | None = None,
) -> PreparedMatching:
    """Type files that are in memory, as :func:`prepare_files` does; each has at least the columns of its extract."""
    sources = {CONFIDENTIAL: [confidential]}
    sources |= {synthetic_side(place): [text] for place, text in enumerate(synthetic)}
    sources |= {HOLDOUT: [holdout]} if holdout is not None and settings.holdout is not None else {}
    names = ("confidential", "synthetic", "holdout")
    with opened(settings.extracts, sources) as opened_texts:
        return PreparedMatching(**in_memory(names, lambda sinks: prepare_files(settings, opened_texts, sinks, guard)))


def prepare_files(
    settings: MatchingFileSettings,
    texts: Mapping[str, Source],
    sinks: Mapping[str, Sink],
    guard: Guard = contextlib.nullcontext,
) -> dict[str, pd.DataFrame]:
    """Type the files, put rows beside each other, find the targets.

    By side, ``texts`` are those of :func:`reident.intake.sources.opened`. The sinks take the batches of the prepared
    tables of :class:`PreparedMatching`, whose other tables are returned. The guard encloses checks of keys, targets,
    population counts, codes and corresponding rows.

    Raises
    ------
    InputError
        An empty file, a repeated key, files whose rows do not correspond, a value that is not a number
        where the variable has a radius, a variable without a code in common, no target, a population count
        of a target that is not positive.
    """
    confidential, holdout = texts[CONFIDENTIAL], texts.get(HOLDOUT)
    if holdout is not None:
        require_records(holdout.source, holdout.num_rows)
    synthetic = [texts[synthetic_side(place)] for place in range(len(settings.synthetic))]
    account = Account("prepare_matching")
    file, n = settings.file().file_name, confidential.num_rows
    require_records(settings.file(), n)
    confidential.order(guard)
    account.add("confidential", n)
    targets = np.ones(n, bool)
    with guard():
        targets = _targets(settings, confidential, file)
    original = _typed(settings, confidential)
    copies, orders = {}, {}
    for place, text in enumerate(synthetic):
        if settings.key(place):
            text.order(guard)
        if not (confidential.sound and text.sound):
            continue
        with guard():
            orders[place] = _order(settings, place, confidential, text)
            copies[place] = _typed(settings, text, orders[place])
        account.add(f"synthetic {place + 1}", text.num_rows)
    account.add("targets", n, {"not_target": int((~targets).sum())})
    counts = {}
    if settings.population_count:
        with guard():
            counts[POPULATION] = _population(settings, settings.population_count, confidential, targets)
    warnings, correspondences = _compare(settings, original, copies, orders, guard)
    typed_holdout = original.slice(0, 0)
    if holdout is not None:
        account.add("holdout", holdout.num_rows)
        typed_holdout, more = _type_holdout(settings, original, holdout, guard)
        warnings += more
    give(sinks["holdout"], typed_holdout, np.arange(typed_holdout.num_rows))
    together = {**counts, **dict(zip(original.column_names, original.columns, strict=True))}
    give(sinks["confidential"], together, np.arange(n), _marks(settings, confidential, targets))
    for place, copy in copies.items():
        numbered = copy.add_column(0, FILE, pa.array(np.full(n, place + 1, np.int32)))
        give(sinks["synthetic"], numbered, np.arange(n))
    return {"account": account.table(), "warnings": table(warnings), "correspondence": correspondences}


def _type_holdout(
    settings: MatchingFileSettings, original: pa.Table, text: Source, guard: Guard
) -> tuple[pa.Table, list[StudyWarning]]:
    """Return the variables of the holdout, typed, and warnings; refuse a category without a code in common."""
    columns, warnings = {}, []
    for variable in settings.variables:
        if variable.name in settings.closest:
            columns[variable.name] = typed_variable(settings, variable, text[variable.name], text.source)
            if variable.name not in settings.numeric:
                with guard():
                    names = settings.file().file_name, text.source.file_name
                    warnings += _common_codes(*names, variable.name, original[variable.name], columns[variable.name])
    return pa.table(columns), warnings


def _marks(settings: MatchingFileSettings, confidential: Source, targets: np.ndarray) -> Iterator[pa.Table]:
    """Yield the columns that name the records: row, target, key."""
    start, first = 0, settings.file().first_row
    for key in confidential.key_batches():
        stop = start + key.num_rows
        rows = pa.array(np.arange(first + start, first + stop, dtype=np.int32))
        marks = pa.table({ROW: rows, TARGET: pa.array(targets[start:stop])})
        for name in key.column_names:
            marks = marks.append_column(name, key[name])
        yield marks
        start = stop


def coding(
    settings: MatchingFileSettings, variable: MatchedVariable, decimal: str = ".", thousands: str = ""
) -> Coding:
    """Return how a matched variable is read: a number if it has a radius, otherwise a category."""
    kind: Literal["numeric", "categorical"] = "numeric" if variable.name in settings.numeric else "categorical"
    return Coding(kind, variable.missing, {}, None, variable.integer_coded, decimal, thousands)


def typed_variable(
    settings: MatchingFileSettings, variable: MatchedVariable, text: pa.Array, source: SourceFile
) -> pa.Array:
    """Return one variable of one file, typed; null where missing."""
    place = Place.locate(source, variable.name, variable.name)
    return typed_codes(text, coding(settings, variable, *source.separators), place)


def _typed(settings: MatchingFileSettings, text: Source, order: np.ndarray | None = None) -> pa.Table:
    """Return the variables of a file, typed, its rows in an order; categories as codes, because all files wait."""
    columns = {}
    rows = None if order is None else pa.array(order)
    for variable in settings.variables:
        values = typed_variable(settings, variable, text[variable.name], text.source)
        values = narrow(values) if pa.types.is_dictionary(values.type) else values
        columns[variable.name] = values if rows is None else values.take(rows)
        if variable.name != settings.population_count:
            text.forget([variable.name])
    return pa.table(columns)


def _order(settings: MatchingFileSettings, place: int, confidential: Source, text: Source) -> np.ndarray | None:
    """Return the row of each confidential record's synthetic record; None if the rows are in the same order."""
    file, original = settings.file(place).file_name, settings.file().file_name
    if not settings.key():
        if text.num_rows != confidential.num_rows:
            raise InputError(
                f"{file}: the number of records ({text.num_rows:,}) must be that of {original} "
                f"({confidential.num_rows:,}), because rows correspond by order. "
                "Correct the file, or give both files an `id`."
            )
        return None
    rows = text.rows(confidential)
    if (rows < 0).any():
        row = int((rows < 0).argmax()) + settings.file().first_row
        raise InputError(
            f"{original}, row {row}: the record's key is not in {file} "
            f"({int((rows < 0).sum()):,} such records). Give every record its own synthetic record."
        )
    if text.num_rows != confidential.num_rows:
        back = confidential.rows(text)
        row = int((back < 0).argmax()) + settings.file(place).first_row
        raise InputError(
            f"{file}, row {row}: the record's key is not in {original} "
            f"({int((back < 0).sum()):,} such records). Remove these records, or correct the keys."
        )
    return rows


def _targets(settings: MatchingFileSettings, text: Source, file: str) -> np.ndarray:
    """Return the records that meet every condition: bool (n,)."""
    chosen = np.ones(text.num_rows, bool)
    for target in settings.targets:
        chosen &= _meets(settings, target, text)
    if not chosen.any():
        raise InputError(f"{file}: no record is a target. Correct `targets`.")
    return chosen


def _meets(settings: MatchingFileSettings, target: Target, text: Source) -> np.ndarray:
    name = target.variable
    by_name = {variable.name: variable for variable in settings.variables}
    declared = by_name.get(name, MatchedVariable(name=name))
    integer_coded = declared.integer_coded and not target.numeric
    kind = coding(settings, declared).kind if not target.numeric else "numeric"
    source = settings.file()
    target_coding = Coding(kind, declared.missing, {}, None, integer_coded, *source.separators)
    values = typed(text[name], target_coding, Place.locate(source, name, name))
    if target.equals is not None:
        normal = normaliser(target_coding)
        codes = [normal(clean(code)) for code in target.equals]
        labels = pa.array([float(code) for code in codes]) if kind == "numeric" else pa.array(codes, pa.string())
        return pc.fill_null(pc.is_in(values, labels), False).to_numpy(zero_copy_only=False)
    numbers = values.to_numpy(zero_copy_only=False)
    distinct, at = np.unique(numbers, return_inverse=True)
    meets = [
        value == value
        and (target.at_least is None or exact(value) >= target.at_least)
        and (target.at_most is None or exact(value) <= target.at_most)
        for value in distinct.tolist()
    ]
    return np.array(meets, bool)[at]


def exact(value: float) -> Fraction:
    """Return the decimal number in the file, or the count."""
    return Fraction(repr(float(value)))


def _population(settings: MatchingFileSettings, name: str, confidential: Source, targets: np.ndarray) -> pa.Array:
    """Return the population counts, which must be positive for every target."""
    file, first_row = settings.file().file_name, settings.file().first_row
    coding = Coding("numeric", ("",), {}, None, False, *settings.file().separators)
    counts = typed(confidential[name], coding, Place.locate(settings.file(), name, name))
    wrong = targets & ~(counts.to_numpy(zero_copy_only=False) > 0)
    if wrong.any():
        raise InputError(
            f"{file}, row {int(wrong.argmax()) + first_row}, column `{name}`: the population count of a target must be "
            f"a positive number ({int(wrong.sum()):,} such records). Correct the counts."
        )
    return counts


def _compare(
    settings: MatchingFileSettings,
    original: pa.Table,
    copies: Mapping[int, pa.Table],
    orders: Mapping[int, np.ndarray | None],
    guard: Guard,
) -> tuple[list[StudyWarning], pd.DataFrame]:
    """Refuse a category without a code in common; return warnings, and how the rows of each file correspond."""
    warnings, lines = [], []
    variables = [name for name in original.column_names if name not in settings.synthesized]
    keyed = bool(settings.key())
    distinct = filter(lambda name: identifying.identifies(original[name]), original.column_names)
    warnings += [identifying.warning(UNDERSTATES, settings.file().file_name, name, "matches") for name in distinct]
    for place, copy in copies.items():
        file = settings.file(place).file_name
        for name in original.column_names:
            if name not in settings.numeric:
                with guard():
                    warnings += _common_codes(settings.file().file_name, file, name, original[name], copy[name])
        comparison, differ = correspondence.compare(original, copy, variables, keyed=keyed)
        comparison, told = _judged(settings, original, copy, orders[place], comparison, file)
        warnings += told
        lines.append((str(place + 1), *comparison))
        warnings += correspondence.warnings(file, comparison, differ, keyed=keyed)
    return warnings, pd.DataFrame(lines, columns=["file", *correspondence.Correspondence._fields])


def _judged(
    settings: MatchingFileSettings,
    original: pa.Table,
    copy: pa.Table,
    order: np.ndarray | None,
    comparison: correspondence.Correspondence,
    file: str,
) -> tuple[correspondence.Correspondence, list[StudyWarning]]:
    """Judge by all variables which records correspond; `order` are the rows of the synthetic file by a key."""
    n = original.num_rows
    by_key = pair(original.columns, copy.columns, n)
    # The places of the rows of the file, as they are in it, among the confidential records.
    by_row = None if order is None else pair(original.columns, copy.take(pa.array(np.argsort(order))).columns, n)
    keyed, matched = order is not None, not settings.closest
    return correspondence.judge_pairing(file, comparison, by_key, by_row, keyed=keyed, matched=matched)


def _common_codes(
    confidential: str, file: str, name: str, original: pa.ChunkedArray, copy: pa.ChunkedArray | pa.Array
) -> list[StudyWarning]:
    codes, copy_codes = (set(pc.unique(column).drop_null().to_pylist()) for column in (original, copy))
    if not codes or not copy_codes:
        return [StudyWarning(UNDERSTATES, "matched_missing", {"file": file, "variable": name})]
    if not codes & copy_codes:
        raise InputError(
            f"{file}, column `{name}`: no code is also in {confidential}. Code both files alike, "
            "or give a numeric variable a `radius`."
        )
    if 2 * len(codes & copy_codes) >= len(codes | copy_codes):
        return []
    counts = {"common": len(codes & copy_codes), "codes": len(codes | copy_codes)}
    return [StudyWarning(NOTABLE, "matched_codes", {"file": file, "variable": name, **counts})]
