"""The rank filter: of each record's suspected pairs the best ranks with few pairs (METHODS §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident import keys

if TYPE_CHECKING:
    from reident.metrics.contract import Metric
    from reident.study import Study

WHOLE = "ALL"
"""The stratum of lines about the whole study."""


class Ranked(NamedTuple):
    """The suspected pairs, and how scores distribute over ranks (unicity: over orders)."""

    suspected: pa.Table
    distribution: pd.DataFrame


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


def merge(shards: list[pa.Table], names: tuple[str, ...]) -> pa.Table:
    """All shards of a metric in the order of PUF keys; each record's pairs lie in one shard, in order."""
    table = pa.concat_tables(shards)
    order = np.argsort(keys.codes([table], [names])[0], kind="stable")
    return table.take(pa.array(order))


def rank(study: Study, metric: Metric, shards: list[pa.Table]) -> Ranked:
    """Filter the kept scores of a metric by rank.

    Parameters
    ----------
    shards : list of pyarrow.Table
        The pairs of every shard, at least one.

    Returns
    -------
    Ranked
        ``suspected``: the pairs of ranks whose cumulative number of pairs is at most `max_pairs`,
        with their rank (unicity: every pair, unranked). ``distribution``: stratum (``ALL`` first),
        rank (or order), n_pufids, n_pairs over everything that scoring kept.
    """
    pairs = merge(shards, study.keys["puf"])
    record_code = keys.codes([pairs], [study.keys["puf"]])[0]
    if not metric.ranked:
        return Ranked(pairs, _distribution(pairs, record_code, pairs["order"].to_numpy(), "order"))
    found = ranks(record_code, pairs["score"].to_numpy())
    distribution = _distribution(pairs, record_code, found.rank, "rank")
    pairs = pairs.append_column("rank", pa.array(found.rank))
    return Ranked(
        pairs.take(pa.array(np.flatnonzero(found.needs <= study.rank_filter.max_pairs))), distribution
    )


def _distribution(pairs: pa.Table, record_code: np.ndarray, level: np.ndarray, name: str) -> pd.DataFrame:
    frame = pd.DataFrame({"stratum": pairs["stratum"].to_pandas(), name: level, "record": record_code})
    both = pd.concat([frame.assign(stratum=WHOLE), frame])
    counts = both.groupby(["stratum", name])["record"].agg(n_pufids="nunique", n_pairs="size").reset_index()
    first = counts["stratum"] == WHOLE
    return pd.concat([counts[first], counts[~first]], ignore_index=True)
