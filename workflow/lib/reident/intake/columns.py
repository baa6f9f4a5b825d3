"""One variable of one file, typed batch by batch on its distinct texts, and counted (METHODS §1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.intake.coarsening import coarsen
from reident.intake.undeclared import OTHER, Counts, NumberCounts, are_codes
from reident.intake.values import Place, converted, typed
from reident.reading.declared import Declared
from reident.sections.codes import Coding, clean, normaliser, number
from reident.sections.files import RecordFile
from reident.sections.linkage import LinkingVariable, StudyColumn
from reident.sections.recodes import Recoding

MAX_TEXTS = 2**17
"""Distinct texts whose values are kept for the next batch."""


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

    def __init__(self, column: StudyColumn, side: str, source: RecordFile) -> None:
        coding = column.coding(side, *source.separators)
        normal, self._stored = normaliser(coding), normaliser(coding, stored=True)
        self._missing, self._recode = {normal(code) for code in coding.missing}, Recoding(coding)
        others = {normal(code) for code in getattr(column.missing, OTHER[side])} - self._missing
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


def _is_joined(code: str, coding: Coding) -> bool:
    """Whether a missing code looks like several ones: separated by a comma that is not that of a number's decimals."""
    decimal = coding.decimal == "," and number(clean(code).replace(",", ".")) is not None
    return bool({",", ";"} & set(code)) and not decimal


