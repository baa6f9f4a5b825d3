"""The draft of a study of the risk of one file (METHODS §7)."""

from __future__ import annotations

from pathlib import Path

from reident.drafting import dates, draft, links, names, types
from reident.drafting.links import Key
from reident.drafting.profile import DraftColumn, File, profile
from reident.drafting.sheet import Sheet, scalar
from reident.drafting.sheet import key as key_value
from reident.drafting.source import describe
from reident.errors import InputError
from reident.filerisk.section import MAX_KEY_VARIABLES
from reident.filerisk.section import RESERVED as RISK_NAMES
from reident.sections.days import ISO
from reident.study.reading import TODO

_MANY = 10
"""With more key variables than this, the search for uniques is limited to sets of three."""


def make(path: Path, out: Path) -> tuple[str, list[str]]:
    """Return the draft of a study of one file, and sentences about it for the terminal."""
    file = profile(describe(path, out))
    key = row_key(file)
    weight = _weight(file)
    columns = [
        column
        for column in file.columns.values()
        if column.name not in key.columns and column is not weight and not types.obstacle(column) and column.levels != 1
    ]
    if not columns:
        raise InputError(
            f"{file.name}: no column has categories or numbers that several records share. Check that this is the file."
        )
    sheet = Sheet()
    draft.head(sheet, out, [file.source], "A study of the risk of one file")
    sheet.add("file_risk:")
    sheet.end_block()
    sheet.add("  file:")
    draft.file(sheet, "    ", file.source, file.records)
    if key.columns:
        sheet.add(f"    id: {key_value(key.columns)}", key.reason)
    elif key.reason:
        sheet.end_block()
        sheet.remark(f"Without `id` a record is identified by its row number: {key.reason}.", 4)
    sheet.end_block()
    if weight is not None:
        sheet.add(f"  weight: {scalar(weight.name)}", "its name is that of a survey weight; f is 1 divided by the mean")
    else:
        sheet.add(f"  sampling_fraction: {TODO}", "the share of the population in the file, such as 0.02")
    if len(columns) > _MANY:
        sheet.add("  max_order: 3", f"{len(columns)} key variables; remove it to search sets of any size")
    sheet.gap()
    _key_variables(sheet, columns[:MAX_KEY_VARIABLES], key)
    rest = [
        name
        for name in file.columns
        if name not in {*key.columns, *(column.name for column in columns[:MAX_KEY_VARIABLES])}
    ]
    draft.remaining(sheet, file, [name for name in rest if weight is None or name != weight.name], 2)
    draft.unreadable(sheet, file.source, 2)
    sheet.gap()
    sheet.add("# decision: {k_anonymity_at_least: 3}", draft.LIMIT)
    return sheet.text(), [
        draft.described(file, key.columns, "the row number"),
        f"{min(len(columns), MAX_KEY_VARIABLES)} key variables",
    ]


def row_key(file: File) -> Key:
    """Return the key of a file that may do without one: empty, with the reason, if none is certain."""
    try:
        return links.alone(file)
    except InputError:
        return Key((), (), "no column identifies a record")


def _weight(file: File) -> DraftColumn | None:
    """Return the column of survey weights: positive numbers, a mean above 1, and the name of a weight."""
    for column in file.columns.values():
        numbers = column.sample
        complete = column.is_numeric and column.valid == column.records
        if names.names_weight(column.name) and complete and numbers[0] > 0 and numbers.mean() > 1:
            return column
    return None


def _key_variables(sheet: Sheet, columns: list[DraftColumn], key: Key) -> None:
    sheet.remark("What an intruder may know of a person. Remove what nobody outside can know.", 2)
    sheet.add("  key_variables:")
    taken = {*key.columns, *RISK_NAMES}
    for column in columns:
        name = draft.free_name(column.name, taken)
        taken.add(name)
        kind = types.kind([column])
        missing = draft.missing(column, kind.kind)
        sheet.end_block()
        sheet.add(f"    - name: {scalar(name)}")
        if name != column.name:
            sheet.add(f"      column: {scalar(column.name)}")
        sheet.add(f"      type: {kind.kind}", kind.reason)
        if kind.kind == "date":
            if (form := draft.date_format(column.dates)) != ISO:
                sheet.add(f"      format: {form}", draft.about_formats(column.dates))
            if dates.has_short_year(column.dates):
                sheet.add(f"      latest_year: {TODO}", draft.LATEST_YEAR)
        if missing.codes or missing.todo:
            certain = f" (certain: {draft.code_list(missing.codes)})" if missing.todo else ""
            sheet.add(f"      missing: {draft.value_of(missing)}", f"{missing.reason}{certain}")
    sheet.gap()
