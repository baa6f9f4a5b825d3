"""Reading options of a file: format, compression, encoding, delimiter, quotes, decimal separator (METHODS §1)."""

from __future__ import annotations

import codecs
import csv
import json
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from reident import reading
from reident.errors import InputError
from reident.intake.undeclared import MISSING_WORDS
from reident.reading import delimited
from reident.reading.names import DAMAGE, damaged
from reident.reading.textfile import MARKS, opened, unpacked
from reident.sections.codes import THOUSANDS, grouped_form, number
from reident.sections.files import SourceFile
from reident.study.reading import TODO

_CHUNK = 1 << 22
_RECORDS = 1000
"""The records from which a dialect is recognised; the whole file is then read by it."""

_DELIMITERS = ((",", ";", "\t", "|"), ("^", "~", ":", " "))
"""Those that are tried first, and those that may well be part of the fields."""

_QUOTES = ('"', "'", "")
_PUNCTUATION = frozenset("€£§°ºª«»‘’“”„‚–—…•·©®™±×÷¿¡½¼¾²³µ´`¨¸\u00a0")
"""What texts in cp1252 have beside letters; other characters show another encoding."""

_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*", re.ASCII)
"""A comma in a file whose fields are separated by commas may well be one between thousands."""

_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
_WITH_BOTH = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+", re.ASCII)
_MARK_NAMES = {",": "a comma", ".": "a point", " ": "a blank", "'": "an apostrophe"}
_POINT = re.compile(r"\s*[+-]?\d*\.\d+\s*", re.ASCII)


class Source(NamedTuple):
    """A file, how it is read, and why.

    `described` is what a study says of it, with the path that the draft has. `columns` are those that can be read, in
    their order; `refused` has the reason for each of the others, and `reasons` for each option other than the default.
    `grouped` are the columns with thousands apart, which are read without what is between them.
    """

    path: Path
    described: SourceFile
    columns: tuple[str, ...]
    refused: dict[str, str]
    reasons: dict[str, str]
    grouped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return self.path.name

    @property
    def decimal(self) -> str:
        """The decimal separator."""
        return self.described.decimal

    @property
    def options(self) -> dict[str, str]:
        """The options that are not the default, as the draft has them; that for thousands is to be decided."""
        decided = {name: getattr(self.described, name) for name in self.reasons}
        return decided | ({"thousands": TODO} if "thousands" in decided else {})


def describe(path: Path, out: Path) -> Source:
    """Return how a file is read, with its path relative to the folder of the study file `out`.

    Raises
    ------
    InputError
        For a file that cannot be read, that is not a table with named columns, or whose encoding is unknown.
    """
    written = Path(os.path.relpath(path, out.parent)).as_posix()
    plain = _model(path, {"path": written})
    options: dict[str, str] = {}
    reasons: dict[str, str] = {}
    recognised = reading.recognised(path) if path.is_file() else ""
    with reading.readable(path, plain.model_copy(update={"format": recognised or plain.kind})):
        path.open("rb").close()
    if recognised and recognised != plain.kind:
        options["format"], reasons["format"] = recognised, "by its first bytes"
    if (recognised or plain.kind) != "csv":
        return _stored(path, _model(path, {"path": written, **options}), reasons)
    for name, value, reason in _text_options(path):
        options[name], reasons[name] = value, reason
    described = _model(path, {"path": written, **options})
    columns = reading.column_names(path, described)
    _check_header(path, columns)
    grouped = tuple(name for name in columns if f"`{name}`" in reasons.get("thousands", ""))
    return _usable(Source(path, described, tuple(columns), {}, reasons, grouped))


def _usable(source: Source) -> Source:
    """Leave out the columns that a study file cannot name."""
    refused = dict(source.refused)
    for name in source.columns:
        if not name.strip():
            refused[name] = "it has no name"
        elif name.startswith(TODO):
            refused[name] = "its name begins with TODO, which marks what is to be decided"
    return source._replace(columns=tuple(name for name in source.columns if name not in refused), refused=refused)


def _model(path: Path, options: dict[str, str]) -> SourceFile:
    try:
        return SourceFile.model_validate(options)
    except ValidationError as error:
        text = str(error.errors()[0].get("ctx", {}).get("error", "the file cannot be described."))
        raise InputError(f"{path.name}: {text.replace('`.path`', 'the file')}") from None


