"""Scoring one shard with one metric: the pairs that the rank filter may need (METHODS §4, §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.metrics.contract import Metric, Scored, Setting
from reident.pairing import Comparison

if TYPE_CHECKING:
    from reident.strata import Block
    from reident.study import Study


class ShardScores(NamedTuple):
    """The pairs of a shard, and what stands beside them.

    ``aside``: for ranked metrics the key and stratum of each crowded PUF record (its best score
    alone is shared by more than `keep` pairs, so that no pair of it is kept); for unicity each
    pair with the first smallest interaction, as variable names joined by `` × ``.
    """

    pairs: pa.Table
    aside: pa.Table


class Work(NamedTuple):
    """Which shard, with how many threads, with which files of the study's own functions, telling whom."""

    shard: str
    threads: int = 1
    functions: Sequence[Path] = ()
    progress: Callable[[float], None] | None = None


def score_shard(
    study: Study,
    metric: Metric,
    puf: pa.Table,
    eif: pa.Table,
    manifest: pd.DataFrame,
    shards: pd.DataFrame,
    work: Work,
) -> ShardScores:
    """Score the blocks of one shard.

    Parameters
    ----------
    puf, eif : pyarrow.Table
        The whole files, prepared or binned as the metric reads.
    manifest, shards : pandas.DataFrame
        The strata, and the blocks of every shard.
    work : Work

    Returns
    -------
    ShardScores
        ``pairs``: PUF key, EIF key, stratum, score (unicity: order), sorted by PUF key, best
        first, then EIF key.
    """
    comparison = Comparison(study, puf, eif, manifest)
    options, blocks = study.chosen[metric.name], shards[shards["shard"] == work.shard]
    parts, done, total = [], 0, max(int(blocks["pairs"].sum()), 1)
    for block in blocks.itertuples():
        start, stop = (block.start, block.stop) if metric.splits else _whole(block, manifest)
        share = _share(work.progress, done / total, block.pairs / total)
        setting = Setting(
            study.rank_filter.keep, work.threads, comparison.any_missing, tuple(work.functions), share
        )
        rows = comparison.rows("puf", block.stratum)[start:stop], comparison.rows("eif", block.stratum)
        if len(rows[0]):
            parts.append(
                (
                    block.stratum,
                    *rows,
                    metric.score(comparison.pairing(block.stratum, start, stop), options, setting),
                )
            )
        done += block.pairs
    return _tables(study, metric, puf, eif, parts)


def _share(
    progress: Callable[[float], None] | None, done: float, part: float
) -> Callable[[float], None] | None:
    """A block's progress as that of the shard."""
    return None if progress is None else lambda of_block: progress(done + of_block * part)


def _whole(block: Block, manifest: pd.DataFrame) -> tuple[int, int]:
    """A metric that needs a stratum whole scores it with its first block, and nothing with the others."""
    return (0, int(manifest.set_index("stratum").at[block.stratum, "n_puf"])) if block.start == 0 else (0, 0)


def _tables(
    study: Study,
    metric: Metric,
    puf: pa.Table,
    eif: pa.Table,
    parts: list[tuple[str, np.ndarray, np.ndarray, Scored]],
) -> ShardScores:
    def joined(arrays: list[np.ndarray], dtype: type) -> np.ndarray:
        return np.concatenate([np.empty(0, dtype), *arrays])

    at_puf = joined([rows[scored.puf] for _, rows, _, scored in parts], np.int64)
    at_eif = joined([rows[scored.eif] for _, _, rows, scored in parts], np.int64)
    value = joined([scored.score for *_, scored in parts], np.float64)
    counts = [len(scored.puf) for *_, scored in parts]
    order = np.argsort(at_puf, kind="stable")
    stratum = _repeated([part[0] for part in parts], counts).take(pa.array(order))
    both = _key_columns(study, "puf", puf, at_puf[order]) | _key_columns(study, "eif", eif, at_eif[order])
    if metric.ranked:
        pairs = pa.table(both | {"stratum": stratum, "score": pa.array(value[order])})
        crowded = joined([rows[scored.crowded] for _, rows, _, scored in parts], np.int64)
        place = np.argsort(crowded, kind="stable")
        lone = _repeated([part[0] for part in parts], [int(scored.crowded.sum()) for *_, scored in parts])
        aside = _key_columns(study, "puf", puf, crowded[place]) | {"stratum": lone.take(pa.array(place))}
        return ShardScores(pairs, pa.table(aside))
    pairs = pa.table(both | {"stratum": stratum, "order": pa.array(value[order].astype(np.int64))})
    sets = [scored.variables for *_, scored in parts if scored.variables is not None]
    masks = joined(sets, np.uint64)[order]
    names = [variable.name for variable in study.linking_variables]
    return ShardScores(pairs, pa.table(both | {"variables": _set_names(masks, names)}))


def _key_columns(study: Study, side: str, table: pa.Table, rows: np.ndarray) -> dict[str, pa.ChunkedArray]:
    return {name: table[name].take(pa.array(rows)) for name in study.keys[side]}


def _repeated(labels: list[str], counts: list[int]) -> pa.Array:
    return pa.array(labels, pa.string()).take(pa.array(np.repeat(np.arange(len(labels)), counts)))


def _set_names(masks: np.ndarray, names: list[str]) -> pa.Array:
    distinct, place = np.unique(masks, return_inverse=True)
    texts = [" × ".join(name for at, name in enumerate(names) if int(mask) >> at & 1) for mask in distinct]
    return pa.array(texts, pa.string()).take(pa.array(place))
