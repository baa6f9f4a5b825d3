"""Adapter of the rule `measure_thresholds`."""

from reident import ledger
from reident.filerisk import thresholds

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = {name: step.read(name) for name in ("file", "population", "categories")}
    step.write_all(thresholds.measure(step.settings, **tables, threads=step.threads))
