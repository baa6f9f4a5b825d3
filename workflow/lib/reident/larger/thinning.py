"""The attack with random parts of the external intruder file, and the results for each record (METHODS §6.5).

A part is attacked as a study with this part would be: cut points, weights, scores, ranks and links are those of the
part. The draws depend on the seed and on the order of keys, in which prepared records are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.larger.rivals import rivals_of_uniques
from reident.larger.settings import ThinningSettings
from reident.linkage.attack import PAIRS_PER_SHARD, AttackFiles, compare, suspect
from reident.linkage.batches import merge
from reident.linkage.links import Links
from reident.linkage.metrics import REGISTRY, unicity
from reident.linkage.metrics.contract import ScoringContext, progress_of_share
from reident.linkage.pairing import Comparison
from reident.linkage.ranking import within
from reident.linkage.rates import Truth
from reident.linkage.strata import links_inside, read_stratum_of_records, stratum_of_records
from reident.simulation.population import Streams

if TYPE_CHECKING:
    from reident.linkage.batches import Source

DRAWS = {1 / 16: 4, 1 / 8: 4, 1 / 4: 2, 1 / 2: 2, 3 / 4: 1}
"""The shares of the external intruder file that are drawn, each with its number of draws: three files in all."""


class States(NamedTuple):
    """The results of the attack for each PUF record, int32 (n_puf,), defined in `columns.csv`."""

    held: np.ndarray
    rivals: np.ndarray
    better: np.ndarray
    own: np.ndarray
    first: np.ndarray
    candidates: np.ndarray
    links: np.ndarray


def thin(
    settings: ThinningSettings, metric: str, tables: AttackFiles, suspected: Source, context: ScoringContext
) -> pd.DataFrame:
    """Count the records by the results of the attack, with the whole external intruder file and with parts of it.

    Parameters
    ----------
    suspected : Source
        The ranked pairs of the study, as :func:`reident.linkage.ranking.rank` leaves them.
    context : ScoringContext
        What follows from the settings and the files is filled in.

    Returns
    -------
    pandas.DataFrame
        The columns of `larger/{metric}.counts.csv`: the share of the file and the number of the draw, the EIF records
        in it, the fields of :class:`States`, and the number of PUF records with these. The whole file comes first.
    """
    counts = [counted(whole(settings, metric, tables, suspected), 1.0, 0, tables)]
    total, done = sum(share * draws for share, draws in DRAWS.items()), 0.0
    for share, draw in [(share, draw) for share, draws in DRAWS.items() for draw in range(1, draws + 1)]:
        part_tables = drawn(tables, share, draw, settings.seed)
        job = context._replace(progress=progress_of_share(context.progress, done, share / total))
        counts.append(counted(attacked(settings, metric, part_tables, job), share, draw, part_tables))
        done += share / total
    return pd.concat(counts, ignore_index=True)


def whole(settings: ThinningSettings, metric: str, tables: AttackFiles, suspected: Source) -> States:
    """Return the results of the attack with the whole file for each PUF record, from the ranked pairs of the study."""
    states = _states(settings, metric, tables, merge([suspected]))
    return states if REGISTRY[metric].ranked else states._replace(rivals=_rivals(settings, tables, states))


def chosen(n: int, share: float, draw: int, seed: int) -> np.ndarray:
    """Return the rows of a random part of `n` records, ascending; of at least one record."""
    size = max(1, round(share * n))
    return np.sort(Streams(seed)(f"thin/{share}/{draw}").permutation(n)[:size])


def drawn(tables: AttackFiles, share: float, draw: int, seed: int) -> AttackFiles:
    """Return the tables of a study with a random part of its external intruder file, of this share of the records."""
    n = tables.prepared["eif"].num_rows
    rows = chosen(n, share, draw, seed)
    place = np.full(n, -1, np.int64)
    place[rows] = np.arange(len(rows))
    files = {**tables.prepared, "eif": tables.prepared["eif"].take(pa.array(rows))}
    strata = {**tables.strata, "eif": tables.strata["eif"].take(pa.array(rows))}
    eif = place[tables.iuf["eif"].to_numpy()]
    puf = tables.iuf["puf"].to_numpy()
    iuf = pa.table({"puf": puf[eif >= 0], "eif": eif[eif >= 0].astype(np.int32)})
    stratum = {side: stratum_of_records(table) for side, table in strata.items()}
    n_eif = np.bincount(stratum["eif"][stratum["eif"] >= 0], minlength=len(tables.manifest))
    inside = links_inside(iuf, stratum["puf"], stratum["eif"])
    n_links = np.bincount(stratum["puf"][iuf["puf"].to_numpy()[inside]], minlength=len(tables.manifest))
    n_puf = tables.manifest["n_puf"].to_numpy(np.int64)
    manifest = tables.manifest.assign(n_eif=n_eif, n_links=n_links, pairs=n_puf * n_eif)
    return AttackFiles(files, iuf, strata, manifest)


def attacked(
    settings: ThinningSettings, metric: str, tables: AttackFiles, context: ScoringContext, budget: int = PAIRS_PER_SHARD
) -> States:
    """Return the results of the attack for each PUF record: bins, weights, scores, ranks and links of these tables."""
    compared = compare(settings.attack, tables, context.threads)
    ranked = suspect(settings.attack, metric, tables, compared, context, budget=budget)
    return _states(settings, metric, tables, ranked)


def _states(settings: ThinningSettings, metric: str, tables: AttackFiles, batches: Iterator[pa.Table]) -> States:
    """Return the states of the records of ranked pairs; all pairs of a record are in one batch."""
    n, links = tables.strata["puf"].num_rows, Links(tables.iuf)
    eif = read_stratum_of_records(tables.strata["eif"], len(tables.manifest))
    truth = Truth(tables.iuf, tables.strata["puf"], eif).take(np.arange(n))
    better, n_equal_links, first, candidates, right = (np.zeros(n, np.int32) for _ in range(5))
    keep = settings.attack.keep
    rivals = np.full(n, keep, np.int32)
    for rows in batches:
        is_ambiguous = pc.is_null(rows["eif"]).to_numpy()
        first[rows["puf"].to_numpy()[is_ambiguous]] = keep + 1
        pairs = rows.filter(pa.array(~is_ambiguous))
        puf, link = pairs["puf"].to_numpy(), links.hold(pairs)
        if REGISTRY[metric].ranked:
            needed = pairs["max_pairs"].to_numpy()
            record, at = np.unique(puf, return_index=True)
            first[record] = needed[at]
            linked_rows = np.flatnonzero(link)
            record, at = np.unique(puf[linked_rows], return_index=True)
            best = np.full(n, -1)
            best[record] = needed[linked_rows[at]]
            n_equal_links += np.bincount(puf[link & (needed == best[puf])], minlength=n).astype(np.int32)
            rivals[record] = best[record] - n_equal_links[record]
            better += np.bincount(puf[needed < best[puf]], minlength=n).astype(np.int32)
        else:
            first[puf] = 1
            rivals[puf[link]] = 0
        suspected = within(pairs, settings.attack.max_pairs).to_numpy()
        candidates += np.bincount(puf[suspected], minlength=n).astype(np.int32)
        right += np.bincount(puf[suspected & link], minlength=n).astype(np.int32)
    return States((truth.inside > 0).astype(np.int32), rivals, better, n_equal_links, first, candidates, right)


def _rivals(settings: ThinningSettings, tables: AttackFiles, states: States) -> np.ndarray:
    """Return the rivals by unicity in the whole file, up to `keep`, where one set of variables decides a link."""
    options = settings.attack.metrics["unicity"]
    if not isinstance(options, unicity.Options) or options.max_order is not None:
        return states.rivals
    binned = compare(settings.attack, tables).tables["binned"]
    comparison = Comparison(settings.attack.variables, binned, tables.strata, len(tables.manifest))
    sets = unicity.sets_in_force(options, comparison.any_missing)
    return np.minimum(rivals_of_uniques(comparison, tables.iuf, tables.strata, sets), settings.attack.keep)


def counted(states: States, share: float, draw: int, tables: AttackFiles) -> pd.DataFrame:
    """Count the records by their states, with this share and draw of the file."""
    values, counts = np.unique(np.stack(states, axis=1), axis=0, return_counts=True)
    table = pd.DataFrame(values, columns=list(States._fields)).assign(n_records=counts)
    return table.assign(share=share, draw=draw, n_eif=tables.prepared["eif"].num_rows)
