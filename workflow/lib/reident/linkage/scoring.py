"""Scoring one shard with one metric: the pairs that the rank filter may need (METHODS §4, §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.intake.grouping import N_MEMBERS
from reident.linkage.batches import ROWS, Source, split, values_of
from reident.linkage.claims import Claims, table
from reident.linkage.claims import claims as of_scored
from reident.linkage.metrics.contract import MAX_SMALL, Metric, Scored, ScoringContext, progress_of_share
from reident.linkage.pairing import Comparison
from reident.linkage.settings import ScoringSettings
from reident.linkage.strata import stratum_of_records
from reident.linkage.unit_pairing import UnitComparison

if TYPE_CHECKING:
    from reident.linkage.batches import Sink
    from reident.linkage.strata import Block

MAX_TOGETHER = 2**14
"""Small strata that are scored at once: the memory that they take."""


def score_shard(
    settings: ScoringSettings,
    metric: Metric,
    files: Mapping[str, Source],
    strata: Mapping[str, pa.Table],
    manifest: pd.DataFrame,
    blocks: pd.DataFrame,
    context: ScoringContext,
    pairs: Sink,
    records: np.ndarray | None = None,
    claims: Sink | None = None,
) -> None:
    """Score the blocks of one shard.

    Parameters
    ----------
    files : mapping of Source
        The whole files, prepared or binned as the metric reads them. Of those that are read from the disk, memory holds
        the records of the shard's strata.
    blocks : pandas.DataFrame
        The blocks of the shard, see :func:`reident.linkage.strata.pack`; without any, no pairs.
    context : ScoringContext
        What follows from the settings and the files is filled in.
    pairs
        Takes puf, eif (row numbers in the prepared tables, int32) and score (float64), sorted by puf, best first,
        then eif. An ambiguous record (its best score alone is shared by more than `keep` pairs, so no pair of it is
        kept) is one row with null eif and score. For unicity: puf, eif, order (int32) and variables (uint64): the
        first smallest interaction, bit j for linking variable j.
    records : bool (n_puf,), optional
        The PUF records whose pairs are needed; those of others may be among them.
    claims, optional
        Takes puf, eif, score, next_score (null without a next rank) and n_next of the candidates of each claim, sorted
        by puf, see :func:`reident.linkage.claims.claims`.
    """
    context = context._replace(claims=claims is not None)
    line = pd.Index(manifest["stratum"]).get_indexer(blocks["stratum"])
    if settings.members is not None:
        _score_units(settings, metric, files, strata, line, blocks, len(manifest), context, claims).write(pairs)
        return
    loaded = _load(settings, files, strata, line, len(manifest))
    comparison, kept = loaded.comparison, _Kept(loaded.rows, metric, claims)
    total = max(int(blocks["pairs"].sum()), 1)
    progress = context.progress
    context = context._replace(keep=settings.keep, any_missing=loaded.any_missing)
    small = _are_small(comparison, line, blocks)
    done = int(blocks.loc[small, "pairs"].sum())
    of_small = context._replace(progress=progress_of_share(progress, 0, done / total))
    if not _score_small(comparison, line[small], metric, settings, of_small, kept):
        small, done = np.zeros(len(blocks), bool), 0
    for stratum, block in zip(line[~small].tolist(), blocks[~small].itertuples(), strict=True):
        chosen = _records(block, splits=metric.splits)
        puf, eif = comparison.rows("puf", stratum), comparison.rows("eif", stratum)
        if records is not None and metric.splits:
            inside = np.arange(len(puf))[chosen]
            chosen = inside[records[loaded.rows["puf"][puf[inside]]]]
        rows = puf[chosen], eif
        if len(rows[0]):
            job = context._replace(progress=progress_of_share(progress, done / total, block.pairs / total))
            scored = metric.score(comparison.pairing(stratum, chosen), settings.options, job)
            kept.add(*rows, scored)
        done += block.pairs
    kept.write(pairs)


def _score_units(
    settings: ScoringSettings,
    metric: Metric,
    files: Mapping[str, Source],
    strata: Mapping[str, pa.Table],
    line: np.ndarray,
    blocks: pd.DataFrame,
    n_strata: int,
    context: ScoringContext,
    claims: Sink | None,
) -> _Kept:
    """Return the pairs of the units of a shard, all of its blocks at once."""
    if metric.score_units is None:
        raise ValueError(f"{metric.name} compares single records")
    read = _read(settings, files, strata, line, n_strata, [N_MEMBERS])
    comparison = UnitComparison(settings.variables, read.records, read.strata, n_strata, settings.scope)
    chosen = [_records(block, splits=metric.splits) for block in blocks.itertuples()]
    puf = [comparison.rows("puf", at)[block] for at, block in zip(line.tolist(), chosen, strict=True)]
    pairing = comparison.pairing(line, puf, whole=settings.members == "all")
    context = context._replace(keep=settings.keep, any_missing=read.any_missing)
    scored = metric.score_units(pairing, settings.options, context)
    eif = [comparison.rows("eif", at) for at in line.tolist()]
    puf_rows, eif_rows = (np.concatenate([np.empty(0, np.int64), *parts]) for parts in (puf, eif))
    kept = _Kept(read.rows, metric, claims, of_units=metric.ranked)
    kept.add(puf_rows, eif_rows, scored)
    return kept


class _Read(NamedTuple):
    """The records of some strata."""

    records: dict[str, pa.Table]
    strata: dict[str, pa.Table]
    rows: dict[str, np.ndarray]  # by file, the row of each of its records in the whole file; int64 (n,)
    any_missing: bool  # whether a linking variable is missing anywhere in the whole files


class _Loaded(NamedTuple):
    """The records that a shard compares."""

    comparison: Comparison
    rows: dict[str, np.ndarray]  # by file, the row of each of its records in the whole file; int64 (n,)
    any_missing: bool  # whether a linking variable is missing anywhere in the whole files


def _load(
    settings: ScoringSettings,
    files: Mapping[str, Source],
    strata: Mapping[str, pa.Table],
    line: np.ndarray,
    n_strata: int,
) -> _Loaded:
    """Return the records of some strata as they are compared."""
    read = _read(settings, files, strata, line, n_strata)
    comparison = Comparison(settings.variables, read.records, read.strata, n_strata, settings.scope)
    return _Loaded(comparison, read.rows, read.any_missing)


def _read(
    settings: ScoringSettings,
    files: Mapping[str, Source],
    strata: Mapping[str, pa.Table],
    line: np.ndarray,
    n_strata: int,
    further: Sequence[str] = (),
) -> _Read:
    """Return the records of some strata; all records where a score depends on those of other strata too."""
    names = [*(variable.name for variable in settings.variables), *further]
    chosen = np.zeros(n_strata + 1, bool)  # the last one is that of records in no stratum
    chosen[line] = True
    chosen |= settings.scope == "study"
    rows, records, any_missing = {}, {}, False
    for side, source in files.items():
        keep, start, batches = chosen[stratum_of_records(strata[side])], 0, []
        for batch in split(source, columns=names):
            mask = keep[start : start + batch.num_rows]
            start += batch.num_rows
            any_missing |= any(values_of(column).null_count for column in batch.columns)
            batches.append(batch if mask.all() else batch.filter(pa.array(mask)))
        rows[side], records[side] = np.flatnonzero(keep), pa.concat_tables(batches)
    loaded_strata = {side: strata[side].take(pa.array(places)) for side, places in rows.items()}
    return _Read(records, loaded_strata, rows, any_missing)


def _are_small(comparison: Comparison, line: np.ndarray, blocks: pd.DataFrame) -> np.ndarray:
    """Return whether blocks are whole strata of so few records that all their pairs can be compared; bool (n,)."""
    n_puf, n_eif = (comparison.sizes(side)[line] for side in ("puf", "eif"))
    whole = (blocks["start"] == 0) & (blocks["stop"] == n_puf)
    return whole.to_numpy() & (n_puf + n_eif <= MAX_SMALL)


def _score_small(
    comparison: Comparison,
    line: np.ndarray,
    metric: Metric,
    settings: ScoringSettings,
    context: ScoringContext,
    kept: _Kept,
) -> bool:
    """Add the pairs of small strata, part by part; return whether the metric takes several strata at a time."""
    if metric.score_small is None:
        return False
    for start in range(0, len(line), MAX_TOGETHER):
        strata = line[start : start + MAX_TOGETHER]
        progress = progress_of_share(context.progress, start / len(line), len(strata) / len(line))
        scored = metric.score_small(comparison.pairings(strata), settings.options, context._replace(progress=progress))
        if scored is None:
            return False
        kept.add(comparison.rows_of("puf", strata), comparison.rows_of("eif", strata), scored)
    return True


def _records(block: Block, *, splits: bool) -> slice:
    """Return a block's PUF records; a metric that does not split strata scores a stratum with its first block."""
    if splits:
        return slice(block.start, block.stop)
    return slice(None) if block.start == 0 else slice(0)


