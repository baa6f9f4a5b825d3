"""Rates: suspected, confirmed and conditional, with interval, reach and baseline (METHODS §6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage import batches, intervals, sums
from reident.linkage.cluster_sums import Clusters
from reident.linkage.links import SortedLinks
from reident.linkage.settings import WHOLE, RatingSettings
from reident.linkage.strata import read_stratum_of_records, stratum_of_records
from reident.linkage.tally import Tally, cases, grouped

if TYPE_CHECKING:
    from reident.linkage.batches import Source
    from reident.sections.linkage import Rates

LIMITS = ["stratum", "max_pairs", "n_ambiguous"]
"""What is read of the counts at every rank limit, which are many with many strata."""


def share(numerator: float, denominator: int) -> float | None:
    """Return numerator / denominator, or None where the denominator is 0."""
    return numerator / denominator if denominator else None


def shares(numerators: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    """Return numerators / denominators, NaN where a denominator is 0; float64 (n,)."""
    return np.divide(numerators, denominators, out=np.full(len(numerators), np.nan), where=denominators != 0)


def hit_by_chance(n_eif: int, links: int, draws: int) -> float:
    """Return the probability that `draws` of `n_eif` records, drawn without replacement, include one of the `links`."""
    if links <= 1:  # The usual case: the same value without large numbers.
        return draws * links / n_eif
    return float(1 - Fraction(math.comb(n_eif - links, draws), math.comb(n_eif, draws)))


class Linked(NamedTuple):
    """Some PUF records with their true links.

    Attributes
    ----------
    stratum : int32 (n,)
        The manifest line of the record's stratum, -1 for none.
    inside : int64 (n,)
        The number of its links to an EIF record of its own stratum.
    any : bool (n,)
        Whether it has a link at all.
    """

    stratum: np.ndarray
    inside: np.ndarray
    any: np.ndarray


class Truth:
    """The strata and the true links of PUF records, read once, in step with records in ascending order.

    Of each EIF record, `eif` is the manifest line of its stratum, -1 for none.
    """

    def __init__(self, iuf: Source, strata: Source, eif: np.ndarray) -> None:
        self._links, self._strata, self._eif = SortedLinks(iuf), batches.SortedRows(strata, ["stratum"]), eif

    def take(self, record: np.ndarray) -> Linked:
        """Return the links of different PUF records, all of them after those of the call before."""
        stratum = stratum_of_records(self._strata.take(record))
        puf, eif = self._links.take(record)
        place, eif_stratum = np.searchsorted(record, puf), self._eif[eif]
        same = (stratum[place] == eif_stratum) & (eif_stratum >= 0)
        inside, every = (np.bincount(rows, minlength=len(record)) for rows in (place[same], place))
        return Linked(stratum, inside, every > 0)


class SumsByStratum:
    """Sums of values: of the whole study first, then of each stratum.

    Of each value, `stratum` is the manifest line of its stratum, -1 for none.
    """

    def __init__(self, stratum: np.ndarray, n_strata: int) -> None:
        self._n = n_strata
        self._stratum = stratum.astype(np.int64)
        self._order, self._starts = grouped(stratum, n_strata)

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of whole numbers; int64 (1 + n_strata,)."""
        return by_line(self._stratum, values, self._n)

    def fsum(self, values: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the sums of numbers in [0, 1], each taken `times` times, rounded once; float64 (1 + n_strata,)."""
        halves = np.stack(sums.products(values[self._order], times[self._order]), axis=1).reshape(-1)
        pieces = (halves[start : start + batches.ROWS].tolist() for start in range(0, len(halves), batches.ROWS))
        return np.append(math.fsum(chain.from_iterable(pieces)), sums.of_segments(halves, 2 * self._starts))

    def expected_correct(self, candidates: np.ndarray, links: np.ndarray) -> np.ndarray:
        """Return :func:`reident.linkage.sums.of_shares` of the links by candidates; float64 (1 + n_strata,)."""
        first, case = cases(self._stratum, candidates)
        totals = np.bincount(case, links, minlength=len(first))
        shares = totals / np.maximum(candidates[first], 1)
        of_cells = SumsByStratum(self._stratum[first], self._n).fsum(shares, np.ones(len(first)))
        of_cells[0] = sums.of_shares(np.bincount(candidates, links))
        return of_cells


def by_line(stratum: np.ndarray, values: np.ndarray, n_strata: int) -> np.ndarray:
    """Return the sums of whole numbers: of all, and of those of each stratum; int64 (1 + n_strata,)."""
    inside = stratum >= 0
    by_stratum = np.bincount(stratum[inside], values[inside], minlength=n_strata)
    return np.append(values.sum(), by_stratum).astype(np.int64)


def rate(
    settings: RatingSettings,
    prepared: Mapping[str, Source],
    iuf: Source,
    strata: Mapping[str, Source],
    manifest: pd.DataFrame,
    pairs: Mapping[str, Source],
    rank_curves: Mapping[str, pd.DataFrame],
    clusters: Source | None = None,
    model: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compute the rates of every metric, for the whole study (``ALL``) and each stratum.

    Parameters
    ----------
    prepared : mapping of Source
        Read only where a tolerance depends on missing values.
    rank_curves : mapping of pandas.DataFrame
        By metric, the counts at every rank limit; :data:`LIMITS` at least.
    model : pandas.DataFrame, optional
        The model of the metric that weighs, where the study has it: its tolerance follows from the weights.

    Returns
    -------
    pandas.DataFrame
        The columns of `rates.csv`; counts are of distinct PUF records except n_links, n_pairs and n_confirmed_pairs;
        rates are fractions in [0, 1], missing where undefined. Records in no stratum are in the n_puf of ``ALL`` only.
    """
    n_strata = len(manifest)
    truth = partial(Truth, iuf, strata["puf"], read_stratum_of_records(strata["eif"], n_strata))
    sizes = {"n_puf": strata["puf"], "n_eif": strata["eif"], "n_links": iuf}
    compared = manifest["n_puf"].where(manifest["n_eif"] > 0, 0).to_numpy(np.int64)
    counts = {
        **{name: np.append(batches.size(source), manifest[name].to_numpy(np.int64)) for name, source in sizes.items()},
        **_count_linked(iuf, truth(), n_strata),
        "n_compared": np.append(compared.sum(), compared),
    }
    names = [WHOLE, *manifest["stratum"]]
    of_clusters = None
    if settings.rates.interval == "clustered" and clusters is not None and batches.size(clusters):
        of_clusters = Clusters(clusters, strata["puf"], n_strata)
    tables = []
    for metric, source in pairs.items():
        tolerance = _tolerance(settings, metric, prepared, model)
        counts["n_ambiguous"] = _ambiguous(rank_curves[metric], names, settings.max_pairs)
        tallies = _suspected(source, truth(), manifest, of_clusters)
        table = _rates(settings, tallies, counts)
        tables.append(table.assign(metric=metric, stratum=names, tolerance=tolerance))
    return pd.concat(tables, ignore_index=True).drop(columns="n_linked")  # which is in `reach` alone


def _count_linked(iuf: Source, truth: Truth, n_strata: int) -> dict[str, np.ndarray]:
    """Count the PUF records with a true link, and with one in their stratum, by line."""
    counts = {name: np.zeros(1 + n_strata, np.int64) for name in ("n_linked", "n_findable")}
    for table in batches.merge([iuf]):
        puf = table["puf"].to_numpy()
        links = truth.take(puf[batches.is_new(puf)])
        for name, which in (("n_linked", links.any), ("n_findable", links.inside > 0)):
            counts[name] += by_line(links.stratum, which, n_strata)
    return counts


class Suspected(NamedTuple):
    """The suspected PUF records of a metric.

    Attributes
    ----------
    cases : pandas.DataFrame
        One line for each stratum, number of candidates (``pairs``) and of links in the stratum (``inside``): how many
        ``records`` there are, how many with a candidate that is a true link (``hits``) and with no true link at all
        (``outside``), how many of their candidates are true links (``confirmed``); and the ``chance`` of each under
        random drawing.
    best : pandas.DataFrame
        One line for each stratum and number of candidates of the best rank: how many of these are true links.
    spreads : list of Spread
        For clustered intervals alone, how those with a hit spread over clusters: of the whole study, then of each
        stratum; empty otherwise.
    """

    cases: pd.DataFrame
    best: pd.DataFrame
    spreads: list[intervals.Spread]


def _suspected(source: Source, truth: Truth, manifest: pd.DataFrame, clusters: Clusters | None) -> Suspected:
    """Return the suspected records of a metric, read batch by batch."""
    tallies = Tally(["stratum", "pairs", "inside"]), Tally(["stratum", "best"])
    marks = np.zeros((2, clusters.n_records if clusters is not None else 0), bool)
    for batch in batches.merge([source]):
        record, counts = count_pairs(batch)
        links = truth.take(record)
        hit = counts["confirmed"] > 0
        case = {"stratum": links.stratum, "pairs": counts["pairs"], "inside": links.inside}
        amounts = {"records": np.ones(len(record)), "hits": hit, "outside": ~links.any}
        tallies[0].add({**case, **amounts, "confirmed": counts["confirmed"]})
        tallies[1].add({"stratum": links.stratum, "best": counts["best"], "confirmed": counts["best_confirmed"]})
        if clusters is not None:
            marks[0, record], marks[1, record[hit]] = True, True
    by_case, best = (tally.table() for tally in tallies)
    chance = _chances(manifest["n_eif"].to_numpy(np.int64)[by_case["stratum"]], by_case)
    spreads = [] if clusters is None else clusters.spreads(*marks)
    return Suspected(by_case.assign(chance=chance), best, spreads)


def _chances(n_eif: np.ndarray, table: pd.DataFrame) -> np.ndarray:
    """Return the chance under random drawing of the records of each line, whose strata have `n_eif` EIF records."""
    columns = n_eif, table["inside"].to_numpy(), table["pairs"].to_numpy()
    first, case = cases(*columns)
    numbers = zip(*(column[first].tolist() for column in columns), strict=True)
    return np.array([hit_by_chance(*line) for line in numbers], float)[case]


def count_pairs(batch: pa.Table) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Count the pairs, the confirmed pairs, and both of the best rank, of each PUF record of a batch.

    Returns
    -------
    record : int32 (n,)
    counts : dict of int64 (n,)
        pairs, confirmed, best and best_confirmed; and ``score``, the best one (unicity: the smallest order).
    """
    puf, confirmed = batch["puf"].to_numpy(), batch["confirmed"].to_numpy()
    score = batch["score" if "score" in batch.column_names else "order"].to_numpy()
    new = batches.is_new(puf)
    start, number = np.flatnonzero(new), np.cumsum(new) - 1
    top = score == score[start][number]  # the pairs of a record are sorted best first
    chosen = {"confirmed": confirmed, "best": top, "best_confirmed": top & confirmed}
    counts = {name: np.bincount(number[rows], minlength=len(start)) for name, rows in chosen.items()}
    return puf[start], {"pairs": np.diff(start, append=len(puf)), **counts, "score": score[start]}


def _rates(settings: RatingSettings, tallies: Suspected, counts: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return the counts and rates of a metric, one line for the whole study and one for each stratum."""
    n_strata = len(counts["n_puf"]) - 1
    case = {name: column.to_numpy() for name, column in tallies.cases.items()}
    by_stratum, times = SumsByStratum(case["stratum"], n_strata), case["records"]
    suspected, confirmed, n_confirmed_pairs = (by_stratum.sum(case[name]) for name in ("records", "hits", "confirmed"))
    n_pairs = by_stratum.sum(times * case["pairs"])
    return pd.DataFrame(
        {
            **counts,
            "n_pairs": n_pairs,
            "n_confirmed_pairs": n_confirmed_pairs,
            **rates_of(counts["n_puf"], suspected, confirmed),
            **conditional_rates(settings.rates, suspected, confirmed, tallies.spreads),
            "pair_precision": shares(n_confirmed_pairs, n_pairs),
            "reach": shares(confirmed, counts["n_linked"]),
            "baseline_rate": shares(by_stratum.fsum(case["chance"], times), suspected),
            **_claims(tallies, by_stratum, suspected),
            "passing_rate": shares(suspected + counts["n_ambiguous"], counts["n_compared"]),
        }
    )


def rates_of(n: np.ndarray, suspected: np.ndarray, confirmed: np.ndarray) -> dict[str, np.ndarray]:
    """Return the numbers of suspected and confirmed records, of `n`, and their rates, line by line."""
    return {
        "n_suspected": suspected,
        "n_confirmed": confirmed,
        "suspected_rate": shares(suspected, n),
        "confirmed_rate": shares(confirmed, n),
    }


def conditional_rates(
    rates: Rates, suspected: np.ndarray, confirmed: np.ndarray, spreads: Sequence[intervals.Spread] = ()
) -> dict[str, np.ndarray]:
    """Return the conditional rate of each line with its interval and its bound, NaN where undefined.

    `spreads` tells how the records of each line spread over clusters; it is empty where records are independent.
    """
    if spreads:
        trials = [spread.clusters for spread in spreads]
        low, high = np.array([intervals.clustered(spread, rates.level) for spread in spreads], float).T
    else:
        trials = suspected.tolist()
        low, high = intervals.ends(confirmed, suspected, rates.interval, rates.level)
    bounds = [
        intervals.one_sided(n, rates.level) if not successes else None
        for successes, n in zip(confirmed.tolist(), trials, strict=True)
    ]
    return {
        "conditional_rate": shares(confirmed, suspected),
        "conditional_low": low,
        "conditional_high": high,
        "conditional_bound": np.array(bounds, float),
    }


def _claims(tallies: Suspected, by_stratum: SumsByStratum, suspected: np.ndarray) -> dict[str, np.ndarray]:
    """Return how often suspected records would be claimed rightly: a claim names one of the candidates (METHODS §6)."""
    case, best = (
        {name: column.to_numpy() for name, column in table.items()} for table in (tallies.cases, tallies.best)
    )
    single = case["pairs"] == 1
    n_single, n_single_confirmed = (by_stratum.sum(case[name] * single) for name in ("records", "confirmed"))
    correct = by_stratum.expected_correct(case["pairs"], case["confirmed"])
    of_best = SumsByStratum(best["stratum"], len(suspected) - 1)
    best_correct = of_best.expected_correct(best["best"], best["confirmed"])
    return {
        "expected_correct": correct,
        "expected_correct_rate": shares(correct, suspected),
        "best_rank_correct": best_correct,
        "best_rank_correct_rate": shares(best_correct, suspected),
        "n_single": n_single,
        "n_single_confirmed": n_single_confirmed,
        "single_rate": shares(n_single_confirmed, n_single),
        "n_false_outside": by_stratum.sum(case["outside"]),
    }


def _tolerance(
    settings: RatingSettings, metric: str, prepared: Mapping[str, Source], model: pd.DataFrame | None
) -> int:
    """Return how many linking variables may differ completely in a suspected pair of these files."""
    if metric not in settings.tolerances:
        if model is None:
            raise ValueError("the tolerance of this metric follows from its weights")
        return int(model["tolerance"].iloc[0])
    complete, incomplete = settings.tolerances[metric]
    if complete == incomplete:
        return complete
    any_missing = any(
        batches.values_of(batch[name]).null_count
        for source in prepared.values()
        for batch in batches.split(source, columns=settings.variables)
        for name in settings.variables
    )
    return incomplete if any_missing else complete


def _ambiguous(rank_curve: pd.DataFrame, names: list[str], max_pairs: int) -> np.ndarray:
    """Return the records whose best score is shared by too many pairs, by line; 0 for a metric without ranks."""
    if rank_curve.empty:
        return np.zeros(len(names), np.int64)
    lines = rank_curve[rank_curve["max_pairs"] == max_pairs].set_index("stratum")["n_ambiguous"]
    return lines.reindex(names, fill_value=0).to_numpy(np.int64)