def _stored(path: Path, described: SourceFile, reasons: dict[str, str]) -> Source:
    """Return a file of a statistical program or of Parquet, without the columns that have no certain text."""
    names = [name for name in reading.column_names(path, described) if name.strip()]
    refused: dict[str, str] = {}
    try:
        next(reading.batches(path, described, names), None)
    except InputError:
        for name in names:
            try:
                next(reading.batches(path, described, [name]), None)
            except InputError as error:
                refused[name] = str(error).partition("`: ")[2].partition(". ")[0] or "it cannot be read"
        if len(refused) == len(names):
            raise
    return _usable(Source(path, described, tuple(name for name in names if name not in refused), refused, reasons))


def _text_options(path: Path) -> Iterator[tuple[str, Any, str]]:
    """Yield the options of a text file that are not the default, each with its reason."""
    encoding, why = _encoding(path)
    if encoding != "utf-8":
        yield "encoding", encoding, why
    delimiter, quote, records = _dialect(path, encoding)
    if delimiter != ",":
        yield ("delimiter", delimiter, f"gives {len(records[0])} fields in each of the first {len(records):,} rows")
    if quote != '"':
        yield "quote", quote, "fields are quoted by it" if quote else "quotation marks are part of the fields"
    cells = [cell.strip() for record in records[1:] for cell in record]
    columns = {name: [cell.strip() for cell in column] for name, *column in zip(*records, strict=True)}
    cells = [cell for cell in cells if "," in cell or "." in cell]
    commas, points = (sum(map(bool, map(form.fullmatch, cells))) for form in (_COMMA, _POINT))
    if all(map(_THOUSANDS.fullmatch, filter(_COMMA.fullmatch, cells))) and (
        delimiter == "," or _grouped(columns, ",", ".", strict=True)
    ):
        commas = 0
    if commas or not points:
        both = sum(bool(_WITH_BOTH.fullmatch(cell)) for cell in cells)
        commas, points = (commas + both, points - sum(map(bool, map(_POINTS.fullmatch, cells))) if both else points)
    if commas:
        reason = f"{commas:,} numbers of the first rows have a comma, {points:,} a point"
        if min(commas, points):
            reason += "; only one of the two is read as numbers"
        yield "decimal", "," if commas > points else ".", reason
    decimal = "," if commas > points else "."
    for mark in THOUSANDS:
        if mark != decimal and (grouped := _grouped(columns, mark, decimal)):
            n = sum(grouped.values())
            where = ", ".join(f"`{name}`" for name in grouped)
            reason = (
                f"{n:,} numbers of the first rows have {_MARK_NAMES[mark]} before groups of three digits, in {where}; "
                f"write {json.dumps(mark)} if it separates thousands, or remove the line"
            )
            yield "thousands", mark, reason
            return


def _grouped(columns: dict[str, list[str]], mark: str, decimal: str, *, strict: bool = False) -> dict[str, int]:
    """Return the columns of numbers with a mark between thousands, with the numbers that have it.

    That it is no decimal separator is sure (`strict`) from two marks in a number, or from decimals.
    """
    form, plain = grouped_form(mark, decimal), re.compile(rf"[+-]?\d+({re.escape(decimal)}\d*)?", re.ASCII)
    result = {}
    for name, cells in columns.items():
        if not any(mark in cell for cell in cells):
            continue
        having = [cell for cell in cells if form.fullmatch(cell)]
        others = [cell for cell in cells if not form.fullmatch(cell) and cell.casefold() not in MISSING_WORDS]
        numbers = [cell for cell in others if plain.fullmatch(cell)]
        large = sum(len(cell.lstrip("+-").partition(decimal)[0]) > 3 for cell in numbers)
        if not having or large > len(having) / 20 or len(numbers) < 0.95 * len(others):
            continue
        sure = mark not in ",." or any(
            len(re.findall(rf"[{re.escape(mark)}]", cell)) > 1 or decimal in cell for cell in having
        )
        if sure or not (strict or any(cell.lstrip("+-").startswith("0") for cell in having)):
            result[name] = len(having)
    return result


def _encoding(path: Path) -> tuple[str, str]:
    """Return the encoding of a text file, and the reason; the whole file is looked at."""
    chunks = _chunks(path)
    start = next(chunks, b"")
    if not start.strip():
        raise InputError(f"{path.name}: the file is empty. Write a header row and records.")
    for codec, mark in MARKS.items():
        if start.startswith(mark):
            return codec.rsplit("-", 1)[0], "by its byte order mark"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for chunk in _chunks(path):
            if b"\0" in chunk:
                raise _unreadable(path)
            if not chunk.isascii() or decoder.getstate()[0]:
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return _single_byte(path)
    return "utf-8", ""


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with unpacked(path) as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except DAMAGE:
        raise damaged(path) from None


