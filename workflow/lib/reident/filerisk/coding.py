"""The codes of the key's variables in the file, its population and its records before perturbation (METHODS §1, §7)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.errors import Guard, InputError
from reident.filerisk.settings import FILE, ORIGINAL, PLACE, POPULATION, RiskFileSettings
from reident.intake import identifying, keys
from reident.intake.severity import INVALIDATES, NOTABLE, UNDERSTATES, StudyWarning, named, of_share
from reident.intake.sources import Source, narrow
from reident.intake.values import typed_key
from reident.language.messages import Fields
from reident.linkage import categories
from reident.sections.keys import KeyVariable

Texts = Mapping[str, Source]
"""The text of each file, by the table that is made of it."""


def coded(
    settings: RiskFileSettings, texts: Texts, guard: Guard = nullcontext
) -> tuple[dict[str, dict[str, pa.Array]], pd.DataFrame, list[StudyWarning]]:
    """Return the coded variables of each file, the categories, and warnings about them."""
    lines, warnings = [], list[StudyWarning]()
    columns: dict[str, dict[str, pa.Array]] = {name: {} for name in texts}
    places: dict[str, pa.Array] = {}
    variables = settings.variables
    needed = [*(variable.column for variable in variables), *settings.strata]
    for at, variable in enumerate(variables):
        sources = texts if variable in settings.key else {FILE: texts[FILE]}
        typed = {name: typed_key(variable, text.source, text[variable.column]) for name, text in sources.items()}
        codes, labels = categories.coded(variable, typed, FILE, settings.file.decimal, settings.bins, settings.ranks)
        if variable.name in settings.ordered:
            places[PLACE + variable.name] = _places(variable, typed[FILE], codes[FILE])
        with_missing = settings.missing == "category" and keys.add_missing(codes, labels)
        # The codes of a sensitive variable are counted, and named nowhere.
        if variable in settings.key or variable.is_numeric:
            counts = {"n_file": [codes[FILE]], "n_population": [codes[name] for name in codes if name == POPULATION]}
            counted = categories.counted(labels, counts, with_missing=with_missing)
            lines.append(pd.DataFrame({"variable": variable.name, **counted}))
        warnings += _missing_throughout(variable, settings, sources, labels, codes[FILE])
        if variable in settings.key and not variable.is_numeric and identifying.identifies(typed[FILE]):
            warnings.append(identifying.warning(NOTABLE, settings.file.file_name, variable.name, "uniques"))
        with guard():
            warnings += _unknown_codes(variable, sources, labels, codes)
        for name, values in codes.items():
            columns[name][variable.name] = narrow(pa.array(values, mask=values < 0))
            if variable.column not in needed[at + 1 :]:
                texts[name].forget([variable.column])
    columns[FILE] |= places
    return columns, pd.concat(lines, ignore_index=True), warnings


def _places(variable: KeyVariable, values: pa.Array, codes: np.ndarray) -> pa.Array:
    """Return the place of each value in its order; each number has one, where codes are those of bins."""
    places = codes
    if variable.is_numeric:
        numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
        places = np.unique(np.append(numbers, np.nan), return_inverse=True)[1][:-1]
        places = np.where(np.isnan(numbers), -1, places)
    return narrow(pa.array(places.astype(np.int32), mask=places < 0))


def _missing_throughout(
    variable: KeyVariable, settings: RiskFileSettings, texts: Texts, labels: list[str], codes: np.ndarray
) -> list[StudyWarning]:
    """Warn of a variable without a value in the file: no cell has it, and nothing tells where to cut it."""
    file, warnings = settings.file.file_name, []
    if (codes < 0).all():
        severity, result = INVALIDATES, "no_cell"
        if settings.missing == "wildcard":
            severity, result = NOTABLE, "no_effect"
        if variable in settings.sensitive:
            severity, result = NOTABLE, "no_diversity"
        fields = {"file": file, "variable": variable.name, "result": result}
        warnings.append(StudyWarning(severity, "key_value_missing", fields, len(codes), 1.0))
    if variable.is_numeric and set(labels) <= {keys.MISSING_LABEL}:
        for name, text in texts.items():
            if name != FILE:
                fields = {"file": text.source.file_name, "variable": variable.name, "other": file}
                warnings.append(StudyWarning(INVALIDATES, "counts_as_missing", fields))
    return warnings


def _unknown_codes(
    variable: KeyVariable, texts: Texts, labels: list[str], codes: dict[str, np.ndarray]
) -> list[StudyWarning]:
    """Refuse a category without a code in common with another file; warn of codes that are not in both."""
    warnings: list[StudyWarning] = []
    if variable.is_numeric:
        return warnings
    file, ours = texts[FILE].source.file_name, np.unique(codes[FILE][codes[FILE] >= 0])
    for name in (POPULATION, ORIGINAL):
        if name not in codes:
            continue
        other, theirs = texts[name].source.file_name, np.unique(codes[name][codes[name] >= 0])
        if len(ours) and len(theirs) and not np.isin(ours, theirs).any():
            raise InputError(
                f"{file} and {other}, column `{variable.column}`: no code of `{variable.name}` is in both "
                "files. Recode one of the files (`recode`)."
            )
        if name == POPULATION:
            searched, reference, holder, code = ours, theirs, FILE, "not_in_population"
        else:
            searched, reference, holder, code = theirs, ours, ORIGINAL, "not_in_original"
        unknown = searched[~np.isin(searched, reference)]
        if len(unknown):
            rows = int(np.isin(codes[holder], unknown).sum())
            share = rows / len(codes[holder])
            fields: Fields = {"file": other, "other": file, "variable": variable.name}
            fields = {**fields, "n": len(unknown), "codes": len(searched)}
            names = named(labels[label] for label in unknown)
            # A record whose code the population lacks is not in it: its risk there is not known.
            severity = UNDERSTATES if name == POPULATION else of_share(share)
            warnings.append(StudyWarning(severity, code, fields, rows, share, names))
    return warnings
