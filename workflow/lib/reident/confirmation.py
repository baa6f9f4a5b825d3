"""Confirmation: a suspected pair is confirmed if it is a true link (METHODS §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident import keys
from reident.ranking import WHOLE, merge, ranks

if TYPE_CHECKING:
    from reident.metrics.contract import Metric
    from reident.study import Study

LIMITS = ["stratum", "max_pairs", "n_suspected", "n_confirmed", "n_ambiguous", "n_pairs", "n_confirmed_pairs"]


class Confirmed(NamedTuple):
    """The suspected pairs with `confirmed`, and the counts at every rank limit from 1 to `keep`."""

    confirmed: pa.Table
    limits: pd.DataFrame


def confirm(
    study: Study,
    metric: Metric,
    suspected: pa.Table,
    scores: list[pa.Table],
    crowded: list[pa.Table],
    iuf: pa.Table,
    strata: list[str],
) -> Confirmed:
    """Check the suspected pairs of a metric against the true links.

    Parameters
    ----------
    suspected : pyarrow.Table
        The pairs that the rank filter left.
    scores, crowded : list of pyarrow.Table
        What scoring kept, and the records of which it kept nothing, shard by shard.
    iuf : pyarrow.Table
        The prepared links.
    strata : list of str
        All strata, in the order of the manifest.

    Returns
    -------
    Confirmed
        ``limits`` has the lines of the whole study (``ALL``) first; unicity has no limits.
    """
    pairs = suspected.append_column("confirmed", pa.array(is_link(study, suspected, iuf)))
    if not metric.ranked:
        return Confirmed(pairs, pd.DataFrame(columns=LIMITS))
    kept = merge(scores, study.keys["puf"])
    found = ranks(keys.codes([kept], [study.keys["puf"]])[0], kept["score"].to_numpy())
    frame = pd.DataFrame(
        {
            "stratum": kept["stratum"].to_pandas(),
            "record": found.record,
            "rank": found.rank,
            "needs": found.needs,
            "link": is_link(study, kept, iuf),
        }
    )
    lone = pa.concat_tables(crowded)["stratum"].to_pandas()
    return Confirmed(pairs, limits(frame, lone, strata, study.rank_filter.keep))


def is_link(study: Study, pairs: pa.Table, iuf: pa.Table) -> np.ndarray:
    """Whether each pair (PUF key, EIF key) is a row of the links; bool (m,)."""
    names = [*study.keys["puf"], *study.keys["eif"]]
    asked, known = keys.codes([pairs, iuf], [names, names])
    return np.isin(asked, known)


def limits(pairs: pd.DataFrame, crowded: pd.Series, strata: list[str], keep: int) -> pd.DataFrame:
    """Counts for every `max_pairs` from 1 to `keep`, per stratum and in total.

    Parameters
    ----------
    pairs : pandas.DataFrame
        stratum, record, rank, needs, link of every kept pair.
    crowded : pandas.Series
        The stratum of each record of which nothing was kept.
    """
    tables = []
    for stratum in [WHOLE, *strata]:
        own = pairs if stratum == WHOLE else pairs[pairs["stratum"] == stratum]
        best = own[own["rank"] == 1].groupby("record")["needs"].first()
        links = own[own["link"]]
        hit = links.groupby("record")["needs"].min()
        lost = len(crowded) if stratum == WHOLE else int((crowded == stratum).sum())
        suspected = _up_to(best, keep)
        counts = {
            "stratum": stratum,
            "max_pairs": np.arange(1, keep + 1),
            "n_suspected": suspected,
            "n_confirmed": _up_to(hit, keep),
            "n_ambiguous": len(best) + lost - suspected,
            "n_pairs": _up_to(own["needs"], keep),
            "n_confirmed_pairs": _up_to(links["needs"], keep),
        }
        tables.append(pd.DataFrame(counts, columns=LIMITS))
    return pd.concat(tables, ignore_index=True)


def _up_to(needs: pd.Series, keep: int) -> np.ndarray:
    """How many of the values are at most 1, 2, …, keep."""
    return np.cumsum(np.bincount(needs.to_numpy(np.int64), minlength=keep + 1)[1 : keep + 1])
