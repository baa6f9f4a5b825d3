"""Typing the original and the released files, and giving every value of a key and a target a code (METHODS §1, §12)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.attribution.section import Target
from reident.attribution.settings import AttributionFileSettings
from reident.errors import Guard, InputError
from reident.intake import keys
from reident.intake.account import Account
from reident.intake.records import Sink, in_memory, require_records
from reident.intake.severity import INVALIDATES, NOTABLE, StudyWarning, table
from reident.intake.sources import Source, give, narrow, opened
from reident.intake.values import typed_key
from reident.linkage import categories
from reident.sections.keys import KeyVariable

ROW, FILE, PERSON = "row", ".file", ".original"
"""Columns of the prepared tables beside those of the files: the row, the released file, the row of the same person."""


class PreparedAttribution(NamedTuple):
    """The coded files, with the columns that `columns.csv` declares.

    The original file is in the order of the names of persons, or of its rows; the others are in that of their rows.
    """

    original: pa.Table
    released: pa.Table
    holdout: pa.Table
    categories: pd.DataFrame
    account: pd.DataFrame
    warnings: pd.DataFrame


def prepare(
    settings: AttributionFileSettings, texts: Mapping[str, pa.Table], guard: Guard = contextlib.nullcontext
) -> PreparedAttribution:
    """Type and code files that are in memory, by side, as :func:`prepare_files` does.

    Each has at least the columns of its extract.
    """
    sources = {side: [text] for side, text in texts.items()}
    names = ("original", "released", "holdout")
    with opened(settings.extracts, sources) as opened_texts:
        return PreparedAttribution(
            **in_memory(names, lambda sinks: prepare_files(settings, opened_texts, sinks, guard))
        )


def prepare_files(
    settings: AttributionFileSettings,
    texts: Mapping[str, Source],
    sinks: Mapping[str, Sink],
    guard: Guard = contextlib.nullcontext,
) -> dict[str, pd.DataFrame]:
    """Type and code all files.

    By side, ``texts`` are those of :func:`reident.intake.sources.opened`. The sinks take the batches of the prepared
    tables of :class:`PreparedAttribution`, whose other tables are returned. The guard encloses checks of keys, codes
    and corresponding records.

    Raises
    ------
    InputError
        A file without a record, a repeated key, a value that is not a number where it must be one, a variable without
        a code in common with the original file.
    """
    for side, text in texts.items():
        require_records(settings.files[side], text.num_rows)
        text.order(guard)
    columns: dict[str, dict[str, pa.Array]] = {side: {} for side in texts}
    lines, warnings = [], list[StudyWarning]()
    needed = [variable.column for variable in settings.variables]
    for at, variable in enumerate(settings.variables):
        typed = {side: typed_key(variable, settings.files[side], text[variable.column]) for side, text in texts.items()}
        warnings += _missing_throughout(settings, variable, typed)
        if isinstance(variable, Target) and variable.is_numeric:
            coded = typed
        else:
            decimal = settings.files[settings.original].decimal
            codes, labels = categories.coded(variable, typed, settings.original, decimal, settings.bins, settings.ranks)
            with guard():
                warnings += _compare_codes(settings, variable, codes)
            with_missing = settings.missing == "category" and keys.add_missing(codes, labels)
            counts = {
                "n_original": [codes[settings.original]],
                "n_released": [codes[side] for side in settings.released],
            }
            front = {"variable": variable.name, "role": "target" if variable in settings.targets else "key"}
            counted = categories.counted(labels, counts, with_missing=with_missing)
            lines.append(pd.DataFrame(front | counted))
            coded = {side: narrow(pa.array(values, mask=values < 0)) for side, values in codes.items()}
        for side, values in coded.items():
            columns[side][variable.name] = values
            if variable.column not in needed[at + 1 :]:
                texts[side].forget([variable.column])
    first = texts[settings.original]
    sorted_keys = first.sorted_keys() if settings.ids.get(settings.original) else None
    front = {} if sorted_keys else {ROW: _rows(settings, first.num_rows)}
    give(sinks["original"], {**front, **columns[settings.original]}, first.order(), sorted_keys)
    for number, side in enumerate(settings.released, start=1):
        n = texts[side].num_rows
        who = np.full(n, -1, np.int32)
        with guard():
            who = _persons(settings, texts, side)
        released = {FILE: pa.array(np.full(n, number, np.int32)), PERSON: pa.array(who, mask=who < 0)}
        give(sinks["released"], {**released, **columns[side]}, np.arange(n))
    if settings.holdout is None:
        give(sinks["holdout"], columns[settings.original], np.arange(0))
    else:
        give(sinks["holdout"], columns[settings.holdout], np.arange(texts[settings.holdout].num_rows))
    return {
        "categories": pd.concat(lines, ignore_index=True) if lines else pd.DataFrame(),
        "account": _account(settings, texts),
        "warnings": table(warnings),
    }


def _missing_throughout(
    settings: AttributionFileSettings, variable: KeyVariable, typed: Mapping[str, pa.Array]
) -> Iterator[StudyWarning]:
    """Warn of a variable without a value in a file: nothing can be learnt with it."""
    for side, column in typed.items():
        if column.null_count == len(column):
            fields = {"file": settings.files[side].file_name, "variable": variable.name}
            yield StudyWarning(INVALIDATES, "attribution_missing", fields, len(column), 1.0)


def _compare_codes(
    settings: AttributionFileSettings, variable: KeyVariable, codes: Mapping[str, np.ndarray]
) -> Iterator[StudyWarning]:
    """Refuse a category without a code in common; warn where few are."""
    if variable.is_numeric:
        return
    ours = np.unique(codes[settings.original][codes[settings.original] >= 0])
    for side in codes:
        theirs = np.unique(codes[side][codes[side] >= 0])
        if side == settings.original or not len(ours) or not len(theirs):
            continue
        common = int(np.isin(ours, theirs).sum())
        names = f"{settings.files[side].file_name} and {settings.files[settings.original].file_name}"
        if not common:
            raise InputError(
                f"{names}, column `{variable.column}`: no code of `{variable.name}` is in both files. Code both files "
                "alike, or recode them (`recode`)."
            )
        if 2 * common < len(ours) + len(theirs) - common:
            fields = {"file": settings.files[side].file_name, "variable": variable.name}
            counts = {"common": common, "codes": len(ours) + len(theirs) - common}
            yield StudyWarning(NOTABLE, "attribution_codes", {**fields, **counts})


def _rows(settings: AttributionFileSettings, n: int) -> pa.Array:
    """Return the row numbers of the original file."""
    first = settings.files[settings.original].first_row
    return pa.array(np.arange(first, first + n, dtype=np.int32))


def _persons(settings: AttributionFileSettings, texts: Mapping[str, Source], side: str) -> np.ndarray:
    """Return the position of each person of a released file in the prepared original file, -1 where unknown; int32."""
    text, first = texts[side], texts[settings.original]
    if settings.ids.get(side) and settings.ids.get(settings.original):
        return first.places(text)
    if not settings.by_order:
        return np.full(text.num_rows, -1, np.int32)
    if text.num_rows != first.num_rows:
        raise InputError(
            f"{settings.files[side].file_name}: the number of records ({text.num_rows:,}) must be that of "
            f"{settings.files[settings.original].file_name} ({first.num_rows:,}), because rows correspond by order. "
            "Correct the file, or give both files an `id`."
        )
    return np.argsort(first.order(), kind="stable").astype(np.int32)


def _account(settings: AttributionFileSettings, texts: Mapping[str, Source]) -> pd.DataFrame:
    """Return the account of the rows read; records that miss a value are left out set by set."""
    account = Account("prepare_attribution")
    names = {settings.original: "original"}
    names |= {side: f"released {at}" for at, side in enumerate(settings.released, start=1)}
    for side, text in texts.items():
        account.add(names.get(side, "holdout"), text.num_rows)
    return account.table()
