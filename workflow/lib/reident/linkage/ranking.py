"""The rank filter: of each record's suspected pairs the best ranks with few pairs (METHODS §5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage.batches import merged
from reident.linkage.parts import Ranking

if TYPE_CHECKING:
    from reident.linkage.batches import Sink, Source
    from reident.linkage.metrics.contract import Metric

WHOLE = "ALL"
"""The stratum of lines about the whole study."""


class Ranks(NamedTuple):
    """For each pair of a scores table, sorted by PUF key and score.

    Attributes
    ----------
    record : int64 (m,)
        The PUF record, numbered from 0 in the order of the table.
    rank : int64 (m,)
        1 for the record's best distinct score, 2 for the next, …
    needs : int64 (m,)
        The smallest `max_pairs` with which the pair is kept: the number of the record's pairs of
        this rank or a better one.
    """

    record: np.ndarray
    rank: np.ndarray
    needs: np.ndarray


def ranks(record_code: np.ndarray, score: np.ndarray) -> Ranks:
    """Rank each record's pairs by distinct score.

    Parameters
    ----------
    record_code : int64 (m,)
        Equal for the pairs of one record, which stand together.
    score : float64 (m,)
        Best first within each record; either end may be the best.
    """
    m = len(score)
    new_record = np.ones(m, bool)
    new_record[1:] = record_code[1:] != record_code[:-1]
    new_rank = new_record.copy()
    new_rank[1:] |= score[1:] != score[:-1]
    record = np.cumsum(new_record) - 1
    group = np.cumsum(new_rank) - 1
    first_of_record = np.flatnonzero(new_record)
    end_of_group = np.append(np.flatnonzero(new_rank)[1:], m)
    if not m:
        return Ranks(record, record, record)
    return Ranks(
        record, group - group[first_of_record][record] + 1, end_of_group[group] - first_of_record[record]
    )


def rank(part: Ranking, metric: Metric, shards: Sequence[Source], suspected: Sink) -> pd.DataFrame:
    """Filter the kept scores of a metric by rank.

    Parameters
    ----------
    shards : sequence of pyarrow.Table or pyarrow.parquet.ParquetFile
        The pairs of every shard, at least one.
    suspected
        Takes the pairs of ranks whose cumulative number of pairs is at most `max_pairs`, with their
        rank (unicity: every pair, unranked), in the order of PUF keys.

    Returns
    -------
    pandas.DataFrame
        stratum (``ALL`` first), rank (or order), n_pufids, n_pairs over everything that scoring kept.
    """
    name = "rank" if metric.ranked else "order"
    parts = []
    for pairs, record in merged(shards, part.key):
        if metric.ranked:
            found = ranks(record, pairs["score"].to_numpy())
            level, kept = found.rank, found.needs <= part.max_pairs
            suspected(pairs.append_column(name, pa.array(level)).filter(pa.array(kept)))
        else:
            level = pairs[name].to_numpy()
            suspected(pairs)
        parts.append(_counts(pairs, record, level, name))
    counts = _added(parts, ["stratum", name])
    whole = _added([counts], [name]).assign(stratum=WHOLE)
    return pd.concat([whole[counts.columns], counts], ignore_index=True)


def _counts(pairs: pa.Table, record: np.ndarray, level: np.ndarray, name: str) -> pd.DataFrame:
    """Records and pairs by stratum and level; the pairs of a record lie in one stratum, best level first."""
    first = np.ones(len(level), bool)
    first[1:] = (record[1:] != record[:-1]) | (level[1:] != level[:-1])
    frame = pd.DataFrame(
        {
            "stratum": pairs["stratum"].to_pandas(),
            name: level,
            "n_pufids": first.astype(np.int64),
            "n_pairs": 1,
        }
    )
    return _added([frame], ["stratum", name])


def _added(parts: list[pd.DataFrame], by: list[str]) -> pd.DataFrame:
    return pd.concat(parts).groupby(by, as_index=False)[["n_pufids", "n_pairs"]].sum()
