"""Adapter of the rule `resolve`."""

from reident import ledger
from reident.study import model as study

with ledger.step(snakemake) as step:
    step.write("study", study.canonical_json(step.settings))
