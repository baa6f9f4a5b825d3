"""Adapter of the rule `score`."""

from reident import ledger, scoring
from reident.metrics import REGISTRY

with ledger.step(snakemake) as step:
    tables = [step.read(name) for name in ("puf", "eif", "manifest", "shards")]
    work = scoring.Work(step.wildcards["shard"], step.threads, step.inputs["functions"], step.progress)
    scores = scoring.score_shard(step.study, REGISTRY[step.metric], *tables, work)
    for name, table in scores._asdict().items():
        step.write(name, table)
