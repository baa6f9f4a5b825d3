"""Adapter of the rule `assess_scenarios`."""

from reident import ledger
from reident.filerisk import scenarios

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = {name: step.read(name) for name in ("file", "population")}
    step.write_all(scenarios.assess(step.settings, **tables, threads=step.threads, progress=step.progress))
