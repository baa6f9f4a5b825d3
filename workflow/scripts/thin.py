"""Adapter of the rule `thin`."""

from reident import ledger
from reident.larger import thinning
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Setting

with ledger.step(snakemake) as step:
    files = step.read_sides()
    strata = step.read_sides("strata_")
    tables = thinning.Tables(files, step.read("iuf"), strata, step.read("manifest"))
    setting = Setting(threads=step.threads, functions=step.inputs["functions"], progress=step.progress)
    counts = thinning.thin(step.part, REGISTRY[step.metric], tables, step.open("suspected"), setting)
    step.write("counts", counts)
