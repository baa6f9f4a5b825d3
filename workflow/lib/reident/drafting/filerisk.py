"""The draft of a study of the risk of one file (METHODS §7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reident.drafting import dates, draft, grouping, links, names, types
from reident.drafting.links import Key
from reident.drafting.profile import DraftColumn, File, profile
from reident.drafting.sheet import Sheet, listed, scalar
from reident.drafting.sheet import key as key_value
from reident.drafting.source import describe
from reident.errors import InputError
from reident.filerisk.prepare import implausible
from reident.filerisk.section import MAX_KEY_VARIABLES
from reident.filerisk.section import RESERVED as RISK_NAMES
from reident.plausibility.grouping import names_units
from reident.sections.days import ISO
from reident.study.reading import TODO

MIN_MEAN = 1.05
"""The mean of weights from which they count people; those of about 1 are scaled to the file."""

_MANY = 10
"""With more key variables than this, the search for uniques is limited to sets of three."""


def make(path: Path, out: Path) -> tuple[str, list[str]]:
    """Return the draft of a study of one file, and sentences about it for the terminal."""
    file = profile(describe(path, out))
    key = row_key(file)
    weights = weights_of(file)
    weight = next(filter(_expands, weights), None)
    units = _units(file, key)
    taken = {*key.columns, units, *(column.name for column in weights)}
    columns = [
        column
        for column in file.columns.values()
        if column.name not in taken and not types.obstacle(column) and column.levels != 1
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
    else:
        sheet.end_block()
        sheet.remark(f"Without `id` a record is identified by its row number: {key.reason}.", 4)
    sheet.end_block()
    if units:
        sheet.add(f"  units: {scalar(units)}", "its rows belong together; remove the line to measure records alone")
    _fraction(sheet, file, weight, weights)
    if len(columns) > _MANY:
        sheet.add("  max_order: 3", f"{len(columns)} key variables; remove it to search sets of any size")
    sheet.gap()
    _key_variables(sheet, columns[:MAX_KEY_VARIABLES], key)
    taken |= {column.name for column in columns[:MAX_KEY_VARIABLES]}
    draft.remaining(sheet, file, [name for name in file.columns if name not in taken], 2)
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
        key = links.alone(file)
    except InputError:
        key = Key((), (), "no column identifies a record")
    return Key((), (), f"`{key.columns[0]}` repeats: {key.reason}") if key.repeats else key


def _units(file: File, key: Key) -> str:
    """Return the column that groups the rows of households or persons; empty if there is none."""
    for column in file.columns.values():
        if names_units(column.name) and column.name not in key.columns and grouping.is_small(column):
            return column.name
    return ""


def weights_of(file: File) -> list[DraftColumn]:
    """Return the columns of survey weights, by name and look: no number is negative or missing."""
    return [
        column
        for column in file.columns.values()
        if names.names_weight(column.name) and not names.names_own_weight(column.name, file.columns)
        if column.is_numeric and column.valid == column.records and column.sample[0] >= 0 and column.sample.mean() > 0
    ]


def _expands(column: DraftColumn) -> bool:
    """Return whether weights count people: those of mean 1 do not, whatever their unit."""
    return bool(column.sample.mean() > MIN_MEAN) and not implausible(column.sample)


def _fraction(sheet: Sheet, file: File, weight: DraftColumn | None, weights: Sequence[DraftColumn]) -> None:
    """Add where the sampling fraction comes from, and the weights that it does not come from."""
    if weight is not None:
        variation = round(100 * weight.sample.std() / weight.sample.mean())
        people = round(weight.sample.mean() * file.records)
        sheet.add(
            f"  weight: {scalar(weight.name)}",
            f"its name is that of a survey weight, by which the file stands for {people:,} people; f is 1 divided by "
            f"the mean. Weights vary by {variation} %, and DIS assumes that they do not",
        )
    else:
        reason = "the share of the population in the file, such as 0.02"
        if weights:
            reason += f"; {listed([column.name for column in weights])} cannot tell it, as weights of mean 1 cannot"
        sheet.add(f"  sampling_fraction: {TODO}", reason)
    if others := [column.name for column in weights if column is not weight]:
        sheet.remark(f"Weights are no key variables: {listed(others)}.", 2)


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
