"""Adapter of the rule `bin`."""

from reident import ledger
from reident.linkage import bins

with ledger.step(snakemake) as step:
    files, strata = step.open_sides(), step.open_sides("strata_")
    found = bins.cut(step.settings, files=files, strata=strata, manifest=step.read("manifest"))
    for side, sink in {side: step.sink(side) for side in files}.items():
        for table in found.binned(side, files[side], strata[side]):
            sink(table)
    step.write("cutpoints", found.cutpoints())
