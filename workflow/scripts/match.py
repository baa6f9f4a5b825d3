"""Adapter of the rule `match`."""

from reident import ledger
from reident.matching import summary

with ledger.step(snakemake) as step:
    step.check_chain()
    found = summary.match_files(step.settings, confidential=step.read("confidential"), synthetic=step.read("synthetic"))
    step.write_all(found)
