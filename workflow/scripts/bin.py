"""Adapter of the rule `bin`."""

from reident import ledger
from reident.linkage import bins

with ledger.step(snakemake) as step:
    files = {side: step.open(side) for side in ("puf", "eif")}
    strata = {side: step.read(f"strata_{side}") for side in files}
    codes, cutpoints = bins.cut(step.part, files, strata, step.read("manifest"))
    step.write("cutpoints", cutpoints)
    for side, sink in {side: step.sink(side) for side in files}.items():
        for table in bins.binned(step.part, files[side], codes[side]):
            sink(table)
