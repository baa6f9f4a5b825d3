"""Adapter of the rule `assess_file`."""

from reident import ledger
from reident.filerisk import assessment

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = {name: step.read(name) for name in ("file", "population", "original", "categories")}
    step.write_all(assessment.assess(step.settings, **tables, threads=step.threads, progress=step.progress))
