"""Adapter of the rule `export_why`."""

from reident import ledger
from reident.linkage import confirmation

with ledger.step(snakemake) as step:
    step.write("table", confirmation.export(step.read("pairs")))
