"""Adapter of the rule `rank`."""

from reident import ledger
from reident.linkage import ranking
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    strata, manifest = step.open("strata_puf"), step.read("manifest")
    pairs, suspected = step.open_all("pairs"), step.sink("suspected")
    tables = pairs, strata, manifest, suspected
    step.write("distribution", ranking.rank(REGISTRY[step.metric], *tables, step.settings))
