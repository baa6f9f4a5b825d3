"""The attack: bins, weights, scores, ranks, confirmation and rates, in this order (METHODS §3 to §6).

The steps of the workflow run its stages one by one, on files; here they follow one another in memory. An attack
without a variable, with coarser values or with a part of a file is an attack with other settings and files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from reident.linkage import agreement_of_metrics, batches, bins, confirmation, members, ranking, rates, surest, weights
from reident.linkage.attack_settings import AttackSettings, SearchSettings
from reident.linkage.members import MemberTables
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Estimates, Metric, ScoringContext, progress_of_share
from reident.linkage.scoring import score_shard
from reident.linkage.settings import MetricComparisonSettings
from reident.linkage.strata import pack, stratum_of_records

if TYPE_CHECKING:
    from reident.linkage.batches import Sink

PAIRS_PER_SHARD = 2 * 10**9
"""The budget of pairs that are scored at a time; the results do not depend on it."""


class AttackFiles(NamedTuple):
    """The tables that an attack compares.

    Attributes
    ----------
    prepared : mapping of pyarrow.Table
        ``puf`` and ``eif``: keys and linking variables, sorted by key.
    iuf : pyarrow.Table
        The true links, by row number.
    strata : mapping of pyarrow.Table
        The stratum of each record of ``puf`` and ``eif``.
    manifest : pandas.DataFrame
        The strata.
    clusters : pyarrow.Table, optional
        The cluster of each PUF record.
    binned : mapping of pyarrow.Table, optional
        The linking variables with bins in place of numbers, if they have been cut already.
    """

    prepared: Mapping[str, pa.Table]
    iuf: pa.Table
    strata: Mapping[str, pa.Table]
    manifest: pd.DataFrame
    clusters: pa.Table | None = None
    binned: Mapping[str, pa.Table] | None = None


class Compared(NamedTuple):
    """The tables that metrics compare, by :meth:`Metric.table`, and the weights for a metric that weighs."""

    tables: Mapping[str, Mapping[str, pa.Table]]
    weights: Estimates | None


class MetricTables(NamedTuple):
    """The tables that scoring, ranking and confirmation make with one metric."""

    scores: pa.Table
    claims: pa.Table
    suspected: pa.Table
    distribution: pd.DataFrame
    confirmed: pa.Table
    positions: pa.Table
    rank_curve: pd.DataFrame


class Attack(NamedTuple):
    """The tables of an attack: the tables of each metric by its name, the rates of all, and the counts of members."""

    weights: Estimates | None
    metrics: dict[str, MetricTables]
    rates: pd.DataFrame
    members: MemberTables | None


class Claims(NamedTuple):
    """The claims of an attack: those of each metric by its name, and the agreement of the metrics."""

    claims: dict[str, pd.DataFrame]
    agreement: agreement_of_metrics.Comparison


def attack(
    settings: AttackSettings, files: AttackFiles, context: ScoringContext, budget: int = PAIRS_PER_SHARD
) -> Attack:
    """Attack files with every metric of the settings.

    Parameters
    ----------
    context : ScoringContext
        Its threads, functions and progress count, and weights that are not to be estimated.
    budget : int
        See :data:`PAIRS_PER_SHARD`.
    """
    compared = compare(settings, files, context.threads, context.weights)
    metrics, share = {}, 1 / len(settings.metrics)
    for at, name in enumerate(settings.metrics):
        job = context._replace(progress=progress_of_share(context.progress, at * share, share))
        claims = list[pa.Table]()
        scores = list(score(settings, name, files, compared, job, budget=budget, claims=claims.append))
        metrics[name] = _confirmed(settings, REGISTRY[name], files, scores, claims)
    lines = rates.rate(
        settings.rating,
        files.prepared,
        files.iuf,
        files.strata,
        files.manifest,
        {name: tables.positions for name, tables in metrics.items()},
        {name: tables.rank_curve for name, tables in metrics.items()},
        files.clusters,
        None if compared.weights is None else compared.weights.model,
    )
    of_members = None
    if settings.members is not None:
        pairs = {name: tables.positions for name, tables in metrics.items()}
        truth = files.iuf, files.strata, files.manifest
        of_members = members.count(settings.counting_members, compared.tables, *truth, pairs)
    return Attack(compared.weights, metrics, lines, of_members)


def order_claims(settings: AttackSettings, files: AttackFiles, made: Attack) -> dict[str, pd.DataFrame]:
    """Return the claims of each metric of an attack, the surest first."""
    return {
        name: surest.order(settings.claiming(name), [tables.claims], files.iuf) for name, tables in made.metrics.items()
    }


def claim(settings: AttackSettings, files: AttackFiles, made: Attack, right: float | None = None) -> Claims:
    """Return the claims of an attack, the surest first, and those of the agreement of its metrics.

    Parameters
    ----------
    right : float, optional
        The share of right claims of `decision.surest`.
    """
    claims = order_claims(settings, files, made)
    pairs = {name: tables.positions for name, tables in made.metrics.items()}
    suspected = {name: tables.suspected for name, tables in made.metrics.items()}
    truth = files.iuf, files.strata, files.manifest
    comparison = MetricComparisonSettings(settings.rating, right)
    return Claims(claims, agreement_of_metrics.compare(comparison, *truth, pairs, suspected, claims, files.clusters))


def compare(
    settings: SearchSettings, files: AttackFiles, threads: int = 1, estimates: Estimates | None = None
) -> Compared:
    """Return the tables that the metrics compare: numbers are cut, and weights estimated, where a metric needs it."""
    binned = files.binned
    if binned is None and "binned" in settings.tables.values():
        binned = bins.bin_files(settings.cutting, files.prepared, files.strata, files.manifest).files
    tables = {"prepared": files.prepared, "binned": binned or {}}
    if settings.weighing is not None and estimates is None:
        (records,) = (tables[table] for name, table in settings.tables.items() if REGISTRY[name].weighs)
        estimates = weights.estimate(settings.weighing, records, files.strata, files.manifest, files.iuf, threads)
    return Compared(tables, estimates)


def score(
    settings: SearchSettings,
    metric: str,
    files: AttackFiles,
    compared: Compared,
    context: ScoringContext,
    records: np.ndarray | None = None,
    budget: int = PAIRS_PER_SHARD,
    claims: Sink | None = None,
) -> Iterator[pa.Table]:
    """Yield the pairs that scoring with a metric keeps, at least one table; each has all pairs of its PUF records.

    Parameters
    ----------
    records : bool (n_puf,), optional
        The PUF records whose pairs are needed; where those of others come with them, they are among the pairs.
    claims, optional
        Takes the candidates of each claim, see :func:`reident.linkage.scoring.score_shard`.
    """
    tables = compared.tables[settings.tables[metric]], files.strata, files.manifest
    n_shards = -(-max(int(files.manifest["pairs"].sum()), 1) // budget)
    blocks = pack(files.manifest, n_shards)
    if records is not None:
        occupied = np.unique(stratum_of_records(files.strata["puf"])[records])
        names = files.manifest["stratum"].to_numpy()[occupied[occupied >= 0]]
        blocks = blocks[blocks["stratum"].isin(names)]
    total, done = max(int(blocks["pairs"].sum()), 1), 0.0
    for shard in [shard for _, shard in blocks.groupby("shard")] or [blocks]:
        share, pairs = int(shard["pairs"].sum()) / total, list[pa.Table]()
        progress = progress_of_share(context.progress, done, share)
        job = context._replace(weights=compared.weights, progress=progress)
        score_shard(settings.scoring(metric), REGISTRY[metric], *tables, shard, job, pairs.append, records, claims)
        done += share
        yield pa.concat_tables(pairs)


def suspect(
    settings: SearchSettings,
    metric: str,
    files: AttackFiles,
    compared: Compared,
    context: ScoringContext,
    records: np.ndarray | None = None,
    budget: int = PAIRS_PER_SHARD,
) -> Iterator[pa.Table]:
    """Yield the ranked pairs of a metric, see :func:`reident.linkage.ranking.ranked_pairs`; other arguments as above.

    An assignment needs the pairs of all records.
    """
    assigning = settings.assigning(metric)
    needed = None if assigning else records
    scores = score(settings, metric, files, compared, context, needed, budget)
    return ranking.ranked_pairs(scores, assigning)


def _confirmed(
    settings: AttackSettings, metric: Metric, files: AttackFiles, scores: list[pa.Table], claims: list[pa.Table]
) -> MetricTables:
    """Rank the scored pairs of a metric, and check them against the true links."""
    suspected, confirmed, positions = (list[pa.Table]() for _ in range(3))
    strata, manifest = files.strata["puf"], files.manifest
    assigning = settings.assigning(metric.name)
    distribution = ranking.rank(scores, strata, manifest, suspected.append, assigning)
    ranked = pa.concat_tables(suspected)
    rank_curve = confirmation.confirm(
        settings.confirming, ranked, files.prepared, files.iuf, strata, manifest, confirmed.append, positions.append
    )
    tables = (pa.concat_tables(part) for part in (scores, batches.merge(claims), confirmed, positions))
    scored, claimed, keyed, numbered = tables
    return MetricTables(scored, claimed, ranked, distribution, keyed, numbered, rank_curve)
