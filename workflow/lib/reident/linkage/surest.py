"""The surest claims: how many are right among those that an intruder makes first (METHODS §6.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reident.linkage import batches, intervals, sums
from reident.linkage.links import SortedLinks
from reident.linkage.settings import WHOLE, ClaimSettings

if TYPE_CHECKING:
    from reident.linkage.batches import Source

SHARES = (0.5, 0.8, 0.9, 0.95)
"""The shares of right claims for which the summary has the largest number of claims."""

NUMBERS = (10, 50, 100)
"""The numbers of surest claims of which the summary has those that are right."""

PERCENTAGES = (1, 10)
"""The same as percentages of all claims."""

MIN_STEP, MAX_POINTS = 10, 100
"""Claims between two points of a curve, so that no point tells of a single record; and the points of a curve."""

DECIMALS = 12
"""Decimals to which a share of right claims, a sum of fractions, is compared with a limit."""


def order(settings: ClaimSettings, claims: Sequence[Source], iuf: Source) -> pd.DataFrame:
    """Count the right claims of a metric in the order in which an intruder makes them.

    A claim names one of the candidates of a record at its best rank. The best score comes first; then the next rank
    that is farthest behind, where a record without a next rank comes before those with one; then fewer candidates, then
    fewer pairs at the next rank. The true links decide which claims are right, and nothing else.

    Parameters
    ----------
    claims : sequence of Source
        The candidates of the claims of every shard, see :func:`reident.linkage.claims.claims`; at least one shard.
    iuf : Source
        The true links by row number.

    Returns
    -------
    pandas.DataFrame
        The columns of `surest/{metric}.csv`, one line for each certainty; counts are of all claims up to the line.
    """
    score, following, n_next, candidates, links = _claims(claims, iuf)
    direction = 1 if settings.low_is_best else -1
    gap = np.where(np.isnan(following), np.inf, following * direction)
    certainty = n_next, candidates, -gap, score * direction
    by_certainty = np.lexsort(certainty)
    new = np.logical_or.reduce([batches.is_new(column[by_certainty]) for column in certainty])
    ends = np.flatnonzero(np.append(new[1:], True)[: len(new)])
    right = _right(candidates[by_certainty], links[by_certainty], ends)
    low, high = np.full((2, len(ends)), np.nan)
    if intervals.are_independent(settings.rates.interval):
        low, high = intervals.ends(right, ends + 1, settings.rates.interval, settings.rates.level)
    line = by_certainty[ends]
    return pd.DataFrame(
        {
            "score": score[line],
            "next_score": following[line],
            "n_candidates": candidates[line],
            "n_next": n_next[line],
            "n_claims": ends + 1,
            "n_right": right,
            "right_rate": right / (ends + 1),
            "low": low,
            "high": high,
        }
    )


def summarize(claims: Mapping[str, pd.DataFrame], limit: float | None) -> pd.DataFrame:
    """Summarize the surest claims of each metric.

    Parameters
    ----------
    claims : mapping of pandas.DataFrame
        By metric, what :func:`order` returns.
    limit : float, optional
        The share of right claims of `decision.surest`.

    Returns
    -------
    pandas.DataFrame
        The columns of `surest/summary.csv`.
    """
    return pd.DataFrame([summary(metric, lines, limit) for metric, lines in claims.items()])


def curves(claims: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the right claims of each metric after every tenth claim or fewer: the columns of `surest/curve.csv`."""
    tables = []
    for metric, lines in claims.items():
        n = _total(lines)
        step = max(MIN_STEP, -(-n // MAX_POINTS))
        points = np.arange(step, n, step)
        points = np.append(points[points <= n - MIN_STEP], [n] if n else [])
        tables.append(pd.DataFrame({"metric": metric, "n_claims": points, "n_right": right_among(lines, points)}))
    return pd.concat(tables, ignore_index=True).astype({"n_claims": np.int64})


def right_among(lines: pd.DataFrame, n: np.ndarray) -> np.ndarray:
    """Return how many of the surest n claims are right, for each n; of equally sure ones each adds their mean."""
    return np.interp(n, np.append(0, lines["n_claims"]), np.append(0.0, lines["n_right"]))


def summary(metric: str, lines: pd.DataFrame, limit: float | None) -> dict[str, Any]:
    """Return the line of a metric in `surest/summary.csv`; arguments as those of :func:`summarize`."""
    n = _total(lines)
    last = lines.iloc[-1] if n else dict.fromkeys(("n_right", "right_rate", "low", "high"), np.nan)
    sizes = {f"{size}": size for size in NUMBERS} | {f"{one}_percent": -(-n * one // 100) for one in PERCENTAGES}
    right = right_among(lines, np.array(list(sizes.values())))
    return {
        "scope": WHOLE,
        "metric": metric,
        "n_claims": n,
        "n_right": float(last["n_right"]) if n else 0.0,
        **{name: last[name] for name in ("right_rate", "low", "high")},
        **{f"n_at_{round(share * 100)}_percent": _largest(lines, share) for share in SHARES},
        "n_at_limit": np.nan if limit is None else _largest(lines, limit),
        **{f"n_of_{one}_percent": sizes[f"{one}_percent"] for one in PERCENTAGES},
        **{
            f"right_of_{name}": value if 0 < size <= n else np.nan
            for (name, size), value in zip(sizes.items(), right.tolist(), strict=True)
        },
    }


def _total(lines: pd.DataFrame) -> int:
    return int(lines["n_claims"].max()) if len(lines) else 0


def _largest(lines: pd.DataFrame, share: float) -> int:
    """Return the largest number of surest claims of which at least a share is right; 0 if there is none."""
    is_right = lines["right_rate"].to_numpy().round(DECIMALS) >= share
    return int(lines["n_claims"].to_numpy()[is_right].max(initial=0))


def _claims(claims: Sequence[Source], iuf: Source) -> Iterator[np.ndarray]:
    """Yield, by claim, the best and the next score (NaN for none), the pairs at the next rank, candidates and links."""
    columns, links = [], SortedLinks(iuf)
    for rows in batches.merge(claims):
        link, start = links.hold(rows), np.flatnonzero(batches.is_new(rows["puf"].to_numpy()))
        right = np.diff(np.append(0, np.cumsum(link))[np.append(start, len(link))])
        of_claim = [rows[name].to_numpy()[start] for name in ("score", "next_score", "n_next")]
        columns.append((*of_claim, np.diff(start, append=len(link)), right))
    for values in zip(*columns, strict=True):
        yield np.concatenate(values)


def _right(candidates: np.ndarray, links: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return Σ links / candidates up to each end, as :func:`reident.linkage.sums.of_shares`; float64 (len(ends),)."""
    sizes = np.unique(candidates)
    totals = np.empty((len(ends), len(sizes)))
    for at, size in enumerate(sizes):
        totals[:, at] = np.cumsum(np.where(candidates == size, links, 0))[ends]
    return sums.of_rows(totals / sizes)
