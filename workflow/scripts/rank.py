"""Adapter of the rule `rank`."""

from reident import ledger
from reident.linkage import ranking

with ledger.step(snakemake) as step:
    distribution = ranking.rank(
        shards=step.open_all("pairs"),
        strata=step.open("strata_puf"),
        manifest=step.read("manifest"),
        suspected=step.sink("suspected"),
        assigning=step.settings,
    )
    step.write("distribution", distribution)