class _Pairs(NamedTuple):
    """The rows of a block, by row number in the whole files; -1 and NaN for an ambiguous record."""

    puf: np.ndarray  # int32 (m,)
    eif: np.ndarray  # int32 (m,)
    score: np.ndarray  # float64 (m,)
    variables: np.ndarray  # uint64 (m,) for unicity, otherwise empty
    own_score: np.ndarray  # float64 (m,) for ranked pairs of units, otherwise empty


_NO_PAIRS = _Pairs(*(np.empty(0, dtype) for dtype in (np.int32, np.int32, np.float64, np.uint64, np.float64)))
_NO_CLAIMS = Claims(*(np.empty(0, dtype) for dtype in (np.int32, np.int32, np.float64, np.float64, np.int32)))


class _Kept:
    """The pairs of all blocks, and the claims if they have a sink; ``rows`` by file, see :class:`_Read`."""

    def __init__(
        self, rows: Mapping[str, np.ndarray], metric: Metric, claims: Sink | None, *, of_units: bool = False
    ) -> None:
        self._rows, self._metric, self._of_units, self._sink = rows, metric, of_units, claims
        self._pairs: list[NamedTuple] = []
        self._claims: list[NamedTuple] = []

    def add(self, puf: np.ndarray, eif: np.ndarray, scored: Scored) -> None:
        """Add the pairs of a pairing whose records have these positions among those of the rows."""
        puf, eif = self._rows["puf"][puf].astype(np.int32), self._rows["eif"][eif].astype(np.int32)
        if self._sink is not None:
            made = of_scored(scored, ranked=self._metric.ranked)
            number = made.n_next.astype(np.int32)
            self._claims.append(made._replace(puf=puf[made.puf], eif=eif[made.eif], n_next=number))
        if scored.suspected is not None:
            chosen = np.flatnonzero(scored.suspected)
            scored = scored._replace(puf=scored.puf[chosen], eif=scored.eif[chosen], score=scored.score[chosen])
            if scored.own_score is not None:
                scored = scored._replace(own_score=scored.own_score[chosen])
        ambiguous = np.flatnonzero(scored.ambiguous)
        nothing = np.full(len(ambiguous), np.nan)
        pairs = _Pairs(
            puf[np.concatenate([scored.puf, ambiguous])],
            np.append(eif[scored.eif], np.full(len(ambiguous), np.int32(-1))),
            np.append(scored.score, nothing),
            _NO_PAIRS.variables if scored.variables is None else scored.variables,
            _NO_PAIRS.own_score if scored.own_score is None else np.append(scored.own_score, nothing),
        )
        self._pairs.append(pairs)

    def write(self, pairs: Sink) -> None:
        """Write the pairs and the claims in the order of PUF records, batch by batch."""
        puf, eif, score, variables, own_score = _joined(self._pairs, _NO_PAIRS)
        for rows in _in_order(puf):
            nothing = eif[rows] < 0
            columns = {"puf": puf[rows], "eif": pa.array(eif[rows], mask=nothing)}
            if self._metric.ranked:
                columns["score"] = pa.array(score[rows], mask=nothing)
                if self._of_units:
                    columns["own_score"] = pa.array(own_score[rows], mask=nothing)
            else:
                columns |= {"order": score[rows].astype(np.int32), "variables": variables[rows]}
            pairs(pa.table(columns))
        if self._sink is None:
            return
        made = Claims(*_joined(self._claims, _NO_CLAIMS))
        for rows in _in_order(made.puf):
            self._sink(table(Claims(*(column[rows] for column in made))))


def _in_order(puf: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the rows in the order of their PUF records, at least one batch."""
    order = np.argsort(puf, kind="stable")
    for start in range(0, max(len(order), 1), ROWS):
        yield order[start : start + ROWS]


def _joined(kept: list[NamedTuple], no_rows: NamedTuple) -> Iterator[np.ndarray]:
    """Yield the columns of all blocks; `kept` is emptied, so that only one column is held twice."""
    blocks = [list(columns) for columns in kept]
    kept.clear()
    for nothing in no_rows:
        yield np.concatenate([nothing, *(block.pop(0) for block in blocks)])
