"""Adapter of the rule `agreements`."""

from reident import ledger
from reident.linkage import agreements

with ledger.step(snakemake) as step:
    found = agreements.agreements(step.part, step.read("confirmed"), step.read("rates"))
    step.write("agreements", found)
