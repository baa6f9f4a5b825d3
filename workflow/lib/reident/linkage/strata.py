"""Strata: records are compared only inside equal values of all strata variables (METHODS §2).

A stratum is the unit of analysis, a shard the unit of work: strata, or blocks of large ones, with about as many pairs
as every other shard. Results never depend on the number of shards.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.errors import InputError
from reident.intake import keys
from reident.intake.account import Account
from reident.linkage import batches
from reident.linkage.settings import StratificationSettings

if TYPE_CHECKING:
    from reident.linkage.batches import Source


class Strata(NamedTuple):
    """The strata of a study.

    Attributes
    ----------
    manifest, account : pandas.DataFrame
        The strata by sorted key values, with the columns that `columns.csv` declares; the row
        account.
    puf, eif : pyarrow.Table
        stratum: the line of each record's stratum in the manifest, from 0; null for none. int32 (n,)
    """

    manifest: pd.DataFrame
    account: pd.DataFrame
    puf: pa.Table
    eif: pa.Table


class Block(NamedTuple):
    """A part of a shard: the stratum's PUF records from `start` to before `stop`, and all its EIF records."""

    shard: int
    stratum: str
    start: int
    stop: int
    n_puf: int
    n_eif: int
    pairs: int


def stratify(settings: StratificationSettings, puf: pa.Table, eif: pa.Table, iuf: pa.Table) -> Strata:
    """List the strata of a study from its prepared tables.

    Raises
    ------
    InputError
        If no stratum has records of both files.
    """
    code_puf, code_eif = _codes([puf, eif], settings.strata)
    n_strata = int(max(code_puf.max(initial=-1), code_eif.max(initial=-1))) + 1
    n_puf = np.bincount(code_puf[code_puf >= 0], minlength=n_strata)
    n_eif = np.bincount(code_eif[code_eif >= 0], minlength=n_strata)
    if not (n_puf * n_eif).any():
        raise InputError(
            f"{' and '.join(settings.files)} must have at least one stratum in common "
            f"({', '.join(settings.strata) or 'no strata variables'}). Recode the strata variables or remove one from "
            "`strata`."
        )
    inside = links_inside(iuf, code_puf, code_eif)
    width = max(4, len(str(n_strata)))
    manifest = pd.DataFrame({"stratum": [f"s{number:0{width}d}" for number in range(1, n_strata + 1)]})
    for name in settings.strata:
        manifest[name] = _labels(name, n_strata, (puf, code_puf), (eif, code_eif))
    manifest["n_puf"], manifest["n_eif"] = n_puf, n_eif
    manifest["n_links"] = np.bincount(code_puf[iuf["puf"].to_numpy()[inside]], minlength=n_strata)
    manifest["pairs"] = n_puf.astype(np.int64) * n_eif
    account = _account(code_puf, code_eif, iuf, inside)
    return Strata(manifest, account, _table(code_puf), _table(code_eif))


def stratum_of_records(table: pa.Table) -> np.ndarray:
    """Return the stratum of each record of a file, as its line in the manifest, -1 for none; int32 (n,)."""
    return pc.fill_null(table["stratum"], -1).to_numpy()


def read_stratum_of_records(source: Source, n_strata: int) -> np.ndarray:
    """Read :func:`stratum_of_records` batch by batch, in the smallest type that holds it; int (n,)."""
    stratum = np.empty(batches.size(source), np.min_scalar_type(-max(n_strata, 1)))
    start = 0
    for batch in batches.split(source, columns=["stratum"]):
        stratum[start : start + len(batch)] = stratum_of_records(batch)
        start += len(batch)
    return stratum


def links_inside(iuf: pa.Table, puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return whether both records of each link lie in the same stratum; bool (n_links,).

    The strata of the records are int (n_puf,) and (n_eif,), -1 for none.
    """
    stratum = puf[iuf["puf"].to_numpy()]
    return (stratum == eif[iuf["eif"].to_numpy()]) & (stratum >= 0)


def _codes(tables: list[pa.Table], names: tuple[str, ...]) -> list[np.ndarray]:
    """Return the stratum of each record as a code in sorted order of the key values; -1 where one is missing."""
    if not names:
        return [np.zeros(table.num_rows, np.int64) for table in tables]
    return keys.codes(tables, [names] * len(tables))


def _table(code: np.ndarray) -> pa.Table:
    return pa.table({"stratum": pa.array(code.astype(np.int32), mask=code < 0)})


def _labels(name: str, n_strata: int, *sides: tuple[pa.Table, np.ndarray]) -> list[str]:
    labels = np.empty(n_strata, object)
    for table, code in sides:
        present, first = np.unique(code, return_index=True)
        values = table[name].take(pa.array(first)).to_pylist()
        for stratum, label in zip(present, values, strict=True):
            if stratum >= 0:
                labels[stratum] = label
    return list(labels)


def pack(manifest: pd.DataFrame, n_shards: int) -> pd.DataFrame:
    """Pack strata into shards of about as many pairs each: the largest first, into the shard with the fewest so far.

    Returns
    -------
    pandas.DataFrame
        One line per block, the fields of :class:`Block`; shards are numbered from 1, and some are empty where there are
        fewer pairs. A stratum with more pairs than an equal part of all is split into blocks of its PUF records.
    """
    budget = max(-(-int(manifest["pairs"].sum()) // n_shards), 1)
    lines: list[Block] = []
    loads = [(0, shard) for shard in range(1, n_shards + 1)]
    todo = manifest[manifest["pairs"] > 0].sort_values(["pairs", "stratum"], ascending=[False, True])
    for row in todo.itertuples():
        blocks = min(-(-row.pairs // budget), row.n_puf)
        cuts = [row.n_puf * block // blocks for block in range(blocks + 1)]
        for start, stop in pairwise(cuts):
            pairs = (stop - start) * row.n_eif
            load, shard = heapq.heappop(loads)
            heapq.heappush(loads, (load + pairs, shard))
            lines.append(Block(shard, row.stratum, start, stop, stop - start, row.n_eif, pairs))
    blocks = pd.DataFrame(lines, columns=list(Block._fields))
    return blocks.sort_values(["shard", "stratum", "start"], ignore_index=True)


def _account(code_puf: np.ndarray, code_eif: np.ndarray, iuf: pa.Table, inside: np.ndarray) -> pd.DataFrame:
    account = Account("stratify")
    for side, code in (("puf", code_puf), ("eif", code_eif)):
        account.add(side, len(code), {"no_stratum": int((code < 0).sum())})
    nowhere = (code_puf[iuf["puf"].to_numpy()] < 0) | (code_eif[iuf["eif"].to_numpy()] < 0)
    account.add(
        "iuf",
        len(inside),
        {"lost_no_stratum": int(nowhere.sum()), "lost_other_strata": int((~inside & ~nowhere).sum())},
        int(inside.sum()),
    )
    return account.table()
