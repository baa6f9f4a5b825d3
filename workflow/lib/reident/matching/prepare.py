"""Typing the confidential file and the synthetic files, row beside row (METHODS §1, §8).

Every synthetic file is put into the order of the confidential file's rows: record i corresponds to synthetic
record i, whether rows correspond by order or by a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident import reading
from reident.errors import InputError
from reident.intake import keys
from reident.intake.account import Account
from reident.intake.severity import NOTABLE, UNDERSTATES, Line, table
from reident.intake.values import Place, typed
from reident.matching import correspondence
from reident.matching.parts import MatchedFiles
from reident.sections.codes import Coding, clean, normaliser
from reident.sections.files import SourceFile
from reident.sections.matching import MatchedVariable, Target

ROW, TARGET, FILE, POPULATION = ".row", ".target", ".file", ".population"
"""Columns of the prepared tables beside the file's own, which cannot be so named in a study file."""


class Prepared(NamedTuple):
    """The typed files.

    Attributes
    ----------
    confidential : pyarrow.Table (n rows)
        :data:`ROW` (as messages count: the header of a CSV file is row 1), :data:`TARGET`, the key columns,
        :data:`POPULATION` if the study has population counts, the variables; null where missing.
    synthetic : pyarrow.Table (m·n rows)
        :data:`FILE` (1 … m) and the variables, each file in the order of the confidential rows.
    account : pandas.DataFrame
    warnings : pandas.DataFrame
        Sentences that the analyst should read.
    correspondence : pandas.DataFrame
        file (1 … m) and :class:`reident.matching.correspondence.Correspondence`.
    """

    confidential: pa.Table
    synthetic: pa.Table
    account: pd.DataFrame
    warnings: pd.DataFrame
    correspondence: pd.DataFrame


def columns_of(options: MatchedFiles, file: int | None = None) -> list[str]:
    """Return the columns that the study needs of a synthetic file, counted from 0, or of the confidential file."""
    names = [*options.key(file), *_names(options)]
    if file is None:
        names += [target.variable for target in options.targets]
        names += [options.population_count] if options.population_count else []
    return names


def read_confidential(options: MatchedFiles, path: Path) -> pa.Table:
    """Return the text of what the study needs of the confidential file."""
    return reading.read(path, options.file(), columns_of(options), options.key())


def read_synthetic(options: MatchedFiles, file: int, path: Path) -> pa.Table:
    """Return the text of what the study needs of a synthetic file, counted from 0."""
    return reading.read(path, options.file(file), columns_of(options, file), options.key(file))


def prepare(options: MatchedFiles, confidential: pa.Table, synthetic: Sequence[pa.Table]) -> Prepared:
    """Type the files, put rows beside each other, find the targets.

    Parameters
    ----------
    options : MatchedFiles
    confidential : pyarrow.Table
        As :func:`read_confidential` gives it.
    synthetic : sequence of pyarrow.Table
        As :func:`read_synthetic` gives them.

    Raises
    ------
    InputError
        An empty file, a repeated key, files whose rows do not correspond, a value that is not a number
        where the variable has a radius, a variable without a code in common, no target, a population count
        of a target that is not positive.
    """
    account = Account("prepare_matching")
    file = options.file().file_name
    if confidential.num_rows == 0:
        raise InputError(f"{file}: the file has a header and no records. Check the export.")
    if options.key():
        keys.check(confidential, options.key(), file, options.file().first_row)
    account.open("confidential", confidential.num_rows).close("confidential")
    targets = _targets(options, confidential, file)
    own = _typed(options, confidential, options.file())
    copies = []
    for place, text in enumerate(synthetic):
        order = _order(options, place, confidential, text)
        typed_text = _typed(options, text, options.file(place))
        copies.append(typed_text if order is None else typed_text.take(order))
        account.open(f"synthetic {place + 1}", text.num_rows).close(f"synthetic {place + 1}")
    lines = account.open("targets", confidential.num_rows)
    lines.leave("not a target", int((~targets).sum()))
    lines.close("targets")
    first = options.file().first_row
    rows = np.arange(first, first + confidential.num_rows, dtype=np.int32)
    marked = {ROW: rows, TARGET: targets}
    marked |= {name: confidential[name] for name in options.key()}
    if options.population_count:
        marked[POPULATION] = _population(options, options.population_count, confidential, targets)
    numbers = np.repeat(np.arange(1, len(copies) + 1, dtype=np.int32), confidential.num_rows)
    together = pa.concat_tables(copies).add_column(0, FILE, pa.array(numbers))
    warnings, correspondences = _compare(options, own, copies)
    return Prepared(
        pa.table({**marked, **dict(zip(own.column_names, own.columns, strict=True))}),
        together,
        account.table(),
        table(warnings),
        correspondences,
    )


def _names(options: MatchedFiles) -> list[str]:
    return [variable.name for variable in options.variables]


def coding(options: MatchedFiles, variable: MatchedVariable, decimal: str = ".") -> Coding:
    """Return how a matched variable is read: a number if it has a radius, otherwise a category."""
    kind: Literal["numeric", "categorical"] = "numeric" if variable.name in options.numeric else "categorical"
    return Coding(kind, variable.missing, integer_coded=variable.integer_coded, decimal=decimal)


def typed_variable(
    options: MatchedFiles, variable: MatchedVariable, text: pa.Table, source: SourceFile
) -> pa.Array:
    """Return one variable of one file, typed; null where missing."""
    place = Place(source.file_name, variable.name, variable.name, source.first_row)
    return typed(text[variable.name], coding(options, variable, source.decimal), place)


def _typed(options: MatchedFiles, text: pa.Table, source: SourceFile) -> pa.Table:
    return pa.table(
        {variable.name: typed_variable(options, variable, text, source) for variable in options.variables}
    )


