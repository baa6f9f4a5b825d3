"""Adapter of the rule `thin`."""

from reident import ledger
from reident.larger import thinning
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    files = {side: step.read(side) for side in ("puf", "eif")}
    strata = {side: step.read(f"strata_{side}") for side in files}
    tables = thinning.Tables(files, step.read("iuf"), strata, step.read("manifest"))
    run = step.inputs["functions"], step.threads, step.progress
    counts = thinning.thin(step.part, REGISTRY[step.metric], tables, step.open("suspected"), *run)
    step.write("counts", counts)
