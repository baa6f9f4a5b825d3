"""Strata: records are compared only inside equal values of all strata variables (METHODS §2).

A stratum is the unit of analysis, a shard the unit of work: strata packed, largest first,
up to a budget of pairs. Results never depend on the packing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.errors import InputError
from reident.intake import keys
from reident.intake.account import Account
from reident.linkage.parts import Stratifying

FAR_ABOVE = 2
"""A stratum of more than so many budgets of pairs is split into blocks of PUF records."""


class Strata(NamedTuple):
    """The manifest (one line per stratum), the shards (one line per block), and the account."""

    manifest: pd.DataFrame
    shards: pd.DataFrame
    account: pd.DataFrame


class Block(NamedTuple):
    """A line of the shards: the stratum's PUF records from `start` to before `stop`, all its EIF records."""

    shard: str
    stratum: str
    start: int
    stop: int
    n_puf: int
    n_eif: int
    pairs: int


def stratify(part: Stratifying, puf: pa.Table, eif: pa.Table, iuf: pa.Table, pairs_per_shard: int) -> Strata:
    """List the strata of a study and pack them into shards.

    Parameters
    ----------
    part : Stratifying
    puf, eif, iuf : pyarrow.Table
        The prepared tables.
    pairs_per_shard : int
        The budget of pairs of a shard.

    Returns
    -------
    Strata
        ``manifest``: stratum (``s0001`` … by sorted key values), the strata variables, n_puf, n_eif,
        n_links, pairs, shard (several joined by ``;`` where a stratum is split, empty without pairs).
        ``shards``: shard, stratum, start, stop (positions among the stratum's PUF records), n_puf,
        n_eif, pairs.

    Raises
    ------
    InputError
        If no stratum has records of both files.
    """
    linkage, names = part.linkage, list(part.linkage.strata)
    code_puf, code_eif = stratum_codes([puf, eif], names)
    n_strata = int(max(code_puf.max(initial=-1), code_eif.max(initial=-1))) + 1
    n_puf = np.bincount(code_puf[code_puf >= 0], minlength=n_strata)
    n_eif = np.bincount(code_eif[code_eif >= 0], minlength=n_strata)
    if not (n_puf * n_eif).any():
        raise InputError(
            f"{' and '.join(part.files)} have no stratum in common ({', '.join(names) or 'no strata variables'}); "
            "recode the strata variables or remove one from `strata`."
        )
    at_puf = code_puf[keys.positions(puf, linkage.keys["puf"], iuf, linkage.keys["puf"])]
    at_eif = code_eif[keys.positions(eif, linkage.keys["eif"], iuf, linkage.keys["eif"])]
    inside = (at_puf == at_eif) & (at_puf >= 0)
    width = max(4, len(str(n_strata)))
    manifest = pd.DataFrame({"stratum": [f"s{number:0{width}d}" for number in range(1, n_strata + 1)]})
    for name in names:
        manifest[name] = _labels(name, n_strata, (puf, code_puf), (eif, code_eif))
    manifest["n_puf"], manifest["n_eif"] = n_puf, n_eif
    manifest["n_links"] = np.bincount(at_puf[inside], minlength=n_strata)
    manifest["pairs"] = n_puf.astype(np.int64) * n_eif
    shards = pack(manifest, pairs_per_shard)
    where = shards.groupby("stratum")["shard"].agg(";".join)
    manifest["shard"] = manifest["stratum"].map(where).fillna("")
    return Strata(manifest, shards, _account(code_puf, code_eif, at_puf, at_eif, inside))


def stratum_codes(tables: list[pa.Table], names: list[str]) -> list[np.ndarray]:
    """The stratum of each record as a code in sorted order of the key values; -1 where one is missing."""
    if not names:
        return [np.zeros(table.num_rows, np.int64) for table in tables]
    return keys.codes(tables, [names] * len(tables))


def members(table: pa.Table, manifest: pd.DataFrame, names: list[str]) -> np.ndarray:
    """The line of the manifest of each record, -1 where a strata value is missing.

    `manifest` is as :func:`stratify` made it, key values as text.
    """
    if not names:
        return np.zeros(table.num_rows, np.int64)
    listed = pa.table({name: pa.array(manifest[name].astype(object), pa.string()) for name in names})
    return keys.positions(listed, names, table, names)


def _labels(name: str, n_strata: int, *sides: tuple[pa.Table, np.ndarray]) -> list[str]:
    labels = np.empty(n_strata, object)
    for table, code in sides:
        present, first = np.unique(code, return_index=True)
        found = table[name].take(pa.array(first)).to_pylist()
        for stratum, label in zip(present, found, strict=True):
            if stratum >= 0:
                labels[stratum] = label
    return list(labels)


def pack(manifest: pd.DataFrame, budget: int) -> pd.DataFrame:
    """Pack strata into shards of at most `budget` pairs, largest first, first shard with room.

    A stratum above the budget is its own shard; one of more than ``FAR_ABOVE`` budgets is
    split into equal blocks of its PUF records.
    """
    lines: list[tuple] = []
    room: list[int] = []
    todo = manifest[manifest["pairs"] > 0].sort_values(["pairs", "stratum"], ascending=[False, True])
    for row in todo.itertuples():
        blocks = 1 if row.pairs <= FAR_ABOVE * budget else min(-(-row.pairs // budget), row.n_puf)
        cuts = [row.n_puf * block // blocks for block in range(blocks + 1)]
        for start, stop in pairwise(cuts):
            pairs = (stop - start) * row.n_eif
            shard = next((number for number, left in enumerate(room) if left >= pairs), None)
            if shard is None:
                shard = len(room)
                room.append(budget)
            room[shard] -= pairs
            lines.append((shard + 1, row.stratum, start, stop, stop - start, row.n_eif, pairs))
    width = max(4, len(str(len(room))))
    shards = pd.DataFrame(lines, columns=list(Block._fields)).sort_values(
        ["shard", "stratum", "start"], ignore_index=True
    )
    shards["shard"] = [f"{number:0{width}d}" for number in shards["shard"]]
    return shards


def _account(
    code_puf: np.ndarray, code_eif: np.ndarray, at_puf: np.ndarray, at_eif: np.ndarray, inside: np.ndarray
) -> pd.DataFrame:
    account = Account("stratify")
    for side, code in (("puf", code_puf), ("eif", code_eif)):
        account.open(side, len(code)).leave("no stratum: a strata value is missing", int((code < 0).sum()))
        account.close(side)
    nowhere = (at_puf < 0) | (at_eif < 0)
    account.open("iuf", len(inside))
    account.leave("lost to stratification: a record of the link is in no stratum", int(nowhere.sum()))
    account.leave(
        "lost to stratification: the records are in different strata", int((~inside & ~nowhere).sum())
    )
    account.close("iuf", int(inside.sum()))
    return account.table()
