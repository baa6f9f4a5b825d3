"""Adapter of the rule `bin`."""

from reident import ledger
from reident.linkage import bins

with ledger.step(snakemake) as step:
    files = {side: step.open(side) for side in ("puf", "eif")}
    strata = {side: step.open(f"strata_{side}") for side in files}
    found = bins.cut(step.part, files, strata, step.read("manifest"))
    for side, sink in {side: step.sink(side) for side in files}.items():
        for table in found.binned(side, files[side], strata[side]):
            sink(table)
    step.write("cutpoints", found.cutpoints())
