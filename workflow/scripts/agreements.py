"""Adapter of the rule `agreements`."""

from reident import ledger
from reident.linkage.agreements import agreements

with ledger.step(snakemake) as step:
    step.write("agreements", agreements(step.settings, pairs=step.read("pairs"), rates=step.read("rates")))
