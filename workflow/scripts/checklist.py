"""Adapter of the rule `checklist`."""

from reident import ledger
from reident.study import checklists

with ledger.step(snakemake) as step:
    questions = [checklists.load(step.path(side)) for side in step.inputs]
    step.write("questions", checklists.table(questions, step.settings))
