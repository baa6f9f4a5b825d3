"""Adapter of the rule `assess_attribution`."""

from reident import ledger
from reident.attribution import assessment

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = {name: step.read(name) for name in ("original", "released", "holdout", "categories")}
    step.write_all(assessment.assess(step.settings, **tables, threads=step.threads, progress=step.progress))
