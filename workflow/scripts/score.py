"""Adapter of the rule `score`."""

from reident import ledger
from reident.linkage import scoring, strata
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Estimates

with ledger.step(snakemake) as step:
    files = step.open_sides()
    lines, manifest = step.read_sides("strata_"), step.read("manifest")
    shard, n_shards = map(int, step.wildcards["scatteritem"].split("-of-"))
    blocks = strata.pack(manifest, n_shards).query("shard == @shard")
    estimates = [step.read(name) for name in ("levels", "model") if step.inputs[name]]
    weights = Estimates(*estimates) if estimates else None
    work = scoring.Work(step.threads, step.inputs["functions"], step.progress, weights)
    scoring.score_shard(
        step.part, REGISTRY[step.metric], files, lines, manifest, blocks, work, step.sink("pairs")
    )