def _order(options: MatchedFiles, place: int, confidential: pa.Table, text: pa.Table) -> np.ndarray | None:
    """Return the row of each confidential record's synthetic record; None if the rows are in the same order."""
    file, wanted = options.file(place).file_name, options.file().file_name
    if not options.key():
        if text.num_rows != confidential.num_rows:
            raise InputError(
                f"{file}: the number of records ({text.num_rows:,}) must be that of {wanted} "
                f"({confidential.num_rows:,}), because rows correspond by order. "
                "Correct the file, or give both files an `id`.",
                ("file", str(place)),
            )
        return None
    names = options.key(place)
    keys.check(text, names, file, options.file(place).first_row)
    found = keys.positions(text, names, confidential, options.key())
    if (found < 0).any():
        raise InputError(
            f"{wanted}, row {int((found < 0).argmax()) + options.file().first_row}: the record's key is not in {file} "
            f"({int((found < 0).sum()):,} such records). Give every record its own synthetic record.",
            ("file", str(place)),
        )
    if text.num_rows != confidential.num_rows:
        back = keys.positions(confidential, options.key(), text, names)
        row = int((back < 0).argmax()) + options.file(place).first_row
        raise InputError(
            f"{file}, row {row}: the record's key is not in {wanted} "
            f"({int((back < 0).sum()):,} such records). Remove these records, or correct the keys.",
            ("file", str(place)),
        )
    return found


def _targets(options: MatchedFiles, text: pa.Table, file: str) -> np.ndarray:
    """Return which records meet every condition: bool (n,)."""
    chosen = np.ones(text.num_rows, bool)
    for target in options.targets:
        chosen &= _meets(options, target, text, file)
    if not chosen.any():
        raise InputError(f"{file}: no record is a target. Correct `targets`.", ("targets",))
    return chosen


def _meets(options: MatchedFiles, target: Target, text: pa.Table, file: str) -> np.ndarray:
    name = target.variable
    by_name = {variable.name: variable for variable in options.variables}
    declared = by_name.get(name, MatchedVariable(name=name))
    integer_coded = declared.integer_coded and not target.numeric
    kind = coding(options, declared).kind if not target.numeric else "numeric"
    decimal, first_row = options.file().decimal, options.file().first_row
    how = Coding(kind, declared.missing, integer_coded=integer_coded, decimal=decimal)
    values = typed(text[name], how, Place(file, name, name, first_row))
    if target.equals is not None:
        normal = normaliser(how)
        codes = [normal(clean(code)) for code in target.equals]
        shown = (
            pa.array([float(code) for code in codes]) if kind == "numeric" else pa.array(codes, pa.string())
        )
        return pc.fill_null(pc.is_in(values, shown), False).to_numpy(zero_copy_only=False)
    numbers = values.to_numpy(zero_copy_only=False)
    distinct, at = np.unique(numbers, return_inverse=True)
    meets = [
        value == value
        and (target.at_least is None or _exact(value) >= target.at_least)
        and (target.at_most is None or _exact(value) <= target.at_most)
        for value in distinct.tolist()
    ]
    return np.array(meets, bool)[at]


def _exact(value: float) -> Fraction:
    """Return the decimal number in the file."""
    return Fraction(repr(value))


def _population(options: MatchedFiles, name: str, confidential: pa.Table, targets: np.ndarray) -> pa.Array:
    """Return the population counts, which must be positive for every target."""
    file, first_row = options.file().file_name, options.file().first_row
    coding = Coding("numeric", missing=("",), decimal=options.file().decimal)
    counts = typed(confidential[name], coding, Place(file, name, name, first_row))
    wrong = targets & ~(counts.to_numpy(zero_copy_only=False) > 0)
    if wrong.any():
        raise InputError(
            f"{file}, row {int(wrong.argmax()) + first_row}, column `{name}`: the population count of a target must be "
            f"a positive number ({int(wrong.sum()):,} such records). Correct the counts.",
            ("population",),
        )
    return counts


def _compare(
    options: MatchedFiles, own: pa.Table, copies: Sequence[pa.Table]
) -> tuple[list[Line], pd.DataFrame]:
    """Refuse a category without a code in common; return warnings, and how the rows of each file correspond."""
    warnings, lines = [], []
    known = [name for name in own.column_names if name not in options.synthesized]
    keyed = bool(options.key())
    for place, copy in enumerate(copies):
        file = options.file(place).file_name
        for name in own.column_names:
            if name not in options.numeric:
                warnings += _common_codes(options, file, name, own[name], copy[name])
        found, differ = correspondence.compare(own, copy, known, keyed=keyed)
        lines.append((str(place + 1), *found))
        warnings += correspondence.warnings(file, found, differ, keyed=keyed)
    return warnings, pd.DataFrame(lines, columns=["file", *correspondence.Correspondence._fields])


def _common_codes(
    options: MatchedFiles, file: str, name: str, own: pa.ChunkedArray, copy: pa.ChunkedArray
) -> list[Line]:
    ours, theirs = (set(pc.unique(column).drop_null().to_pylist()) for column in (own, copy))
    if not ours or not theirs:
        warning = f"{file}: {name} is missing in every record of this file or of the confidential file."
        return [Line(UNDERSTATES, warning)]
    if not ours & theirs:
        raise InputError(
            f"{file}, column `{name}`: no code is also in {options.file().file_name}. Code both files alike, "
            "or give a numeric variable a `radius`.",
            ("variable", name),
        )
    if 2 * len(ours & theirs) >= len(ours | theirs):
        return []
    warning = (
        f"{file}: fewer than half of the codes of {name} are also in the confidential file "
        f"({len(ours & theirs)} of {len(ours | theirs)}). Check the codes."
    )
    return [Line(NOTABLE, warning)]
