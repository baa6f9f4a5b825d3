"""Adapter of the rule `export_confirmed`."""

from reident import ledger
from reident.linkage import confirmation

with ledger.step(snakemake) as step:
    step.write("pairs", confirmation.export(step.read("confirmed")))
