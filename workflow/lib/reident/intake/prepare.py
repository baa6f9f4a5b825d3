"""Typing the three source files by the study: keys, missing codes, recodes, links, row account (METHODS §1).

The prepared tables are in canonical order (sorted by key, part by part, by code point),
so that nothing after this step depends on the order of rows in the sources.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident import reading
from reident.errors import InputError
from reident.intake import keys
from reident.intake import warnings as doubts
from reident.intake.account import Account
from reident.intake.parts import Preparing
from reident.intake.values import Place, typed
from reident.sections.files import RecordFile
from reident.sections.linkage import Column


class Prepared(NamedTuple):
    """The three typed tables, the row account, and sentences that the analyst should read."""

    puf: pa.Table
    eif: pa.Table
    iuf: pa.Table
    account: pd.DataFrame
    warnings: pd.DataFrame


def read_source(part: Preparing, side: str, path: Path) -> pa.Table:
    """Return the text of what the study needs of a source file."""
    return reading.read(path, part.file(side), part.columns_of(side), part.keys_of(side))


def prepare(part: Preparing, puf: pa.Table, eif: pa.Table, iuf: pa.Table) -> Prepared:
    """Type the records and links of a study.

    Parameters
    ----------
    part : Preparing
    puf, eif, iuf : pyarrow.Table
        The text of each source file, at least its :meth:`Preparing.columns_of`.

    Returns
    -------
    Prepared
        ``puf`` and ``eif``: key columns (text), strata variables (text), linking variables by their
        study names (categorical: text, numeric: float64), null where missing. ``iuf``: the key
        columns of both, each link once. All sorted by key.

    Raises
    ------
    InputError
        A repeated or empty key, a value that is not a number, a code outside the declared order,
        no code in common, a link to an unknown record beyond the tolerance.
    """
    account = Account("prepare")
    sides = {side: _records(part, side, table, account) for side, table in (("puf", puf), ("eif", eif))}
    warnings = doubts.of_keys(part, puf, eif, iuf)
    warnings += doubts.of_missing_codes(part, puf, eif)
    warnings += doubts.of_unused_codes(part, puf, eif)
    warnings += doubts.of_values(part, sides["puf"], sides["eif"])
    links = _links(part, iuf, sides, account)
    if not links.num_rows:
        warnings.append(
            f"{part.file_name('iuf')}: no link joins records of the two files. Nothing can be confirmed. "
            "Check the keys."
        )
    return Prepared(
        sides["puf"], sides["eif"], links, account.table(), pd.DataFrame({"warning": warnings}, dtype=str)
    )


def _records(part: Preparing, side: str, text: pa.Table, account: Account) -> pa.Table:
    source: RecordFile = getattr(part.files, side)
    names = part.files.keys[side]
    file = part.file_name(side)
    if text.num_rows == 0:
        raise InputError(f"{file}: the file has a header and no records. Check the export.")
    code = keys.check(text, source.id, file, source.first_row)
    data = {name: text[part] for name, part in zip(names, source.id, strict=True)}
    for column in part.columns:
        data[column.name] = _typed(column, side, source, text)
    account.open(side, text.num_rows).close(side)
    return pa.table(data).take(np.argsort(code, kind="stable"))


def _typed(column: Column, side: str, source: RecordFile, text: pa.Table) -> pa.Array:
    """One variable of one file, typed; null where missing."""
    name = getattr(column, side)
    place = Place(source.path.rsplit("/", 1)[-1], name, column.name, source.first_row)
    return typed(text[name], column.coding(side, source.decimal), place)


def _links(part: Preparing, iuf: pa.Table, sides: dict[str, pa.Table], account: Account) -> pa.Table:
    """The distinct links between known records; unknown ones only within the declared tolerance."""
    source, file, key = part.files.iuf, part.file_name("iuf"), part.files.keys
    names = [*key["puf"], *key["eif"]]
    links = pa.table(
        dict(zip(names, (iuf[part] for part in (*source.puf_id, *source.eif_id)), strict=True)),
        schema=pa.schema([(name, pa.string()) for name in names]),
    )
    unknown = np.zeros(links.num_rows, bool)
    first: tuple[int, str] | None = None
    for side in ("puf", "eif"):
        known, asked = keys.codes([sides[side], links], [key[side]] * 2)
        lost = ~np.isin(asked, known)
        if lost.any() and (first is None or int(lost.argmax()) < first[0]):
            first = (int(lost.argmax()), side)
        unknown |= lost
    if first is not None and unknown.sum() > source.unknown_links_at_most:
        raise InputError(
            f"{file}, row {first[0] + source.first_row}: the link names a record that is not in "
            f"{part.file_name(first[1])} ({unknown.sum():,} such links). Correct the links, or "
            "allow them by `unknown_links_at_most`."
        )
    code = keys.codes([links], [names])[0]
    order = np.argsort(code, kind="stable")
    order = order[~unknown[order]]
    new = np.ones(len(order), bool)
    new[1:] = code[order][1:] != code[order][:-1]
    lines = account.open("iuf", links.num_rows)
    lines.leave("link to an unknown record", int(unknown.sum()))
    lines.leave("exact repeat of a link", int((~new).sum()))
    lines.close("iuf", int(new.sum()))
    return links.take(order[new])
