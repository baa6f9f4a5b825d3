"""Adapter of the rule `assess_scenarios`."""

from reident import ledger
from reident.filerisk import scenarios

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = [step.read(name) for name in ("file", "population")]
    found = scenarios.assess(step.settings, *tables, threads=step.threads, progress=step.progress)
    step.write_all(found)
