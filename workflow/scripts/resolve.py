"""Adapter of the rule `resolve`."""

from reident import ledger, study

with ledger.step(snakemake) as step:
    step.write("study", study.canonical_json(step.study))
