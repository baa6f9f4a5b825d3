"""The draft of a study of synthetic files (METHODS §8)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from reident.drafting import draft, scan, types
from reident.drafting.filerisk import row_key
from reident.drafting.links import Key
from reident.drafting.profile import DraftColumn, File, profile
from reident.drafting.sheet import Sheet, flow, listed, number, percent, scalar
from reident.drafting.sheet import key as key_value
from reident.drafting.source import Source, describe
from reident.errors import InputError
from reident.intake.keys import positions
from reident.matching.pairing import Pairing, pair, tell
from reident.plausibility.hashing import hashes
from reident.sections.codes import clean
from reident.study.reading import TODO

_MAX_ROWS = 100_000
"""Records that are compared between the files; of more records, those with the smallest hashes of their key."""

_BY_CHANCE = "records agree only by chance, as those of a fully synthetic file do"

_DRAWN_ANEW = "which was probably drawn anew"

_Pairs: TypeAlias = list[tuple[pa.Table, pa.Table]]
"""For each synthetic file, records of the confidential one and those of the same persons."""

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
    compared = [name for name in common if not types.obstacle(file.columns[name])]
    rows = [_sample(source, (), common) for source in sources]
    sizes = [n for _, n in rows]
    by_row = _paired([table for table, _ in rows], [_ROW]) if len(set(sizes)) == 1 else None
    key, pairs = _key(file, sources, common, compared, by_row)
    if not pairs:
        counts = ", ".join(f"{source.name} {rows:,}" for source, rows in zip(sources, sizes, strict=True))
        raise InputError(
            f"{first.name}: without a common key the files must have equally many records ({counts}). Add the key to "
            "every file, or name the files of the same records."
        )
    changed = {name: max(_differing(*pair_, name) for pair_ in pairs) for name in common if name not in key.columns}
    return _written(out, sources, file, key, changed, sizes)


def _key(
    file: File, sources: list[Source], common: list[str], compared: list[str], by_row: _Pairs | None
) -> tuple[Key, _Pairs]:
    """Return the key by which records correspond, beyond chance and the order of rows, and corresponding records."""

    def agreement(pairs: _Pairs) -> list[Pairing]:
        return [pair(a.select(compared).columns, b.select(compared).columns, a.num_rows) for a, b in pairs]

    key = row_key(file)
    columns, rows = key.columns, by_row and agreement(by_row)
    if not columns or not all(set(columns) <= set(source.columns) for source in sources):
        told = bool(rows) and all(one.is_told for one in rows or ())
        reason = "records of all files are in the same order" if told else f"rows are taken to correspond; {_BY_CHANCE}"
        return Key((), (), reason), by_row or []
    compared = [name for name in compared if name not in columns]
    by_key = _paired([_sample(source, columns, common)[0] for source in sources], columns)
    found = {tell(one, rows[at] if rows else None) for at, one in enumerate(agreement(by_key))}
    if "rows" in found and by_row is not None:
        reason = f"records agree row by row, but not by {listed(columns)}, {_DRAWN_ANEW}"
        return Key((), (), reason), by_row
    if "neither" in found:
        return Key((), columns, f"{listed(columns)} is in every file; {_BY_CHANCE}"), by_key
    return key, by_key


def _sample(source: Source, key: Sequence[str], common: list[str]) -> tuple[pa.Table, int]:
    """Return records of a file with the smallest hashes of their key, or of their row number, and the number of all."""
    kept: list[pa.Table] = []
    n = 0
    limit = np.uint64(2**64 - 1)
    columns = list(dict.fromkeys([*key, *common]))
    for batch in scan.batches(source, columns):
        numbers = pa.array(range(n, n + batch.num_rows)).cast(pa.string())
        n += batch.num_rows
        named = [batch.column(name) for name in key] or [numbers]
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


def _paired(tables: Sequence[pa.Table], names: Sequence[str]) -> _Pairs:
    """Return the records of the first file that each other one has too, beside those of that."""
    first, pairs = tables[0], []
    for table in tables[1:]:
        rows = positions(table, names, first, names)
        pairs.append((first.filter(pa.array(rows >= 0)), table.take(pa.array(rows[rows >= 0]))))
    return pairs


def _differing(first: pa.Table, other: pa.Table, name: str) -> float:
    """Return the share of the records whose value differs between the two files."""
    if not first.num_rows:
        return 1.0
    before, after = first[name].combine_chunks(), other[name].combine_chunks()
    differ = pc.not_equal(before, after)
    if not pc.any(differ).as_py():
        return 0.0
    pairs = zip(before.filter(differ).to_pylist(), after.filter(differ).to_pylist(), strict=True)
    return sum(clean(a) != clean(b) for a, b in pairs) / len(before)


def _written(
    out: Path, sources: list[Source], file: File, key: Key, changed: dict[str, float], sizes: list[int]
) -> tuple[str, list[str]]:
    usable = {name: share for name, share in changed.items() if not types.obstacle(file.columns[name])}
    synthesized = [name for name, share in usable.items() if share]
    unchanged = [name for name, share in usable.items() if not share]
    if not synthesized and key.reason.endswith(_DRAWN_ANEW):  # a copy all the same
        synthesized, unchanged = unchanged, []
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
    elif key.linked:
        sheet.add(f"    id: {TODO}", f"{key.reason}; write it, or remove the line if rows correspond by order")
    sheet.end_block()
    if not key.columns and not key.linked:
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
        *([] if key.columns else [f"Without a key: {key.reason}"]),
    ]


def _variables(sheet: Sheet, key: str, columns: list[DraftColumn], shares: dict[str, float]) -> None:
    if not columns:
        sheet.add(f"  {key}: {flow([])}", "every column differs in some record")
        sheet.gap()
        return
    sheet.add(f"  {key}:")
    for column in columns:
        missing = draft.missing(column, types.kind([column]).kind)
        share = shares.get(column.name)
        differ = "" if share is None else f"{percent(share)} of the compared records differ"
        if missing.codes or missing.todo:
            text = f"    - {{name: {scalar(column.name)}, missing: {draft.value_of(missing)}}}"
            sheet.add(text, "; ".join(filter(None, (differ, missing.reason))))
        else:
            sheet.add(f"    - {scalar(column.name)}", differ)
    sheet.gap()
