"""Confirmation: a suspected pair is confirmed if it is a true link (METHODS §6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.linkage import sums
from reident.linkage.batches import SortedRows, is_new, merge, schema
from reident.linkage.links import SortedLinks
from reident.linkage.ranking import within
from reident.linkage.record_keys import keys_of
from reident.linkage.settings import WHOLE, ConfirmationSettings
from reident.linkage.strata import stratum_of_records
from reident.linkage.tally import Tally

if TYPE_CHECKING:
    from reident.linkage.batches import Sink, Source


def confirm(
    settings: ConfirmationSettings,
    suspected: Source,
    files: Mapping[str, Source],
    iuf: Source,
    strata: Source,
    manifest: pd.DataFrame,
    confirmed: Sink,
    positions: Sink,
    folder: Path | None = None,
) -> pd.DataFrame:
    """Check the suspected pairs of a metric against the true links; of the prepared files only keys are read.

    Parameters
    ----------
    suspected : Source
        Every pair that scoring kept and every ambiguous record, as :func:`reident.linkage.ranking.rank` leaves them.
    confirmed
        Takes the pairs within the rank limit: PUF key, EIF key, stratum, score, rank (unicity: order), confirmed.
    positions
        Takes the same pairs by row number: puf, eif, score (unicity: order), confirmed.
    folder : pathlib.Path, optional
        Where keys of the EIF wait that do not fit into memory, see :func:`reident.linkage.record_keys.keys_of`.

    Returns
    -------
    pandas.DataFrame
        Counts at every rank limit from 1 to `keep`, those of the whole study (``ALL``) first; no
        line for unicity, which has no rank limit.
    """
    is_ranked = "order" not in schema(suspected).names
    names = pa.array(manifest["stratum"].astype(object), pa.string())
    strata_of, puf_keys = SortedRows(strata, ["stratum"]), SortedRows(files["puf"], settings.keys["puf"])
    links, rank_curve = SortedLinks(iuf), _RankCurve(len(manifest), settings.keep)
    requests = (rows.filter(within(rows, settings.max_pairs))["eif"].to_numpy() for rows in merge([suspected]))
    with keys_of(files["eif"], settings.keys["eif"], requests, folder) as eif_keys:
        for batch in merge([suspected]):
            stratum = stratum_of_records(strata_of.take(batch["puf"].to_numpy()))
            rows = batch.append_column("stratum", pa.array(stratum))
            ambiguous = pc.is_null(rows["eif"])
            pairs = rows.filter(pc.invert(ambiguous))
            pairs = pairs.append_column("confirmed", pa.array(links.hold(pairs)))
            if is_ranked:
                rank_curve.count(pairs)
                rank_curve.count_ambiguous(rows.filter(ambiguous))
            pairs = pairs.filter(within(pairs, settings.max_pairs))
            positions(pairs.select(["puf", "eif", "score" if is_ranked else "order", "confirmed"]))
            keys = puf_keys.take(pairs["puf"].to_numpy()), eif_keys(pairs["eif"].to_numpy())
            confirmed(_keyed(pairs, keys, names))
    return rank_curve.table(list(manifest["stratum"])) if is_ranked else pd.DataFrame()


def export(confirmed: pa.Table) -> pd.DataFrame:
    """Return the suspected pairs as :func:`confirm` leaves them, as a table to write as CSV."""
    return confirmed.to_pandas()


def _keyed(pairs: pa.Table, keys: Iterable[pa.Table], strata: pa.Array) -> pa.Table:
    """Replace row numbers by keys."""
    columns: dict[str, pa.ChunkedArray | pa.Array] = {
        name: table[name] for table in keys for name in table.column_names
    }
    columns["stratum"] = strata.take(pairs["stratum"].combine_chunks())
    for name in ("score", "order", "rank", "confirmed"):
        if name in pairs.column_names:
            columns[name] = pairs[name].cast(pa.int64()) if name in ("order", "rank") else pairs[name]
    if "own_score" in pairs.column_names:
        columns["score"] = pairs["own_score"]
    return pa.table(columns)


class _RankCurve:
    """Counts for every rank limit from 1 to `keep`, by stratum.

    Each count is kept by stratum and by the smallest limit that lets a record, or a pair, in.
    """

    def __init__(self, n_strata: int, keep: int) -> None:
        self.keep = keep
        self.suspected, self.confirmed, self.pairs, self.confirmed_pairs = (
            np.zeros((n_strata, keep + 1), np.int64) for _ in range(4)
        )
        self.ambiguous = np.zeros(n_strata, np.int64)
        self.claims = Tally(["stratum", "max_pairs", "candidates"])

    def count(self, pairs: pa.Table) -> None:
        """Count the pairs of complete records, best first."""
        names = ("puf", "stratum", "max_pairs", "confirmed")
        puf, stratum, max_pairs, link = (pairs[name].to_numpy() for name in names)
        linked = np.flatnonzero(link)
        best = np.flatnonzero(is_new(puf))
        best_linked = linked[is_new(puf[linked])]
        cell = stratum * np.int64(self.keep + 1) + max_pairs
        for counts, rows in (
            (self.suspected, best),
            (self.confirmed, best_linked),
            (self.pairs, slice(None)),
            (self.confirmed_pairs, linked),
        ):
            counts[:] += np.bincount(cell[rows], minlength=counts.size).reshape(counts.shape)
        self.claims.add(_claims(puf, max_pairs, link, stratum))

    def count_ambiguous(self, records: pa.Table) -> None:
        """Count records for which scoring kept no pair."""
        self.ambiguous += np.bincount(records["stratum"].to_numpy(), minlength=len(self.ambiguous))

    def table(self, strata: list[str]) -> pd.DataFrame:
        """Return the counts of the whole study, then those of each stratum, at every rank limit."""
        claims = self.claims.table()
        whole = claims.assign(stratum=0)
        expected = np.vstack([self._expected(whole, 1), self._expected(claims, len(strata))])
        suspected, confirmed, pairs, confirmed_pairs = (
            np.cumsum(np.vstack([counts.sum(axis=0), counts])[:, 1:], axis=1)
            for counts in (self.suspected, self.confirmed, self.pairs, self.confirmed_pairs)
        )
        candidates = self.suspected.sum(axis=1) + self.ambiguous
        counts = {
            "n_suspected": suspected,
            "n_confirmed": confirmed,
            "n_ambiguous": np.append(candidates.sum(), candidates)[:, np.newaxis] - suspected,
            "n_pairs": pairs,
            "n_confirmed_pairs": confirmed_pairs,
        }
        return pd.DataFrame(
            {
                "stratum": np.repeat(np.array([WHOLE, *strata], object), self.keep),
                "max_pairs": np.tile(np.arange(1, self.keep + 1), 1 + len(strata)),
                **{name: values.reshape(-1) for name, values in counts.items()},
                "expected_correct": expected.reshape(-1),
            }
        )

    def _expected(self, claims: pd.DataFrame, n_strata: int) -> np.ndarray:
        """Return the expected correct claims of each stratum at every limit; float64 (n_strata, keep)."""
        limit, stratum, candidates, links = (
            claims[name].to_numpy(np.int64) for name in ("max_pairs", "stratum", "candidates", "links")
        )
        order = np.argsort(limit, kind="stable")
        starts = np.searchsorted(limit[order], np.arange(1, self.keep + 2))
        totals = np.zeros((n_strata, self.keep + 1), np.int64)
        expected = np.zeros((n_strata, self.keep + 1))
        for at in range(1, self.keep + 1):
            expected[:, at] = expected[:, at - 1]
            changes = order[starts[at - 1] : starts[at]]
            np.add.at(totals, (stratum[changes], candidates[changes]), links[changes])
            changed = np.unique(stratum[changes])
            # As `sums.of_shares`, whose sum is rounded once, whatever the order.
            expected[changed, at] = sums.of_rows(totals[changed, 1 : at + 1] / np.arange(1, at + 1))
        return expected[:, 1:]


def _claims(puf: np.ndarray, max_pairs: np.ndarray, link: np.ndarray, stratum: np.ndarray) -> dict[str, np.ndarray]:
    """Return how the claims change with the rank limit: each rank of a record replaces its candidates by more.

    A line adds `links` true links, at the limit `max_pairs`, to those of the records that have so many `candidates`.
    """
    end = np.flatnonzero(np.append((is_new(puf) | is_new(max_pairs))[1:], True)[: len(puf)])
    record, candidates, total = puf[end], max_pairs[end], np.cumsum(link)[end]
    new = is_new(record)
    before = np.append(0, total)[: len(total)]
    links = total - np.maximum.accumulate(np.where(new, before, 0))
    later = np.flatnonzero(~new)
    claims = {
        "stratum": np.append(stratum[end], stratum[end][later]),
        "max_pairs": np.append(candidates, candidates[later]),
        "candidates": np.append(candidates, candidates[later - 1]),
        "links": np.append(links, -links[later - 1]),
    }
    some = claims["links"] != 0
    return {name: values[some] for name, values in claims.items()}
