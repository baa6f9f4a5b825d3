"""The common content of all kinds of drafts: the head, the description of a file, and a variable (config/README.md)."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reident.drafting import codes, dates, types
from reident.drafting.profile import DraftColumn, File
from reident.drafting.sheet import Sheet, code_list, listed, number, scalar
from reident.drafting.source import Source
from reident.intake.severity import MATERIAL, MIN_RECORDS
from reident.intake.undeclared import DISTORTS, MISSING_WORDS, NumberCounts, look_missing, look_missing_dates
from reident.sections.codes import number as value_of_number
from reident.sections.columns import RESERVED
from reident.study.reading import TODO

_SCHEMA = Path(__file__).parents[3] / "schemas" / "study.schema.json"

LATEST_YEAR = "the latest year that two digits may mean"
LIMIT = "the limit of the verdict is yours to decide; without it there is none. `set_by` and `set_on` say whose it is"


def head(sheet: Sheet, out: Path, sources: Sequence[Source], what: str) -> None:
    """Begin a draft: its origin, instructions, id and title."""
    schema = os.path.relpath(_SCHEMA, out.parent)
    sheet.remark(f"yaml-language-server: $schema={Path(schema).as_posix()}")
    sheet.remark("")
    sheet.remark(f"{what}, drafted by `reident init` from {', '.join(source.name for source in sources)}.")
    sheet.remark(
        "Every guess has its reason beside it. Check them, and replace each TODO: a study does not run while one is "
        "left. config/README.md describes every key."
    )
    sheet.gap()
    name = study_id(out)
    sheet.add(f"id: {name}", "the name of the folders with the results and the report")
    sheet.add("# title:", "of the report")
    sheet.add("# agency:", "that releases the file")
    sheet.add("# date:", "of the report, YYYY-MM-DD")
    sheet.gap()


def described(file: File, key: Sequence[str], keyless: str) -> str:
    """Return the description of a file for the terminal; `keyless` in place of a key without columns."""
    columns = ", ".join(key) if key else keyless
    return f"{file.name}: {file.records:,} records, {len(file.columns):,} columns, key {columns}"


def study_id(out: Path) -> str:
    """Return an id for a study: the name of its file, or of the folder of a file that is called `study`."""
    stem = out.stem if out.stem.casefold() not in {"study", "draft"} else out.resolve().parent.name
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:80] or "study"


def file(sheet: Sheet, indent: str, source: Source, records: int) -> None:
    """Add the path and the options of a file, each with its reason."""
    sheet.add(
        f"{indent}path: {scalar(source.described.path)}",
        f"{number(records, 'record')}, {number(len(source.columns), 'column')}",
    )
    for name, value in source.options.items():
        sheet.add(f"{indent}{name}: {value if value == TODO else scalar(value)}", source.reasons[name])


def unreadable(sheet: Sheet, source: Source, indent: int) -> None:
    """List the columns that cannot be read, with reasons."""
    for name, reason in source.refused.items():
        sheet.remark(f"Column `{name}` is left out: {reason}.", indent)


class Missing(NamedTuple):
    """The missing codes of one column, with the reason; `todo` if some must be decided.

    `values` are codes that look like missing ones to a run, and are values.
    """

    codes: tuple[str, ...]
    todo: bool
    reason: str
    values: tuple[str, ...] = ()


def missing(column: DraftColumn, kind: str, extra: Sequence[str] = (), values: Collection[str] = ()) -> Missing:
    """Return the missing codes of one column of a variable of a type.

    Codes that look like missing ones are `extra` if they have no counterpart in the other file, and `values` if they
    are values.
    """
    certain_codes = {**column.missing, **{code: column.values[code] for code in extra}}
    certain = ", ".join(f"{_word(code)} in {number(rows, 'record')}" for code, rows in certain_codes.items())
    if named := [code for code in certain_codes if column.declared(code)]:
        certain += f" ({', '.join(map(_word, named))}: declared or labelled as missing by the file itself)"
    if extra:
        certain += f" ({', '.join(map(_word, extra))}: without a counterpart)"
    what = [certain] if certain else []
    if kind == "date":
        return _missing_dates(column, certain_codes, what)
    numeric = kind == "numeric"
    points = {code: codes.with_point(code, column.decimal) for code in column.values if code not in certain_codes}
    told = _warned({text: column.values[code] for code, text in points.items()}, numeric=kind != "categorical")
    uncertain = {} if numeric else codes.uncertain({points[code]: column.values[code] for code in points})
    showable = types.codes_to_show(column)
    looks = {
        code: column.values[code]
        for code, text in points.items()
        if text in told or (text in uncertain and code in showable)
    }
    what += [
        f"{_word(code)} in {number(rows, 'record')} is a value: it has a counterpart"
        for code, rows in looks.items()
        if code in values
    ]
    doubtful = {code: rows for code, rows in looks.items() if code not in values}
    rows = sum(doubtful.values())
    distorted = numeric and _distorted(points, column, doubtful)
    if doubtful:
        what.append(f"{_doubtful(doubtful)} in {number(rows, 'record')} may mean missing")
    warned = {code for code in looks if points[code] in told}
    todo = rows > MATERIAL * column.records or distorted or bool(warned & set(doubtful))
    return Missing(tuple(certain_codes), todo, "; ".join(what), tuple(sorted(warned & set(values))))


def _doubtful(codes_: Mapping[str, int]) -> str:
    """Return codes that may mean missing by name, and the number of those that may be the value of a person."""
    named = [code for code, rows in codes_.items() if rows >= MIN_RECORDS or code.startswith("-") or _is_word(code)]
    hidden = len(codes_) - len(named)
    return ", ".join([*map(_word, named), *([number(hidden, "number") + " of few records"] if hidden else [])])


def _is_word(code: str) -> bool:
    return code.casefold() in MISSING_WORDS


def _warned(counts: Mapping[str, int], *, numeric: bool) -> set[str]:
    """Return the codes of which a run warns that they look like missing ones, from the records of each."""
    typed: dict[str, str | float | None] = {code: value_of_number(code) if numeric else code for code in counts}
    records = Counter[str | float]()
    for code, value in typed.items():
        if value is not None:
            records[value] += counts[code]
    looks = look_missing(records)
    return {code for code, value in typed.items() if value in looks}


def _missing_dates(column: DraftColumn, certain: Mapping[str, int], what: list[str]) -> Missing:
    """Return the missing codes of a column of dates: other texts, and days such as 9999-12-31, may mean missing."""
    days = {code: dates.number(code, column.dates[0]) for code in column.values if code not in certain}
    looks = look_missing_dates({day: column.values[code] for code, day in days.items() if day is not None})
    doubtful = {code: column.values[code] for code, day in days.items() if day is None or day in looks}
    rows = sum(doubtful.values())
    if rows:
        named = [code for code, n in doubtful.items() if n >= MIN_RECORDS or days[code] is not None]
        names = f": {', '.join(named)}" if named else ""
        what.append(f"{number(rows, 'value')} may mean missing, or {'is' if rows == 1 else 'are'} no valid date{names}")
    wrong = any(day is None for day in days.values())
    todo = wrong or bool(looks) or rows > MATERIAL * column.records
    return Missing(tuple(certain), todo, "; ".join(what))


def date_format(formats: Sequence[str]) -> str:
    """Return the format of a column of dates as YAML, or a TODO where several are possible."""
    return scalar(formats[0]) if len(formats) == 1 else TODO


def about_formats(*columns: Sequence[str]) -> str:
    """Return what is to be decided of the formats of columns of dates; empty if nothing is."""
    unsure = next((formats for formats in columns if len(formats) > 1), ())
    return f"days and months may be exchanged: write {' or '.join(unsure)}" if unsure else ""


def _distorted(points: Mapping[str, str], column: DraftColumn, doubtful: Collection[str]) -> bool:
    """Whether some of the numbers distort the standard deviation, however few they are."""
    numbers, rows = {code: value_of_number(text) for code, text in points.items()}, column.values
    some = [code for code, value in numbers.items() if value is not None]
    counts = NumberCounts()
    counts.add(np.array([numbers[code] for code in some], float), np.array([rows[code] for code in some], np.int64))
    return counts.distortion([value for code in doubtful if (value := numbers[code]) is not None]) > DISTORTS


def _word(code: str) -> str:
    return code or "an empty cell"


def value_of(missing: Missing) -> str:
    """Return missing codes as YAML, or a TODO."""
    return TODO if missing.todo else code_list(missing.codes)


def free_name(name: str, taken: Mapping[str, object] | set[str]) -> str:
    """Return the name of a variable that no key column, other variable or result column has."""
    while name in taken or name in RESERVED or name.startswith(TODO):
        name = f"{name}_value" if not name.startswith(TODO) else f"column {name}"
    return name


def remaining(sheet: Sheet, file_: File, columns: Sequence[str], indent: int = 0, other: File | None = None) -> None:
    """List the columns of a file that the draft does not use; with another file to compare with, each has a reason."""
    reasons: dict[str, list[str]] = {}
    for name in columns:
        same = [file.columns[name] for file in (file_, other) if file is not None and name in file.columns]
        reason = next(filter(None, map(types.obstacle, same)), "no counterpart" if other else "")
        reasons.setdefault(reason, []).append(name)
    if reasons:
        groups = (listed(names) + (f" ({reason})" if reason else "") for reason, names in reasons.items())
        sheet.remark(f"Not used of {file_.name}: {', '.join(groups)}.", indent)
