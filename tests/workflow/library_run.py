"""The tables that a study makes, up to its rates: by the library in memory, or from a folder of results.

Tables that steps write as CSV are written as text and read again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from reident.api.linked import prepared
from reident.intake import step as intake_step
from reident.ledger import stored
from reident.linkage import step as linkage_step
from reident.linkage.attack import MetricTables, attack
from reident.linkage.metrics.contract import ScoringContext
from reident.study.model import Study, load

SIDES = ("puf", "eif")


class Tables(NamedTuple):
    """The tables of a study; the prepared files and the strata of their records by ``puf`` and ``eif``."""

    study: Study
    prepared: dict[str, pa.Table]
    strata: dict[str, pa.Table]
    manifest: pd.DataFrame
    metrics: dict[str, MetricTables]
    rates: pd.DataFrame
    links: pa.Table


def run(study: dict, puf: list[dict], eif: list[dict], iuf: list[dict], n_shards: int = 1, threads: int = 1) -> Tables:
    """Take rows of text through prepare, stratify, bin, score, rank, confirm and rate.

    Parameters
    ----------
    study : dict
        The content of a study file.
    puf, eif, iuf : list of dict of str
        The rows of the source files.
    n_shards : int
        The shards in which pairs are scored.
    threads : int
        The threads that score them.
    """
    model = Study.model_validate(study)
    sources = {"puf": puf, "eif": eif, "iuf": iuf}
    _, _, files = prepared(model, {side: [text_table(model, side, rows)] for side, rows in sources.items()})
    manifest = through_csv(files.manifest, "strata/manifest.csv")
    files = files._replace(manifest=manifest)
    budget = max(-(-int(manifest["pairs"].sum()) // n_shards), 1)
    made = attack(linkage_step.attacking(model), files, ScoringContext(threads=threads), budget)
    metrics = {
        name: tables._replace(
            distribution=through_csv(tables.distribution, f"suspected/{name}.distribution.csv"),
            rank_curve=through_csv(tables.rank_curve, f"confirmed/{name}.limits.csv"),
        )
        for name, tables in made.metrics.items()
    }
    rates = through_csv(made.rates, "rates.csv")
    return Tables(model, files.prepared, files.strata, manifest, metrics, rates, files.iuf)


def read(study: Path, folder: Path) -> Tables:
    """The tables in the folder of results of a study file."""
    model = load(study)
    metrics = {}
    for name in model.chosen:
        metrics[name] = MetricTables(
            *(
                pa.concat_tables(stored.read(file) for file in sorted((folder / kind / name).glob("*.parquet")))
                for kind in ("scores", "claims")
            ),
            stored.read(folder / "suspected" / f"{name}.parquet"),
            stored.read(folder / "suspected" / f"{name}.distribution.csv"),
            stored.read(folder / "confirmed" / f"{name}.parquet"),
            stored.read(folder / "confirmed" / f"{name}.pairs.parquet"),
            stored.read(folder / "confirmed" / f"{name}.limits.csv"),
        )
    manifest = stored.read(folder / "strata" / "manifest.csv")
    prepared, stratum = (
        {side: stored.read(folder / kind / f"{side}.parquet") for side in SIDES} for kind in ("prepared", "strata")
    )
    rows, links = stored.read(folder / "rates.csv"), stored.read(folder / "prepared" / "iuf.parquet")
    return Tables(model, prepared, stratum, manifest, metrics, rows, links)


def text_table(study: Study, side: str, rows: list[dict]) -> pa.Table:
    """The columns that the study needs, as intake reads them."""
    names = list(dict.fromkeys(intake_step.preparing(study).columns_of(side)))
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
