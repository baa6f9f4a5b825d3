"""Adapter of the rule `bin`."""

from reident import ledger
from reident.linkage import bins

with ledger.step(snakemake) as step:
    files = {side: step.read(side) for side in ("puf", "eif")}
    strata = {side: step.read(f"strata_{side}") for side in files}
    for name, table in bins.bin_files(step.part, files, strata, step.read("manifest"))._asdict().items():
        step.write(name, table)
