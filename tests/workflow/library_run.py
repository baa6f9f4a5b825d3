"""The tables that a study makes, up to its rates: by the library in memory, or from a folder of results.

In memory the steps follow one another as in workflow/scripts; tables that steps hand on as CSV are written as text
and read again.
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from making.studies import gathered
from reident.intake import prepare as intake
from reident.ledger import stored
from reident.linkage import bins, confirmation, ranking, rates, scoring, strata, weights
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Setting
from reident.pipeline import parts
from reident.study.model import Study, load

SIDES = ("puf", "eif")


class MetricTables(NamedTuple):
    """The tables of one metric; scores are those of its shards, one after the other."""

    scores: pa.Table
    suspected: pa.Table
    distribution: pd.DataFrame
    confirmed: pa.Table
    positions: pa.Table
    limits: pd.DataFrame


class Tables(NamedTuple):
    """The tables of a study; the prepared files and the strata of their records by ``puf`` and ``eif``."""

    study: Study
    prepared: dict[str, pa.Table]
    strata: dict[str, pa.Table]
    manifest: pd.DataFrame
    metrics: dict[str, MetricTables]
    rates: pd.DataFrame
    links: pa.Table


def run(study: dict, puf: list[dict], eif: list[dict], iuf: list[dict], n_shards: int = 1) -> Tables:
    """Take rows of text through prepare, stratify, bin, score, rank, confirm and rate.

    Parameters
    ----------
    study : dict
        The content of a study file.
    puf, eif, iuf : list of dict of str
        The rows of the source files.
    n_shards : int
    """
    model = Study.model_validate(study)
    part = parts.preparing(model)
    sources = {"puf": puf, "eif": eif, "iuf": iuf}
    typed = intake.prepare(part, **{side: text_table(model, side, rows) for side, rows in sources.items()})
    stratified = strata.stratify(parts.stratifying(model), typed.puf, typed.eif, typed.iuf)
    manifest = through_csv(stratified.manifest, "strata/manifest.csv")
    blocks = strata.pack(manifest, n_shards)
    prepared, stratum = ({side: getattr(made, side) for side in SIDES} for made in (typed, stratified))
    binned = bins.bin_files(parts.cutting(model), prepared, stratum, manifest).files
    metrics, estimates = {}, None
    if any(REGISTRY[name].weighs for name in model.chosen):
        estimates = weights.estimate(parts.weighing(model), binned, stratum, manifest, typed.iuf)
        estimates = type(estimates)(
            *(through_csv(table, f"weights/{name}.csv") for name, table in estimates._asdict().items())
        )
    for name in model.chosen:
        metric, part = REGISTRY[name], parts.scoring(model, name)
        compared = binned if metric.reads == "binned" else prepared
        files, work = (compared, stratum, manifest), Setting(weights=estimates)
        scores = [
            gathered(scoring.score_shard, part, metric, *files, blocks[blocks["shard"] == shard], work)[0]
            for shard in range(1, n_shards + 1)
        ]
        rank = partial(ranking.rank, assigning=parts.assigning(model, name))
        suspected, distribution = gathered(rank, metric, scores, stratum["puf"], manifest)
        truth = prepared, typed.iuf, stratum["puf"], manifest
        confirmed, positions, limits = gathered(
            confirmation.confirm, parts.confirming(model), metric, suspected, *truth, sinks=2
        )
        csv = (
            through_csv(distribution, f"suspected/{name}.distribution.csv"),
            through_csv(limits, f"confirmed/{name}.limits.csv"),
        )
        metrics[name] = MetricTables(
            pa.concat_tables(scores), suspected, csv[0], confirmed, positions, csv[1]
        )
    pairs = {name: tables.positions for name, tables in metrics.items()}
    limits = {name: tables.limits for name, tables in metrics.items()}
    fitted = None if estimates is None else estimates.model
    tables = prepared, typed.iuf, stratum, manifest, pairs, limits
    rows = rates.rate(parts.rating(model), *tables, model=fitted)
    return Tables(model, prepared, stratum, manifest, metrics, through_csv(rows, "rates.csv"), typed.iuf)


def read(study: Path, folder: Path) -> Tables:
    """The tables in the folder of results of a study file."""
    model = load(study)
    metrics = {}
    for name in model.chosen:
        metrics[name] = MetricTables(
            pa.concat_tables(
                stored.read(file) for file in sorted((folder / "scores" / name).glob("*.parquet"))
            ),
            stored.read(folder / "suspected" / f"{name}.parquet"),
            stored.read(folder / "suspected" / f"{name}.distribution.csv"),
            stored.read(folder / "confirmed" / f"{name}.parquet"),
            stored.read(folder / "confirmed" / f"{name}.pairs.parquet"),
            stored.read(folder / "confirmed" / f"{name}.limits.csv"),
        )
    manifest = stored.read(folder / "strata" / "manifest.csv")
    prepared, stratum = (
        {side: stored.read(folder / kind / f"{side}.parquet") for side in SIDES}
        for kind in ("prepared", "strata")
    )
    rows, links = stored.read(folder / "rates.csv"), stored.read(folder / "prepared" / "iuf.parquet")
    return Tables(model, prepared, stratum, manifest, metrics, rows, links)


def text_table(study: Study, side: str, rows: list[dict]) -> pa.Table:
    """The columns that the study needs, as intake reads them."""
    names = list(dict.fromkeys(parts.preparing(study).columns_of(side)))
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names})


def through_csv(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """A table as the next step reads it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        stored.write(path, stored.encoded(table, path))
        return stored.read(path)


def assert_rates(results: Path, study: dict[str, Any], tables: dict[str, list[list[str]]]) -> None:
    """The rates of a study are those of the library on the same study and rows, computed afresh."""
    rows = {side: [dict(zip(own[0], row, strict=True)) for row in own[1:]] for side, own in tables.items()}
    fresh = run(study, rows["puf"], rows["eif"], rows["iuf"]).rates
    pd.testing.assert_frame_equal(stored.read(results / "rates.csv"), fresh, check_exact=True)
