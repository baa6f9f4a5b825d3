"""What a study makes, up to its rates: through the library in memory, or from a folder of results.

In memory it goes step by step as workflow/scripts do; tables that the steps hand on as CSV are written as text
and read again.
"""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from making.studies import gathered
from reident.intake import prepare as intake
from reident.ledger import stored
from reident.linkage import bins, confirmation, ranking, rates, scoring, strata
from reident.linkage.metrics import REGISTRY
from reident.study.model import Study, load


class MetricTables(NamedTuple):
    """The tables of one metric; pairs and asides are those of its shards, one after the other."""

    pairs: pa.Table
    aside: pa.Table
    suspected: pa.Table
    distribution: pd.DataFrame
    confirmed: pa.Table
    limits: pd.DataFrame


class Tables(NamedTuple):
    """Of a whole study."""

    study: Study
    manifest: pd.DataFrame
    shards: pd.DataFrame
    metrics: dict[str, MetricTables]
    rates: pd.DataFrame


def run(
    study: dict, puf: list[dict], eif: list[dict], iuf: list[dict], pairs_per_shard: int = 10**9
) -> Tables:
    """Take rows of text through prepare, stratify, bin, score, rank, confirm and rate.

    Parameters
    ----------
    study : dict
        The content of a study file.
    puf, eif, iuf : list of dict of str
        The rows of the source files.
    pairs_per_shard : int
        The budget of a shard.
    """
    model = Study.model_validate(study)
    sources = {"puf": puf, "eif": eif, "iuf": iuf}
    prepared = intake.prepare(
        model, **{side: text_table(model, side, rows) for side, rows in sources.items()}
    )
    files = prepared.puf, prepared.eif, prepared.iuf
    found = strata.stratify(model, *files, pairs_per_shard)
    manifest, shards = through_csv(found.manifest), through_csv(found.shards)
    binned = bins.bin_files(model, prepared.puf, prepared.eif, manifest)
    metrics = {}
    for name in model.chosen:
        metric = REGISTRY[name]
        compared = (binned if metric.reads == "binned" else prepared)[:2]
        scores = [
            _scored(model, metric, *compared, manifest, shards, scoring.Work(shard))
            for shard in sorted(set(shards["shard"]))
        ]
        pairs, aside = [one[0] for one in scores], [one[1] for one in scores]
        suspected, distribution = gathered(ranking.rank, model, metric, pairs)
        truth = prepared.iuf, list(manifest["stratum"])
        checked, limits = gathered(confirmation.confirm, model, metric, suspected, pairs, aside, *truth)
        metrics[name] = MetricTables(
            pa.concat_tables(pairs),
            pa.concat_tables(aside),
            suspected,
            through_csv(distribution),
            checked,
            through_csv(limits),
        )
    confirmed = {name: tables.confirmed for name, tables in metrics.items()}
    limits = {name: tables.limits for name, tables in metrics.items()}
    rows = rates.rate(model, *files, manifest, confirmed, limits)
    return Tables(model, manifest, shards, metrics, through_csv(rows))


def _scored(*arguments: Any) -> tuple[pa.Table, pa.Table]:
    """The pairs of a shard and what stands aside."""
    pairs: list[pa.Table] = []
    aside, _ = gathered(scoring.score_shard, *arguments, pairs.append)
    return pa.concat_tables(pairs), aside


def read(study: Path, folder: Path) -> Tables:
    """The tables in the folder of results of a study file."""
    model = load(study)
    metrics = {}
    for name in model.chosen:
        shards = sorted((folder / "scores" / name).glob("*.parquet"))
        asides = [file for file in shards if file.name.endswith(".aside.parquet")]
        metrics[name] = MetricTables(
            pa.concat_tables(stored.read(file) for file in shards if file not in asides),
            pa.concat_tables(stored.read(file) for file in asides),
            stored.read(folder / "suspected" / f"{name}.parquet"),
            stored.read(folder / "suspected" / f"{name}.distribution.csv"),
            stored.read(folder / "confirmed" / f"{name}.parquet"),
            stored.read(folder / "confirmed" / f"{name}.limits.csv"),
        )
    manifest, shards = (stored.read(folder / "strata" / f"{name}.csv") for name in ("manifest", "shards"))
    return Tables(model, manifest, shards, metrics, stored.read(folder / "rates.csv"))


def text_table(study: Study, side: str, rows: list[dict]) -> pa.Table:
    """The columns that the study needs, as intake reads them."""
    names = list(dict.fromkeys(intake.columns_of(study, side)))
    return pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names})


def through_csv(table: pd.DataFrame) -> pd.DataFrame:
    """A table as the next step reads it."""
    with NamedTemporaryFile(suffix=".csv") as file:
        file.write(stored.encoded(table))
        file.flush()
        return stored.read(Path(file.name))


def assert_rates(results: Path, study: dict[str, Any], tables: dict[str, list[list[str]]]) -> None:
    """The rates of a study are those of the library on the same study and rows, computed afresh."""
    rows = {side: [dict(zip(own[0], row, strict=True)) for row in own[1:]] for side, own in tables.items()}
    fresh = run(study, rows["puf"], rows["eif"], rows["iuf"]).rates
    found = pd.read_csv(results / "rates.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(found, fresh.astype(str))
