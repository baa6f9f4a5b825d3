"""The attack with random parts of the external intruder file, and what becomes of each record (METHODS §6.5).

A part is attacked as a study with this part would be: cut points, weights, scores, ranks and links are those of the
part. The draws depend on the seed and on the order of keys, in which prepared records are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from reident.larger.parts import Thinning
from reident.larger.rivals import rivals_of_uniques
from reident.linkage import bins, ranking, weights
from reident.linkage.batches import merge
from reident.linkage.links import Links
from reident.linkage.metrics import unicity
from reident.linkage.metrics.contract import Metric, Setting, progress_of_part
from reident.linkage.pairing import Comparison
from reident.linkage.rates import Truth
from reident.linkage.scoring import score_shard
from reident.linkage.strata import held_lines, lines, links_inside, pack
from reident.simulation.population import Streams

if TYPE_CHECKING:
    from reident.linkage.batches import Source

DRAWS = {1 / 16: 4, 1 / 8: 4, 1 / 4: 2, 1 / 2: 2, 3 / 4: 1}
"""The shares of the external intruder file that are drawn, each with its number of draws: three files in all."""

PAIRS_PER_SHARD = 2 * 10**9
"""The budget of pairs that are scored at a time; the results do not depend on it."""


class Tables(NamedTuple):
    """The tables of a study, or those of a part of its external intruder file; files are prepared."""

    files: Mapping[str, pa.Table]
    iuf: pa.Table
    strata: Mapping[str, pa.Table]
    manifest: pd.DataFrame


class States(NamedTuple):
    """What the attack makes of each PUF record, int32 (n_puf,); `pipeline/columns.csv` says what each is."""

    held: np.ndarray
    rivals: np.ndarray
    better: np.ndarray
    own: np.ndarray
    first: np.ndarray
    candidates: np.ndarray
    links: np.ndarray


def thin(part: Thinning, metric: Metric, tables: Tables, suspected: Source, setting: Setting) -> pd.DataFrame:
    """Count the records by what the attack makes of them, with the whole external intruder file and with parts of it.

    Parameters
    ----------
    suspected : Source
        The ranked pairs of the study, as :func:`reident.linkage.ranking.rank` leaves them.
    setting : Setting
        What follows from the part and the files is filled in.

    Returns
    -------
    pandas.DataFrame
        The columns of `larger/{metric}.counts.csv`: the share of the file and the number of the draw, the EIF records
        in it, the fields of :class:`States`, and the number of PUF records with these. The whole file comes first.
    """
    counts = [counted(whole(part, metric, tables, suspected), 1.0, 0, tables)]
    total, done = sum(share * draws for share, draws in DRAWS.items()), 0.0
    for share, draw in [(share, draw) for share, draws in DRAWS.items() for draw in range(1, draws + 1)]:
        part_tables = drawn(tables, share, draw, part.seed)
        job = setting._replace(progress=progress_of_part(setting.progress, done, share / total))
        counts.append(counted(attacked(part, metric, part_tables, job), share, draw, part_tables))
        done += share / total
    return pd.concat(counts, ignore_index=True)


def whole(part: Thinning, metric: Metric, tables: Tables, suspected: Source) -> States:
    """Return what the attack with the whole file makes of each PUF record, from the ranked pairs of the study."""
    states = _states(part, metric, tables, merge([suspected]))
    return states if metric.ranked else states._replace(rivals=_rivals(part, tables, states))


def chosen(n: int, share: float, draw: int, seed: int) -> np.ndarray:
    """Return the rows of a random part of `n` records, ascending; of at least one record."""
    size = max(1, round(share * n))
    return np.sort(Streams(seed)(f"thin/{share}/{draw}").permutation(n)[:size])


def drawn(tables: Tables, share: float, draw: int, seed: int) -> Tables:
    """Return the tables of a study with a random part of its external intruder file, of this share of the records."""
    n = tables.files["eif"].num_rows
    rows = chosen(n, share, draw, seed)
    place = np.full(n, -1, np.int64)
    place[rows] = np.arange(len(rows))
    files = {**tables.files, "eif": tables.files["eif"].take(pa.array(rows))}
    strata = {**tables.strata, "eif": tables.strata["eif"].take(pa.array(rows))}
    eif = place[tables.iuf["eif"].to_numpy()]
    puf = tables.iuf["puf"].to_numpy()
    iuf = pa.table({"puf": puf[eif >= 0], "eif": eif[eif >= 0].astype(np.int32)})
    stratum = {side: lines(table) for side, table in strata.items()}
    n_eif = np.bincount(stratum["eif"][stratum["eif"] >= 0], minlength=len(tables.manifest))
    inside = links_inside(iuf, stratum["puf"], stratum["eif"])
    n_links = np.bincount(stratum["puf"][iuf["puf"].to_numpy()[inside]], minlength=len(tables.manifest))
    n_puf = tables.manifest["n_puf"].to_numpy(np.int64)
    manifest = tables.manifest.assign(n_eif=n_eif, n_links=n_links, pairs=n_puf * n_eif)
    return Tables(files, iuf, strata, manifest)


def attacked(
    part: Thinning, metric: Metric, tables: Tables, setting: Setting, budget: int = PAIRS_PER_SHARD
) -> States:
    """Return what the attack makes of each PUF record: bins, weights, scores, ranks and links of these tables."""
    files: Mapping[str, pa.Table] = tables.files
    if metric.reads == "binned":
        files = bins.bin_files(part.cutting, tables.files, tables.strata, tables.manifest).files
    estimates = None
    if part.weighing is not None:
        of_study = files, tables.strata, tables.manifest, tables.iuf
        estimates = weights.estimate(part.weighing, *of_study, setting.threads)
    pairs = max(int(tables.manifest["pairs"].sum()), 1)
    shards = pack(tables.manifest, -(-pairs // budget)).groupby("shard")
    scored, done = [], 0.0

    def ranked() -> Iterator[pa.Table]:
        nonlocal done
        for _, blocks in shards:
            share = int(blocks["pairs"].sum()) / pairs
            batches: list[pa.Table] = []
            job = setting._replace(
                weights=estimates, progress=progress_of_part(setting.progress, done, share)
            )
            score_shard(
                part.scoring, metric, files, tables.strata, tables.manifest, blocks, job, batches.append
            )
            done += share
            if part.assigning is None:
                yield from _ranked(part, metric, batches, tables)
            else:
                scored.extend(batches)
        if scored:
            yield from _ranked(part, metric, [pa.concat_tables(scored)], tables)

    return _states(part, metric, tables, ranked())


def _ranked(part: Thinning, metric: Metric, batches: list[pa.Table], tables: Tables) -> list[pa.Table]:
    """Return the ranked pairs of a shard."""
    out: list[pa.Table] = []
    ordered = pa.concat_tables(batches)
    ordered = ordered.take(pa.array(np.argsort(ordered["puf"].to_numpy(), kind="stable")))
    ranking.rank(metric, [ordered], tables.strata["puf"], tables.manifest, out.append, part.assigning)
    return out


def _states(part: Thinning, metric: Metric, tables: Tables, batches: Iterator[pa.Table]) -> States:
    """Return the states of the records of ranked pairs; all pairs of a record are in one batch."""
    n, links = tables.strata["puf"].num_rows, Links(tables.iuf)
    eif = held_lines(tables.strata["eif"], len(tables.manifest))
    truth = Truth(tables.iuf, tables.strata["puf"], eif).of(np.arange(n))
    better, n_equal_links, first, candidates, right = (np.zeros(n, np.int32) for _ in range(5))
    rivals = np.full(n, part.keep, np.int32)
    for rows in batches:
        is_ambiguous = pc.is_null(rows["eif"]).to_numpy()
        first[rows["puf"].to_numpy()[is_ambiguous]] = part.keep + 1
        pairs = rows.filter(pa.array(~is_ambiguous))
        puf, link = pairs["puf"].to_numpy(), links.hold(pairs)
        if metric.ranked:
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
            within = needed <= part.max_pairs
        else:
            within = np.ones(len(puf), bool)
            first[puf] = 1
            rivals[puf[link]] = 0
        candidates += np.bincount(puf[within], minlength=n).astype(np.int32)
        right += np.bincount(puf[within & link], minlength=n).astype(np.int32)
    return States(
        (truth.inside > 0).astype(np.int32), rivals, better, n_equal_links, first, candidates, right
    )


def _rivals(part: Thinning, tables: Tables, states: States) -> np.ndarray:
    """Return the rivals by unicity in the whole file, up to `keep`, where one set of variables decides a link."""
    options = part.scoring.options
    if not isinstance(options, unicity.Options) or options.max_order is not None:
        return states.rivals
    files = bins.bin_files(part.cutting, tables.files, tables.strata, tables.manifest).files
    comparison = Comparison(part.scoring.variables, files, tables.strata, len(tables.manifest))
    sets = unicity.sets_in_force(options, comparison.any_missing)
    return np.minimum(rivals_of_uniques(comparison, tables.iuf, tables.strata, sets), part.keep)


def counted(states: States, share: float, draw: int, tables: Tables) -> pd.DataFrame:
    """Count the records by their states, with this share and draw of the file."""
    values, counts = np.unique(np.stack(states, axis=1), axis=0, return_counts=True)
    table = pd.DataFrame(values, columns=list(States._fields)).assign(n_records=counts)
    return table.assign(share=share, draw=draw, n_eif=tables.files["eif"].num_rows)
