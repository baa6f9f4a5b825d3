"""Adapter of the rule `rank`."""

from reident import ledger
from reident.linkage import ranking
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    shards, suspected = step.open_all("pairs"), step.sink("suspected")
    step.write("distribution", ranking.rank(step.part, REGISTRY[step.metric], shards, suspected))
