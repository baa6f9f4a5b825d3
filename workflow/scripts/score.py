"""Adapter of the rule `score`."""

from reident import ledger
from reident.linkage import scoring
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    tables = [step.read(name) for name in ("puf", "eif", "manifest", "shards")]
    work = scoring.Work(step.wildcards["shard"], step.threads, step.inputs["functions"], step.progress)
    sinks = step.sink("pairs"), step.sink("aside")
    scoring.score_shard(step.part, REGISTRY[step.metric], *tables, work, *sinks)
