"""Adapter of the rule `score`."""

from reident import ledger
from reident.linkage import scoring, strata
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Estimates, ScoringContext

with ledger.step(snakemake) as step:
    tables = {"files": step.open_sides(), "strata": step.read_sides("strata_"), "manifest": step.read("manifest")}
    shard, n_shards = map(int, step.wildcards["scatteritem"].split("-of-"))
    blocks = strata.pack(tables["manifest"], n_shards).query("shard == @shard")
    estimates = [step.read(name) for name in ("levels", "model") if step.inputs[name]]
    weights = Estimates(*estimates) if estimates else None
    context = ScoringContext(
        threads=step.threads, functions=step.inputs["functions"], progress=step.progress, weights=weights
    )
    sinks = {name: step.sink(name) for name in ("pairs", "claims")}
    scoring.score_shard(step.settings, REGISTRY[step.metric], **tables, blocks=blocks, context=context, **sinks)
