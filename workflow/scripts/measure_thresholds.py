"""Adapter of the rule `measure_thresholds`."""

from reident import ledger
from reident.filerisk import thresholds

with ledger.step(snakemake) as step:
    step.check_chain()
    step.write_all(thresholds.measure(step.settings, step.read("file"), step.read("population")))
