"""Adapter of the rule `checklist`."""

from reident import ledger
from reident.study import checklists

with ledger.step(snakemake) as step:
    step.write("questions", checklists.table(checklists.load(step.path("checklist")), step.settings))
