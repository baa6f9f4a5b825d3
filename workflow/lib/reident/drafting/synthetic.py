"""The draft of a study of synthetic files (METHODS §8)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.drafting import draft, scan, types
from reident.drafting.filerisk import row_key
from reident.drafting.links import Key
from reident.drafting.profile import DraftColumn, File, profile
from reident.drafting.sheet import Sheet, flow, number, percent, scalar
from reident.drafting.sheet import key as key_value
from reident.drafting.source import Source, describe
from reident.errors import InputError
from reident.intake.keys import positions
from reident.plausibility.hashing import hashes
from reident.sections.codes import clean
from reident.study.reading import TODO

_MAX_ROWS = 100_000
"""Records that are compared between the files; of more records, those with the smallest hashes of their key."""

_ROW, _HASH = "\0row", "\0hash"
"""The names of the row number and of the hash; no column has them."""


def make(confidential: Path, synthetic: list[Path], out: Path) -> tuple[str, list[str]]:
    """Return the draft of a study of synthetic files, and sentences about them for the terminal."""
    sources = [describe(path, out) for path in (confidential, *synthetic)]
    first, *others = sources
    common = [name for name in first.columns if all(name in other.columns for other in others)]
    if not common:
        raise InputError(
            f"{first.name} and {others[0].name}: no column has the same name in all files. Name the columns alike."
        )
    file = profile(first)
    key = _key(file, sources)
    tables = [_sample(source, key, common) for source in sources]
    sizes = [rows for _, rows in tables]
    if not key.columns and len(set(sizes)) > 1:
        counts = ", ".join(f"{source.name} {rows:,}" for source, rows in zip(sources, sizes, strict=True))
        raise InputError(
            f"{first.name}: without a common key the files must have equally many records ({counts}). Add the key to "
            "every file, or name the files of the same records."
        )
    names = list(key.columns) or [_ROW]
    rows = [positions(table, names, tables[0][0], names) for table, _ in tables[1:]]
    changed = {
        name: max(
            _differing(tables[0][0], table, matches, name) for (table, _), matches in zip(tables[1:], rows, strict=True)
        )
        for name in common
        if name not in key.columns
    }
    return _written(out, sources, file, key, changed, sizes)


def _key(file: File, sources: list[Source]) -> Key:
    key = row_key(file)
    everywhere = key.columns and all(set(key.columns) <= set(source.columns) for source in sources)
    if everywhere:
        return key
    return Key((), (), "records of all files are in the same order")


def _sample(source: Source, key: Key, common: list[str]) -> tuple[pa.Table, int]:
    """Return records of a file with the smallest hashes of their key, or of their row number, and the number of all."""
    kept: list[pa.Table] = []
    n = 0
    limit = np.uint64(2**64 - 1)
    columns = list(dict.fromkeys([*key.columns, *common]))
    for batch in scan.batches(source, columns):
        numbers = pa.array(range(n, n + batch.num_rows)).cast(pa.string())
        n += batch.num_rows
        named = [batch.column(name) for name in key.columns] or [numbers]
        hashed = hashes(named)
        table = pa.Table.from_batches([batch]).append_column(_ROW, numbers)
        table = table.append_column(_HASH, pa.array(hashed)).filter(pa.array(hashed <= limit))
        kept.append(table)
        if sum(part.num_rows for part in kept) > 2 * _MAX_ROWS:
            kept = [_smallest(kept)]
            limit = np.uint64(kept[0][_HASH][-1].as_py())
    return _smallest(kept), n


def _smallest(tables: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).sort_by(_HASH).slice(0, _MAX_ROWS)


def _differing(first: pa.Table, other: pa.Table, rows: np.ndarray, name: str) -> float:
    """Return the share of the records whose value differs between the two files."""
    present = rows >= 0
    if not present.any():
        return 1.0
    before = first[name].filter(pa.array(present)).combine_chunks()
    after = other[name].take(pa.array(rows[present])).combine_chunks()
    differ = pc.not_equal(before, after)
    if not pc.any(differ).as_py():
        return 0.0
    pairs = zip(before.filter(differ).to_pylist(), after.filter(differ).to_pylist(), strict=True)
    return sum(clean(a) != clean(b) for a, b in pairs) / len(before)


def _written(
    out: Path, sources: list[Source], file: File, key: Key, changed: dict[str, float], sizes: list[int]
) -> tuple[str, list[str]]:
    usable = {name: share for name, share in changed.items() if not types.is_text(file.columns[name])}
    synthesized = [name for name, share in usable.items() if share]
    unchanged = [name for name, share in usable.items() if not share]
    if not synthesized:
        raise InputError(
            f"{sources[0].name}: no column differs between the confidential file and the synthetic files. Check that "
            "these are the files."
        )
    sheet = Sheet()
    draft.head(sheet, out, sources, "A study of synthetic files")
    sheet.add("matching:")
    sheet.end_block()
    sheet.add("  confidential:")
    draft.file(sheet, "    ", sources[0], sizes[0])
    if key.columns:
        sheet.add(f"    id: {key_value(key.columns)}", f"{key.reason}, and in every file")
    sheet.end_block()
    if not key.columns:
        sheet.remark(f"Without `id`, the {key.reason}.", 4)
    sheet.add("  synthetic:")
    for source, size in zip(sources[1:], sizes[1:], strict=True):
        sheet.end_block()
        options = {"path": source.described.path, **source.options}
        inner = ", ".join(f"{name}: {scalar(value)}" for name, value in options.items())
        sheet.add(f"    - {{{inner}}}", f"{size:,} records")
    sheet.gap()
    sheet.remark(
        "What the intruder knows and what is released unchanged: the same in all files. Remove what nobody can know.", 2
    )
    _variables(sheet, "known", [file.columns[name] for name in unchanged], {})
    sheet.remark("What is synthesized, and whose true value the intruder knows.", 2)
    _variables(sheet, "synthesized", [file.columns[name] for name in synthesized], usable)
    numeric = [name for name in (*unchanged, *synthesized) if types.kind([file.columns[name]]).kind == "numeric"]
    if numeric:
        sheet.remark(
            "The largest difference of two numbers that are equal. Without a radius, numbers are compared as codes.", 2
        )
        sheet.add("  radius:")
        for name in numeric:
            sheet.add(
                f"    {scalar(name)}: {TODO}", "such as {relative: 0.1} or {absolute: 1}; remove the line for codes"
            )
        sheet.gap()
    draft.remaining(sheet, file, [name for name in file.columns if name not in {*key.columns, *usable}], 2)
    draft.unreadable(sheet, file.source, 2)
    sheet.gap()
    sheet.add("# decision: {true_match_rate_at_most: 0.005}", draft.LIMIT)
    return sheet.text(), [
        f"{sources[0].name}: {sizes[0]:,} records, {number(len(sources) - 1, 'synthetic file')}",
        f"{len(unchanged)} known variables, {len(synthesized)} synthesized",
    ]


def _variables(sheet: Sheet, key: str, columns: list[DraftColumn], shares: dict[str, float]) -> None:
    if not columns:
        sheet.add(f"  {key}: {flow([])}", "every column differs in some record")
        sheet.gap()
        return
    sheet.add(f"  {key}:")
    for column in columns:
        missing = draft.missing(column, types.kind([column]).kind)
        differ = f"{percent(shares[column.name])} of the compared records differ" if column.name in shares else ""
        if missing.codes or missing.todo:
            text = f"    - {{name: {scalar(column.name)}, missing: {draft.value_of(missing)}}}"
            sheet.add(text, "; ".join(filter(None, (differ, missing.reason))))
        else:
            sheet.add(f"    - {scalar(column.name)}", differ)
    sheet.gap()
