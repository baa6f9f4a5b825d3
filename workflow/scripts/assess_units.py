"""Adapter of the rule `assess_units`."""

from reident import ledger
from reident.filerisk import profiles

with ledger.step(snakemake) as step:
    step.check_chain()
    step.write("units", profiles.assess(step.settings, step.read("file"), threads=step.threads, progress=step.progress))
