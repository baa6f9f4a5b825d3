"""Adapter of the rule `bin`."""

from reident import ledger
from reident.linkage import bins

with ledger.step(snakemake) as step:
    binned = bins.bin_files(step.part, *(step.read(name) for name in ("puf", "eif", "manifest")))
    for name, table in binned._asdict().items():
        step.write(name, table)
