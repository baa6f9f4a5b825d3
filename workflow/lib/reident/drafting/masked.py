"""The draft of a study of a file that is to be micro-aggregated (METHODS §9)."""

from __future__ import annotations

from pathlib import Path

from reident.drafting import draft, filerisk, types
from reident.drafting.profile import profile
from reident.drafting.sheet import Sheet, code_list, flow, scalar
from reident.drafting.sheet import key as key_value
from reident.drafting.source import describe
from reident.errors import InputError
from reident.microaggregation.section import PUFID
from reident.study.reading import TODO


def make(path: Path, out: Path) -> tuple[str, list[str]]:
    """Return the draft of a study of a file that is micro-aggregated, and sentences about it for the terminal."""
    source = describe(path, out)
    if source.decimal != ".":
        raise InputError(
            f"{path.name}: the numbers have decimal commas, which a masked file cannot have. Save the file with "
            "decimal points."
        )
    if source.grouped:
        raise InputError(
            f"{path.name}: the numbers have their thousands apart, which a masked file cannot have. Save the file "
            "without separators of thousands."
        )
    if PUFID in source.columns:
        raise InputError(
            f"{path.name}: `{PUFID}` must not be a column, because it is the key of the masked file. Rename the column."
        )
    file = profile(source)
    key = filerisk.row_key(file)
    kinds = {column.name: types.kind([column]) for column in file.columns.values() if column.name not in key.columns}
    weights = {column.name for column in filerisk.weights_of(file)}
    numeric = [name for name, kind in kinds.items() if kind.kind == "numeric" and name not in {"row", *weights}]
    if not numeric:
        raise InputError(
            f"{path.name}: no column has amounts, which could be micro-aggregated. Check the file and its decimal "
            "separator."
        )
    missing = list(dict.fromkeys(code for name in numeric for code in file.columns[name].missing))
    sheet = Sheet()
    draft.head(sheet, out, [source], "A study of micro-aggregation")
    sheet.add("microaggregate:")
    sheet.end_block()
    draft.file(sheet, "  ", source, file.records)
    if key.columns:
        sheet.add(f"  id: {key_value(key.columns)}", key.reason)
    sheet.end_block()
    sheet.add(f"  variables: {flow(numeric)}", "every column of amounts; the others are not masked")
    if missing:
        counts = [
            f"{code or 'an empty cell'} in {sum(file.columns[name].missing.get(code, 0) for name in numeric):,} values"
            for code in missing
        ]
        sheet.add(f"  missing: {code_list(missing)}", ", ".join(counts))
    sheet.add("  k: 3", "the size of the groups")
    sheet.gap()
    sheet.add("linking_variables:")
    for name in numeric:
        taken = {*key.columns, PUFID, "row"}
        chosen = draft.free_name(name, taken)
        sheet.end_block()
        sheet.add(f"  - name: {scalar(chosen)}")
        if chosen != name:
            sheet.add(f"    puf: {scalar(name)}")
            sheet.add(f"    eif: {scalar(name)}")
        sheet.add("    type: numeric", kinds[name].reason)
        if missing:
            sheet.add(f"    missing: {code_list(missing)}")
    open_ = [name for name, kind in kinds.items() if kind.kind == TODO]
    sheet.gap()
    draft.remaining(sheet, file, [name for name in kinds if name not in numeric])
    if open_:
        sheet.remark(
            f"Perhaps amounts, perhaps codes: {', '.join(open_)}. Add them to `variables` if they are amounts."
        )
    draft.unreadable(sheet, source, 0)
    sheet.gap()
    sheet.add("metrics: {winkler: {}, taxicab: {}, euclidean: {}}", "Winkler's metric is made for such files")
    sheet.add("# decision: {conditional_rate_at_most: 0.05}", draft.LIMIT)
    return sheet.text(), [
        draft.described(file, key.columns, "the row number"),
        f"{len(numeric)} columns to be micro-aggregated",
    ]
