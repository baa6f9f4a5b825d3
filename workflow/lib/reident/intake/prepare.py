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
from reident.intake import keys, severity, warnings
from reident.intake.account import Account
from reident.intake.coarsening import coarsen
from reident.intake.parts import Preparing
from reident.intake.undeclared import Sides
from reident.intake.values import Place, typed
from reident.sections.files import RecordFile
from reident.sections.linkage import Column, LinkingVariable


class Prepared(NamedTuple):
    """The three typed tables, the clusters, the row account, and sentences that the analyst should read."""

    puf: pa.Table
    eif: pa.Table
    iuf: pa.Table
    clusters: pa.Table
    account: pd.DataFrame
    warnings: pd.DataFrame


def read_source(part: Preparing, side: str, path: Path) -> pa.Table:
    """Return the text of what the study needs of a source file."""
    return reading.read(path, part.file(side), part.columns_of(side), part.keys_of(side))


def prepare(
    part: Preparing, puf: pa.Table, eif: pa.Table, iuf: pa.Table, original: pa.Table | None = None
) -> Prepared:
    """Type the records and links of a study.

    Parameters
    ----------
    part : Preparing
    puf, eif, iuf, original : pyarrow.Table
        The text of each source file, at least its :meth:`Preparing.columns_of`.

    Returns
    -------
    Prepared
        ``puf`` and ``eif``: key columns (text), strata variables (text), linking variables by their
        study names (categorical: text, numeric: float64), null where missing, sorted by key.
        ``iuf``: the row numbers of both records of each link in these tables (puf, eif: int32), sorted,
        each link once. ``clusters``: the number of the cluster of each PUF record (cluster: int64); no rows
        without cluster columns.

    Raises
    ------
    InputError
        A repeated or empty key, a value that is not a number, a code outside the declared order,
        no code in common, a link to an unknown record beyond the tolerance, a file before protection with other
        keys than the PUF.
    """
    account = Account("prepare")
    sides = {side: _records(part, side, table, account) for side, table in (("puf", puf), ("eif", eif))}
    if original is not None:
        _check_original(part, puf, original)
    lines = warnings.of_keys(part, puf, eif, iuf)
    lines += warnings.of_missing_codes(part, puf, eif)
    lines += warnings.of_unused_codes(part, puf, eif)
    lines += warnings.of_clusters(part, puf)
    links = _links(part, iuf, sides, account)
    lines += warnings.of_values(part, Sides(sides["puf"], sides["eif"], links))
    if not links.num_rows:
        warning = (
            f"{part.file_name('iuf')}: no link joins records of the two files. Nothing can be confirmed. "
            "Check the keys."
        )
        lines.append(severity.Line(severity.INVALIDATES, warning, 0))
    return Prepared(
        **sides,
        iuf=links,
        clusters=_clusters(part, puf, sides["puf"]),
        account=account.table(),
        warnings=severity.table(lines),
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
        data[column.name] = typed_column(column, side, source, text)
    account.open(side, text.num_rows).close(side)
    return pa.table(data).take(np.argsort(code, kind="stable"))


def _check_original(part: Preparing, puf: pa.Table, original: pa.Table) -> None:
    """Refuse a file before protection that does not have the keys of the PUF."""
    names, file = part.keys_of("original"), part.file_name("original")
    try:
        keys.check(original, names, file, part.file("original").first_row)
    except InputError as error:
        raise InputError(str(error), ("original",)) from None
    lacking, others = (
        int((keys.positions(one, names, other, names) < 0).sum())
        for one, other in ((original, puf), (puf, original))
    )
    if lacking or others:
        raise InputError(
            f"{file}: the file before protection must have the keys of {part.file_name('puf')}, but lacks "
            f"{lacking:,} of its records and has {others:,} others. Export both files from the same records, or remove "
            "`files.original`.",
            ("original",),
        )


def _clusters(part: Preparing, text: pa.Table, records: pa.Table) -> pa.Table:
    """Return the cluster of each prepared PUF record; a record with an empty value is a cluster of its own."""
    if not part.cluster:
        return pa.table({"cluster": pa.array([], pa.int64())})
    rows = keys.positions(text, part.files.puf.id, records, part.files.keys["puf"])
    cluster = keys.codes([text], [part.cluster])[0][rows]
    alone = warnings.without_cluster(part, text)[rows]
    cluster[alone] = cluster.max() + 1 + np.arange(alone.sum())
    return pa.table({"cluster": np.unique(cluster, return_inverse=True)[1]})


def typed_column(column: Column, side: str, source: RecordFile, text: pa.Table) -> pa.Array:
    """Return one variable of one file, typed; null where missing."""
    name = getattr(column, side)
    place = Place(source.file_name, name, column.name, source.first_row)
    values = typed(text[name], column.coding(side, source.decimal), place)
    coarser = column.coarsen if isinstance(column, LinkingVariable) else None
    return values if coarser is None else coarsen(values, coarser, integer_coded=column.integer_coded)


def _links(part: Preparing, iuf: pa.Table, sides: dict[str, pa.Table], account: Account) -> pa.Table:
    """Return the distinct links between known records; unknown ones only within the declared tolerance."""
    source, file, key = part.files.iuf, part.file_name("iuf"), part.files.keys
    names = {"puf": source.puf_id, "eif": source.eif_id}
    rows = {side: keys.positions(sides[side], key[side], iuf, names[side]) for side in names}
    unknown = (rows["puf"] < 0) | (rows["eif"] < 0)
    if unknown.sum() > source.unknown_links_at_most:
        first = int(unknown.argmax())
        side = "puf" if rows["puf"][first] < 0 else "eif"
        raise InputError(
            f"{file}, row {first + source.first_row}: the link names a record that is not in "
            f"{part.file_name(side)} ({unknown.sum():,} such links). Correct the links, or "
            "allow them by `unknown_links_at_most`.",
            ("links",),
        )
    n_eif = sides["eif"].num_rows
    links = np.unique(rows["puf"][~unknown] * n_eif + rows["eif"][~unknown])
    lines = account.open("iuf", iuf.num_rows)
    lines.leave("link to an unknown record", int(unknown.sum()))
    lines.leave("exact repeat of a link", int((~unknown).sum()) - len(links))
    lines.close("iuf", len(links))
    puf, eif = (column.astype(np.int32) for column in np.divmod(links, n_eif))
    return pa.table({"puf": puf, "eif": eif})
