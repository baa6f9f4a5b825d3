"""Typing the three source files by the study: keys, missing codes, recodes, links, row account (METHODS §1).

The prepared tables are in canonical order (sorted by key, part by part, by code point),
so that nothing after this step depends on the order of rows in the sources.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.errors import Guard, InputError
from reident.intake import severity, warnings
from reident.intake.account import Account
from reident.intake.grouping import SEVERAL, member_links
from reident.intake.key_reader import Lookup
from reident.intake.records import Clusters, RecordReader, Sink, in_memory, require_records
from reident.intake.settings import PreparationSettings
from reident.intake.sources import Source

SIDES = ("puf", "eif")
"""The files of records."""


class PreparedFiles(NamedTuple):
    """The three typed tables, the clusters, the row account, and sentences that the analyst should read."""

    puf: pa.Table
    eif: pa.Table
    iuf: pa.Table
    clusters: pa.Table
    account: pd.DataFrame
    warnings: pd.DataFrame


def prepare(
    settings: PreparationSettings,
    puf: pa.Table,
    eif: pa.Table,
    iuf: pa.Table,
    original: pa.Table | None = None,
    guard: Guard = contextlib.nullcontext,
) -> PreparedFiles:
    """Type the records and links of a study that is in memory, as :func:`prepare_files` does.

    Parameters
    ----------
    puf, eif, iuf, original : pyarrow.Table
        The text of each source file, at least its :meth:`PreparationSettings.columns_of`.
    """
    files = {"puf": puf, "eif": eif, "iuf": iuf, "original": original}
    sources = {side: [table] for side, table in files.items() if table is not None}
    names = ("puf", "eif", "iuf", "clusters")
    return PreparedFiles(**in_memory(names, lambda sinks: prepare_files(settings, sources, sinks, guard=guard)))


def prepare_files(
    settings: PreparationSettings,
    sources: Mapping[str, Iterable[pa.Table]],
    sinks: Mapping[str, Sink],
    folder: Path | None = None,
    threads: int = 1,
    guard: Guard = contextlib.nullcontext,
) -> dict[str, pd.DataFrame]:
    """Type the records and links of a study.

    Parameters
    ----------
    sources : mapping
        The text of each source file in batches, at least its :meth:`PreparationSettings.columns_of`, row by row.
        All files are read before the first error of a value, a key or a link.
    sinks : mapping of callable
        By name, take the batches of a prepared table.
        ``puf`` and ``eif``: key columns (text), strata variables (text), linking variables by their
        study names (categorical: text, numeric: float64), null where missing, sorted by key.
        ``iuf``: the row numbers of both records of each link in these tables (puf, eif: int32), sorted,
        each link once. ``clusters``: the number of the cluster of each PUF record (cluster: int64); no rows
        without cluster columns.
    folder : pathlib.Path, optional
        Where records that do not fit into memory wait in files without a name. Without it memory grows with the files.
    threads : int
        Files that are worked on at once.
    guard : Guard
        Encloses checks of keys, links and codes.

    Returns
    -------
    dict of pandas.DataFrame
        ``account``, the row account, and ``warnings``.

    Raises
    ------
    InputError
        A repeated or empty key, a value that is not a number, a code outside the declared order,
        no code in common, a link to an unknown record beyond the tolerance, a file before protection with other
        keys than the PUF.
    """
    with contextlib.ExitStack() as stack:
        records = {side: RecordReader(settings, side, folder) for side in SIDES}
        others = {
            side: Source(settings.file(side), settings.keys_of(side), (), folder)
            for side in settings.sides
            if side not in SIDES and side in sources
        }
        files = records | others
        for file in files.values():
            stack.callback(file.close)
        # If several files are invalid, the error for the first one is raised.
        each = stack.enter_context(ThreadPoolExecutor(threads)).map
        list(each(lambda side: files[side].read(sources[side]), files))
        account = Account("prepare")
        clusters = stack.enter_context(contextlib.closing(Clusters(len(settings.cluster), folder)))
        lookups = _lookups(settings, others)
        for side, file in records.items():
            require_records(settings.file(side), file.n)
        searches = (_searched(side, file, lookups) for side, file in records.items())
        grouped = (clusters if file.cluster else None for file in records.values())
        taken = (sinks[side] for side in records)
        orders = each(RecordReader.sort, records.values(), taken, searches, grouped, repeat(folder), repeat(guard))
        places = dict(zip(records, orders, strict=True))
        for side, file in records.items():
            if file.grouping is None:
                account.add(side, file.n)
            else:
                account.add(side, file.n, {"unit_row": file.n - file.n_units})
        if "original" in others and records["puf"].keys.sound:
            with guard():
                _check_original(settings, others["original"], records["puf"].n_units, lookups["puf", "original"])
        lines = _text_warnings(settings, records, others["iuf"])
        row_links = {
            side: file.grouping.rows.find(lookups[side, "iuf"])
            for side, file in records.items()
            if file.grouping is not None and file.grouping.rows is not None
        }
        rows = {side: lookups[side, "iuf"].position for side in SIDES}
        links = _links(settings, rows, records["eif"].n_units, account, guard)
        for side, file in records.items():
            file.links_of_row = np.bincount(links[side], minlength=file.n)[places[side]]
        lines += warnings.value_warnings(settings, records, len(links["puf"]), guard)
        if not len(links["puf"]):
            fields = {"file": settings.file_name("iuf")}
            lines.append(severity.StudyWarning(severity.INVALIDATES, "no_link", fields, 0))
        of_members = (
            member_links(row_links, rows, links, records["eif"].n_units) if len(row_links) == len(SIDES) else {}
        )
        sinks["iuf"](pa.table({**links, **of_members}))
        number = clusters.numbers() if settings.cluster else np.empty(0, np.int64)
        sinks["clusters"](pa.table({"cluster": number}))
    return {"account": account.table(), "warnings": severity.table(lines)}


def _searched(side: str, file: RecordReader, lookups: Mapping[tuple[str, str], Lookup]) -> list[Lookup]:
    """Return the lookups among the keys of a file; those of the keys of its rows wait until it is sorted."""
    by_row = file.grouping is not None and file.grouping.rows is not None
    return [lookup for (holder, other), lookup in lookups.items() if holder == side and not (by_row and other == "iuf")]


def _lookups(settings: PreparationSettings, others: Mapping[str, Source]) -> dict[tuple[str, str], Lookup]:
    """Return the lookups: by the file that has the records, and the file that names them."""
    n, links = len(settings.files.iuf.puf_id), others["iuf"].spool
    lookups = {("puf", "iuf"): Lookup(links, range(n)), ("eif", "iuf"): Lookup(links, range(n, len(links.schema)))}
    if "original" in others:
        lookups["puf", "original"] = Lookup(others["original"].spool, range(len(settings.keys_of("original"))))
    return lookups


def _text_warnings(
    settings: PreparationSettings, records: Mapping[str, RecordReader], iuf: Source
) -> list[severity.StudyWarning]:
    """Return the warnings about texts as they are in the files."""
    keys = {**{side: file.keys.counts for side, file in records.items()}, "iuf": iuf.keys.counts}
    texts = {(side, name): column.texts for side, file in records.items() for name, column in file.columns.items()}
    n = {side: file.n for side, file in records.items()}
    lines = warnings.key_warnings(
        settings, {(side, name): counts for side, columns in keys.items() for name, counts in columns.items()}
    )
    lines += warnings.missing_code_warnings(settings, texts, n)
    lines += warnings.unused_code_warnings(settings, texts)
    return lines + warnings.cluster_warnings(settings, records["puf"].n_alone, n["puf"])


def _check_original(settings: PreparationSettings, original: Source, n: int, lookup: Lookup) -> None:
    """Refuse a file before protection that does not have the keys of the PUF, which has n records or units."""
    common = lookup.position >= 0
    if settings.units is None:
        original.order()
    lacking, others = n - len(np.unique(lookup.position[common])), int((~common).sum())
    if lacking or others:
        raise InputError(
            f"{settings.file_name('original')}: the file before protection must have the keys of "
            f"{settings.file_name('puf')}, but lacks {lacking:,} of its records and has {others:,} others. "
            "Export both files from the same records, or remove `files.original`."
        )


def _links(
    settings: PreparationSettings, rows: Mapping[str, np.ndarray], n_eif: int, account: Account, guard: Guard
) -> dict[str, np.ndarray]:
    """Return the distinct links between known records; unknown ones only within the declared tolerance."""
    source, file = settings.files.iuf, settings.file_name("iuf")
    several = (rows["puf"] == SEVERAL) | (rows["eif"] == SEVERAL)
    if several.any():
        with guard():
            raise InputError(
                f"{file}, row {int(several.argmax()) + source.first_row}: the link names a key that rows of several "
                f"units have ({int(several.sum()):,} such links). Name every column of the key, or leave out `id` and "
                "link units."
            )
    unknown = (rows["puf"] < 0) | (rows["eif"] < 0)
    n_unknown = int(unknown.sum())
    if n_unknown > source.unknown_links_at_most:
        first = int(unknown.argmax())
        side = "puf" if rows["puf"][first] < 0 else "eif"
        with guard():
            raise InputError(
                f"{file}, row {first + source.first_row}: the link names a record that is not in "
                f"{settings.file_name(side)} ({n_unknown:,} such links). Correct the links, or "
                "allow them by `unknown_links_at_most`."
            )
    links = np.unique(rows["puf"][~unknown].astype(np.int64) * n_eif + rows["eif"][~unknown])
    repeats = len(unknown) - n_unknown - len(links)
    if settings.units is None:
        account.add("iuf", len(unknown), {"unknown_link": n_unknown, "repeat": repeats}, len(links))
    else:
        account.add("iuf", len(unknown), {"unknown_link": n_unknown, "unit_link": repeats})
    return dict(zip(SIDES, (column.astype(np.int32) for column in np.divmod(links, n_eif)), strict=True))