def _single_byte(path: Path) -> tuple[str, str]:
    """Return cp1252 if every byte beyond ASCII is a letter or a mark of it."""
    bytes_beyond: set[int] = set()
    n = 0
    for chunk in _chunks(path):
        beyond = chunk.translate(None, bytes(range(128)))
        n += len(beyond)
        bytes_beyond |= set(beyond)
    try:
        characters = bytes(sorted(bytes_beyond)).decode("cp1252")
    except UnicodeDecodeError:
        raise _unreadable(path) from None
    if not all(character.isalpha() or character in _PUNCTUATION for character in characters):
        raise _unreadable(path)
    return "cp1252", f"it is not UTF-8, and its {n:,} bytes beyond ASCII are letters or marks in cp1252"


def _unreadable(path: Path) -> InputError:
    return InputError(
        f"{path.name}: the encoding of the text cannot be recognised; it is neither Unicode nor cp1252. Save the file "
        "as UTF-8."
    )


def _dialect(path: Path, encoding: str) -> tuple[str, str, list[list[str]]]:
    """Return the delimiter and the quote with which the first rows have most fields, equally many, and these rows."""
    with opened(path, SourceFile(path="x.csv", encoding=encoding)) as text:
        first = list(islice(text, _RECORDS))
    quotes = [quote for quote in _QUOTES if quote != "'" or any(quote in line for line in first)]
    for group in _DELIMITERS:
        regular = [
            (delimiter, quote, records)
            for delimiter in group
            for quote in quotes
            if (records := _parsed(first, delimiter, quote)) and len(records[0]) > 1
        ]
        if regular:
            best = max(regular, key=lambda dialect: len(dialect[2][0]))
            apostrophes = [dialect for dialect in regular if dialect[0] == best[0] and dialect[1] == "'"]
            return apostrophes[0] if apostrophes and _is_quoted_by_apostrophes(best[2]) else best
    return _irregular(path, first)


def _is_quoted_by_apostrophes(records: list[list[str]]) -> bool:
    """Whether every field of a column, its name too, is between apostrophes."""
    return any(
        all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in column) for column in zip(*records, strict=True)
    )


def _parsed(lines: list[str], delimiter: str, quote: str) -> list[list[str]] | None:
    """Return rows of equally many fields, without a record that the last line begins; None if there are none."""
    quoting: dict[str, Any] = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(lines, delimiter=delimiter, strict=True, **quoting)
    records: list[list[str]] = []
    try:
        records.extend(reader)
    except csv.Error:
        if len(lines) < _RECORDS or len(records) < 2:
            return None
    if not records or len(set(map(len, records))) > 1:
        return None
    return records


def _irregular(path: Path, lines: list[str]) -> tuple[str, str, list[list[str]]]:
    """Return the most frequent delimiter of the header, with which reading names the first wrong row; or refuse."""
    delimited.refuse_separator(path, lines[0])
    for separator in _DELIMITERS[0]:
        delimited.refuse_titles(path, [len(row) for row in csv.reader(lines, delimiter=separator)])
    lengths = {len(line.rstrip("\r\n")) for line in lines}
    counts = {delimiter: lines[0].count(delimiter) for delimiter in _DELIMITERS[0]}
    delimiter = max(counts, key=counts.__getitem__)
    if counts[delimiter]:
        return delimiter, '"', [next(csv.reader(lines[:1], delimiter=delimiter))]
    if len(lengths) == 1 and len(lines) > 1 and lengths.pop() > 1 and not lines[0][:1].isalpha():
        raise InputError(
            f"{path.name}: the file looks like a fixed-width file, whose columns only its documentation names. "
            "Save it as CSV with a header row, or write the study file by hand with a `layout`; see config/README.md."
        )
    raise InputError(
        f"{path.name}, row 1: the header must have at least two columns, separated by a comma, a semicolon, a tab or "
        "another single character. Save the file as CSV; for a fixed-width file, write the study file by hand with a "
        "`layout`."
    )


def _check_header(path: Path, names: list[str]) -> None:
    numbers = sum(number(name.strip()) is not None for name in names)
    if numbers > len(names) / 2:
        raise InputError(
            f"{path.name}, row 1: the first row must have the names of the columns, but most of its fields are "
            "numbers. Add a header row."
        )