class ColumnReader:
    """Types one variable of one file.

    Attributes
    ----------
    type : pyarrow.DataType
        Text, or float64 if numeric.
    texts : CodeTexts
        What an analyst should look at.
    problem : InputError or None
        What is wrong with the first value that cannot be typed. Nothing is typed after it.
    """

    def __init__(self, column: StudyColumn, side: str, source: RecordFile) -> None:
        self._column, self._side, self._source = column, side, source
        self._numeric, self._dates = column.is_numeric, column.date_of(side) is not None
        self.type = pa.float64() if self._numeric else pa.string()
        self.texts = CodeTexts(column, side, source)
        self.problem: InputError | None = None
        self._codes, self._numbers = Counter[str | float](), NumberCounts(dates=self._dates)
        self._raw = pa.array([], pa.string())
        self._stated = self._values = pa.array([], self.type)  # before and after conversion and coarsening
        self._few = set[float]()  # two numbers as they are compared, or fewer
        self._rows_of_codes: list[tuple[np.ndarray, np.ndarray]] = []
        self._foreign = np.zeros(0, bool)

    @property
    def declared(self) -> Declared:
        """The declaration of the column in the file itself."""
        return self._numbers.declared

    def declare(self, field: pa.Field) -> None:
        """Take the declarations of the file itself, before the first record."""
        self._numbers.declared = Declared.read(field)

    @property
    def counts(self) -> Counts:
        """The records by value, without missing ones; of numbers, as the file has them, see :class:`NumberCounts`."""
        return self._numbers.counts() if self._numeric else self._codes

    @property
    def is_single(self) -> bool:
        """Whether all numbers are compared as one."""
        return len(self._few) == 1

    def distortion(self, codes: Collection[str | float]) -> float:
        """Return how many times as large, or as small, some numbers make the standard deviation; at least 1."""
        return self._numbers.distortion(codes)

    def rows(self, codes: Collection[str | float]) -> np.ndarray | None:
        """Return the records with some numbers of the file; None if the values of the study tell."""
        if not self._numeric or not self._changes:
            return None
        rows = [row[np.isin(values, list(codes))] for row, values in self._rows_of_codes]
        return np.concatenate([np.empty(0, np.int64), *rows])

    @property
    def _changes(self) -> bool:
        """Whether the study compares other numbers than the file has."""
        return self._column.convert_of(self._side) is not None or getattr(self._column, "coarsen", None) is not None

    def read(self, text: pa.Array, before: int) -> pa.Array:
        """Return the values of the next records, null where missing; `before` records precede them."""
        if self.problem is None:
            encoded = text.dictionary_encode()
            try:
                place = self._learn(encoded.dictionary)
            except InputError:
                self.problem = self._problem(text, before)
            else:
                return self._count(place, encoded.indices, before)
        return pa.nulls(len(text), self.type)

    def _learn(self, texts: pa.Array) -> pa.Array:
        """Return the places of distinct texts among those typed before, after typing those that are new."""
        place = pc.index_in(texts, self._raw)
        if not place.null_count:
            return place
        if len(self._raw) + place.null_count > MAX_TEXTS:
            self._raw, self._foreign = self._raw[:0], self._foreign[:0]
            self._stated = self._values = self._values[:0]
            place = pa.nulls(len(texts), place.type)
        new = texts.filter(pc.is_null(place))
        stated = _stated(self._column, self._side, self._source, new)
        values = _compared(self._column, self._side, self._source, stated)
        foreign = self.texts.learn(new.to_pylist()) if self.texts.matter else np.zeros(len(new), bool)
        start = len(self._raw)
        self._raw = pa.concat_arrays([self._raw, new])
        self._values = pa.concat_arrays([self._values, values])
        self._stated = pa.concat_arrays([self._stated, stated]) if self._numeric else self._values
        self._foreign = np.append(self._foreign, foreign)
        places = place.to_numpy(zero_copy_only=False).copy()
        places[np.isnan(places)] = np.arange(start, start + len(new))
        return pa.array(places.astype(np.int64))

    def _count(self, place: pa.Array, indices: pa.Array, before: int) -> pa.Array:
        """Count the records of each text, and return their values."""
        values, rows = self._values.take(place), np.bincount(indices.to_numpy(), minlength=len(place))
        self.texts.foreign_rows += int(rows[self._foreign[place.to_numpy()]].sum())
        if self._numeric:
            stated = self._stated.take(place).to_numpy(zero_copy_only=False)
            self._numbers.add(stated, rows)
            if len(self._few) < 2:
                self._few |= set(pc.unique(pc.drop_null(values))[:2].to_pylist())
            if self._changes and (codes := are_codes(stated, dates=self._dates) | self.declared.numbers(stated)).any():
                at = np.flatnonzero(codes[indices.to_numpy()])
                self._rows_of_codes.append((at + before, stated[indices.to_numpy()[at]]))
        else:
            for code, n in zip(values.to_pylist(), rows.tolist(), strict=True):
                if code is not None:
                    self._codes[code] += n
        return values.take(indices)

    def _problem(self, text: pa.Array, before: int) -> InputError:
        """Return the problem of the first text that cannot be typed, with its row."""
        try:
            typed_text(self._column, self._side, self._source, text, before)
        except InputError as error:
            return error
        raise RuntimeError(f"{self._column.name}: a text cannot be typed by itself, but in its column")


def typed_text(
    column: StudyColumn, side: str, source: RecordFile, text: pa.Array | pa.ChunkedArray, before: int = 0
) -> pa.Array:
    """Return one variable of one file, typed; null where missing. `before` is the number of records before these."""
    return _compared(column, side, source, _stated(column, side, source, text, before))


def _stated(
    column: StudyColumn, side: str, source: RecordFile, text: pa.Array | pa.ChunkedArray, before: int = 0
) -> pa.Array:
    """Return one variable of one file with the numbers of the file."""
    place = Place.locate(source, getattr(column, side), column.name, before)
    return typed(text, column.coding(side, *source.separators)._replace(convert=None), place)


def _compared(column: StudyColumn, side: str, source: RecordFile, values: pa.Array) -> pa.Array:
    """Return the values that are compared: numbers converted, then all values coarsened."""
    if (convert := column.convert_of(side)) is not None:
        values = converted(values, convert.conversion, Place.locate(source, getattr(column, side), column.name))
    coarser = column.coarsen if isinstance(column, LinkingVariable) else None
    return values if coarser is None else coarsen(values, coarser, integer_coded=column.integer_coded)
