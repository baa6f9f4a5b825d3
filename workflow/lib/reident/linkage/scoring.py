"""Scoring one shard with one metric: the pairs that the rank filter may need (METHODS §4, §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage.batches import ROWS
from reident.linkage.metrics.contract import Metric, Scored, Setting
from reident.linkage.pairing import Comparison
from reident.linkage.parts import Linkage, Scoring

if TYPE_CHECKING:
    from reident.linkage.batches import Sink
    from reident.linkage.strata import Block


class Work(NamedTuple):
    """Which shard, with how many threads, with which files of the study's own functions, telling whom."""

    shard: str
    threads: int = 1
    functions: Sequence[Path] = ()
    progress: Callable[[float], None] | None = None


def score_shard(
    part: Scoring,
    metric: Metric,
    puf: pa.Table,
    eif: pa.Table,
    manifest: pd.DataFrame,
    shards: pd.DataFrame,
    work: Work,
    pairs: Sink,
    aside: Sink,
) -> None:
    """Score the blocks of one shard.

    Parameters
    ----------
    puf, eif : pyarrow.Table
        The whole files, prepared or binned as the metric reads.
    manifest, shards : pandas.DataFrame
        The strata, and the blocks of every shard.
    work : Work
    pairs
        Takes PUF key, EIF key, stratum, score (unicity: order), sorted by PUF key, best first, then
        EIF key.
    aside
        Takes for ranked metrics the key and stratum of each crowded PUF record (its best score alone is
        shared by more than `keep` pairs, so that no pair of it is kept); for unicity each pair with the
        first smallest interaction, as variable names joined by `` × ``.
    """
    comparison = Comparison(part.linkage, puf, eif, manifest, part.scope)
    blocks = shards[shards["shard"] == work.shard]
    parts, done, total = [], 0, max(int(blocks["pairs"].sum()), 1)
    for block in blocks.itertuples():
        start, stop = (block.start, block.stop) if metric.splits else _whole(block, manifest)
        share = _share(work.progress, done / total, block.pairs / total)
        setting = Setting(part.keep, work.threads, comparison.any_missing, tuple(work.functions), share)
        rows = comparison.rows("puf", block.stratum)[start:stop], comparison.rows("eif", block.stratum)
        if len(rows[0]):
            scored = metric.score(comparison.pairing(block.stratum, start, stop), part.options, setting)
            parts.append(_part(block.stratum, *rows, scored))
        done += block.pairs
    files = _Files(part.linkage, {"puf": puf, "eif": eif})
    if metric.ranked:
        _hand_on(files, parts, "score", pairs)
        _hand_on_crowded(files, parts, aside)
    else:
        _hand_on(files, parts, "order", pairs, aside)


def _share(
    progress: Callable[[float], None] | None, done: float, part: float
) -> Callable[[float], None] | None:
    """A block's progress as that of the shard."""
    return None if progress is None else lambda of_block: progress(done + of_block * part)


def _whole(block: Block, manifest: pd.DataFrame) -> tuple[int, int]:
    """A metric that needs a stratum whole scores it with its first block, and nothing with the others."""
    return (0, int(manifest.set_index("stratum").at[block.stratum, "n_puf"])) if block.start == 0 else (0, 0)


class _Part(NamedTuple):
    """What a block gave, as positions in the whole files: four times smaller than with keys."""

    stratum: str
    puf: np.ndarray  # int32 (m,)
    eif: np.ndarray  # int32 (m,)
    value: np.ndarray  # float64 (m,)
    variables: np.ndarray | None  # uint64 (m,), of unicity
    crowded: np.ndarray  # int32


def _part(stratum: str, puf: np.ndarray, eif: np.ndarray, scored: Scored) -> _Part:
    puf, eif = puf.astype(np.int32), eif.astype(np.int32)
    crowded = puf[scored.crowded]
    return _Part(stratum, puf[scored.puf], eif[scored.eif], scored.score, scored.variables, crowded)


class _Files:
    """The keys of both files, by position."""

    def __init__(self, linkage: Linkage, tables: dict[str, pa.Table]) -> None:
        self.variables = [variable.name for variable in linkage.variables]
        self._keys = {side: tables[side].select(list(linkage.keys[side])).combine_chunks() for side in tables}

    def keys(self, side: str, rows: np.ndarray) -> dict[str, pa.ChunkedArray]:
        found = self._keys[side].take(pa.array(rows))
        return {name: found[name] for name in found.column_names}


def _hand_on(
    files: _Files, parts: list[_Part], name: str, pairs: Sink, interactions: Sink | None = None
) -> None:
    """Hand on the pairs in the order of PUF keys, which is that of positions; not all of them at a time."""
    puf, eif, value = (
        _joined([getattr(part, column) for part in parts], dtype)
        for column, dtype in (("puf", np.int32), ("eif", np.int32), ("value", np.float64))
    )
    sets = _joined([part.variables for part in parts if part.variables is not None], np.uint64)
    ends = np.cumsum([len(part.puf) for part in parts])
    strata = pa.array([part.stratum for part in parts], pa.string())
    order = np.argsort(puf, kind="stable")
    for start in range(0, max(len(order), 1), ROWS):
        rows = order[start : start + ROWS]
        stratum = strata.take(pa.array(np.searchsorted(ends, rows, side="right")))
        both = files.keys("puf", puf[rows]) | files.keys("eif", eif[rows])
        level = value[rows] if name == "score" else value[rows].astype(np.int64)
        pairs(pa.table(both | {"stratum": stratum, name: pa.array(level)}))
        if interactions is not None:
            interactions(pa.table(both | {"variables": _set_names(sets[rows], files.variables)}))


def _hand_on_crowded(files: _Files, parts: list[_Part], aside: Sink) -> None:
    crowded = _joined([part.crowded for part in parts], np.int32)
    strata = pa.array([part.stratum for part in parts], pa.string())
    place = np.repeat(np.arange(len(parts)), [len(part.crowded) for part in parts])
    order = np.argsort(crowded, kind="stable")
    stratum = strata.take(pa.array(place[order]))
    aside(pa.table(files.keys("puf", crowded[order]) | {"stratum": stratum}))


def _joined(arrays: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _set_names(masks: np.ndarray, names: list[str]) -> pa.Array:
    distinct, place = np.unique(masks, return_inverse=True)
    texts = [" × ".join(name for at, name in enumerate(names) if int(mask) >> at & 1) for mask in distinct]
    return pa.array(texts, pa.string()).take(pa.array(place))
