"""Adapter of the rule `measure_utility`."""

from reident import ledger
from reident.utility import measure

with ledger.step(snakemake) as step:
    step.check_chain()
    original, released = step.read_all("tables")
    step.write_all(measure.measure(step.settings, original=original, released=released))
