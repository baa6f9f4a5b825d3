"""The contents of the columns of a file, from one pass over its records.

Counts are exact up to :data:`MAX_LEVELS` distinct texts of a column. Beyond that only suspected missing codes are
counted, numbers are summed up, and a column without a repeat keeps the hashes of its texts, which prove it unique.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.drafting import codes, dates, scan
from reident.drafting.progress import progress
from reident.drafting.source import Source
from reident.plausibility.hashing import has_repeats, hashes
from reident.reading.declared import NOTHING, Declared
from reident.sections.codes import clean, number

MAX_LEVELS = 10_000
"""Distinct texts of a column that are counted one by one."""

_MAX_SAMPLE = 100_000
_NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_PADDED = re.compile(r"0\d+", re.ASCII)


class DraftColumn:
    """The contents of one column of a file; texts are trimmed."""

    def __init__(self, name: str, decimal: str) -> None:
        self.name, self.decimal = name, decimal
        self.records = 0
        self.not_numbers = 0  # records whose text is neither a number nor a suspected missing code
        self.counts: dict[str, int] | None = {}  # records by text; None beyond :data:`MAX_LEVELS` texts
        self.missing: dict[str, int] = {}  # the codes that surely mean missing, with their records
        self.values: dict[str, int] = {}  # records by other text; empty if not every text is counted
        self._suspects: dict[str, int] = {}
        self.whole = True  # whether every number is an integer
        self.padded = False  # whether a text has leading zeros
        self.unique = True  # whether no two records have the same text and none is empty
        self.width = (10**9, 0)  # of the shortest and the longest text
        self.dates: tuple[str, ...] = ()  # the formats that the first texts have, if they are dates
        self.declared = NOTHING  # what the file itself declares to be missing
        self.sample = np.empty(0)  # numbers, sorted, at most about 100,000 at equal distances in the file
        self._kept: list[np.ndarray] = []
        self._numbers: list[np.ndarray] = []
        self._stride = 1

    @property
    def levels(self) -> int | None:
        """The number of distinct texts; None if there are more than are counted."""
        return None if self.counts is None else len(self.counts)

    @property
    def valid(self) -> int:
        """The records with a value."""
        return self.records - sum(self.missing.values())

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number."""
        return self.valid > 0 and not self.not_numbers

    def add(self, text: pa.Array) -> None:
        """Take the texts of further records."""
        if not self.records and len(text):
            self._recognise_dates(text)
        self.records += len(text)
        if self.unique:
            self._keep_hashes(text)
        if self.counts is None:
            self._add_many(text)
            return
        counted = pc.value_counts(text)
        texts, rows = counted.field(0).to_pylist(), counted.field(1).to_pylist()
        for code, n in zip(texts, rows, strict=True):
            self.counts[code] = self.counts.get(code, 0) + n
        if len(self.counts) > MAX_LEVELS:
            self._stop_counting()

    def close(self) -> None:
        """Conclude, after the last record."""
        if self.counts is not None:
            counts = Counter[str]()
            for text, rows in self.counts.items():
                counts[clean(text)] += rows
            self._conclude(dict(counts))
        else:
            self._conclude_many()
        if self.unique:
            self.unique = not has_repeats(np.concatenate(self._kept)) if self._kept else False
        self._kept, self._numbers = [], []

    def _keep_hashes(self, text: pa.Array) -> None:
        hashed = hashes([text])
        self.unique = not (pc.any(pc.equal(text, "")).as_py() or has_repeats(hashed))
        self._kept = [*self._kept, hashed] if self.unique else []

    def _stop_counting(self) -> None:
        texts = pa.array(list(self.counts or {}), pa.string())
        rows = np.fromiter((self.counts or {}).values(), np.int64)
        self.counts = None
        self._add_many(texts, rows)

    def _add_many(self, text: pa.Array, rows: np.ndarray | None = None) -> None:
        """Take many texts; `rows` are the numbers of records with each, one if absent."""
        place = pc.index_in(text, codes.SUSPECTS)
        if place.null_count < len(place):
            places = pc.fill_null(place, -1).to_numpy(zero_copy_only=False)
            suspected = places >= 0
            count = np.bincount(places[suspected], None if rows is None else rows[suspected], len(codes.SUSPECTS))
            for at in np.flatnonzero(count).tolist():
                code = codes.SUSPECTS[at].as_py()
                self._suspects[code] = self._suspects.get(code, 0) + int(count[at])
            text = text.filter(pa.array(~suspected))
            rows = None if rows is None else rows[~suspected]
        lengths = pc.min_max(pc.utf8_length(text)).as_py()
        if len(text):
            self.width = min(self.width[0], lengths["min"]), max(self.width[1], lengths["max"])
        if not self.padded:
            self.padded = bool(pc.any(pc.match_substring_regex(text, r"^\s*0[0-9]")).as_py())
        self._add_numbers(text, rows)

    def _add_numbers(self, text: pa.Array, rows: np.ndarray | None) -> None:
        values = _parsed(text, self.decimal)
        is_number = np.isfinite(values)
        wrong = ~is_number
        self.not_numbers += int(wrong.sum() if rows is None else rows[wrong].sum())
        values = values[is_number]
        self.whole = self.whole and bool((values == np.floor(values)).all())
        self._numbers.append(values[:: self._stride])
        if sum(map(len, self._numbers)) > 2 * _MAX_SAMPLE:
            self._numbers = [np.concatenate(self._numbers)[::2]]
            self._stride *= 2

    def _conclude(self, counts: dict[str, int]) -> None:
        """Derive everything from exact counts."""
        points = {code: codes.with_point(code, self.decimal) for code in counts}
        certain = codes.certain({points[code]: rows for code, rows in counts.items()})
        certain |= {code: rows for code, rows in counts.items() if self.declared(code)}
        self.counts = counts
        self.missing = {code: rows for code, rows in counts.items() if points[code] in certain}
        values = self.values = {code: rows for code, rows in counts.items() if code not in self.missing}
        numbers = {code: _number(code, self.decimal) for code in values}
        self.not_numbers = sum(rows for code, rows in values.items() if numbers[code] is None)
        numbers = {code: dates.number(code, self.dates[0]) for code in values} if self.dates else numbers
        parsed = {code: value for code, value in numbers.items() if value is not None}
        self.whole = all(value == int(value) for value in parsed.values())
        self.padded = any(_PADDED.match(code) for code in values)
        self.width = min(map(len, values), default=0), max(map(len, values), default=0)
        rows = np.array([values[code] for code in parsed], np.int64)
        every = max(1, int(rows.sum()) // _MAX_SAMPLE)
        self.sample = np.sort(np.repeat(np.array(list(parsed.values()), float), -(-rows // every)))

    def _conclude_many(self) -> None:
        """Derive the suspected codes that mean missing; the others are numbers like the numbers of the sample."""
        self.sample = np.sort(np.concatenate([*self._numbers, np.empty(0)]))
        largest, smallest = (float(self.sample[at]) if len(self.sample) else 0.0 for at in (-1, 0))
        others = {repr(largest): 1, repr(smallest): 1}
        self.missing = {
            code: rows for code, rows in codes.certain({**others, **self._suspects}).items() if code in self._suspects
        }
        self.missing |= {code: rows for code, rows in self._suspects.items() if self.declared(code)}
        if self.unique:  # a number that looks like a missing code, once, in a column of identifiers
            self.missing = {}

    def _recognise_dates(self, text: pa.Array) -> None:
        values = [value for raw in text.slice(0, 1000).to_pylist() if (value := clean(raw))]
        self.dates = dates.formats(values)


def _number(text: str, decimal: str) -> float | None:
    return number(codes.with_point(text, decimal))


def _parsed(text: pa.Array, decimal: str) -> np.ndarray:
    """Return numbers; other texts become NaN."""
    if decimal == ",":
        text = pc.if_else(pc.match_substring(text, "."), "", pc.replace_substring(text, ",", "."))
    try:
        return text.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        trimmed = pc.utf8_trim_whitespace(text)
        numbers = pc.match_substring_regex(trimmed, _NUMBER)
        kept = pc.if_else(numbers, trimmed, pa.scalar(None, pa.string()))
        return pc.fill_null(kept.cast(pa.float64()), np.nan).to_numpy(zero_copy_only=False)


class File:
    """A file with the profiles of its columns by name, in the order of the file."""

    def __init__(self, source: Source, columns: Sequence[DraftColumn]) -> None:
        self.source = source
        self.columns = {column.name: column for column in columns}
        self.records = columns[0].records if columns else 0

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return self.source.name


def profile(source: Source) -> File:
    """Return the profiles of all columns of a file.

    Raises
    ------
    InputError
        For a file that is irregular or has no record.
    """
    columns = [DraftColumn(name, source.decimal) for name in source.columns]
    with ThreadPoolExecutor() as pool:
        for batch in scan.batches(source):
            for column, field in zip(columns, batch.schema, strict=True):
                column.declared = Declared.read(field)
            list(pool.map(DraftColumn.add, columns, batch.columns))
            progress(f"{source.name}: {columns[0].records if columns else 0:,} records are read")
        list(pool.map(DraftColumn.close, columns))
    return File(source, columns)
