"""Adapter of the rule `measure_utility`."""

from reident import ledger
from reident.utility import measure

with ledger.step(snakemake) as step:
    step.check_chain()
    original, released = step.read_all("tables")
    for name, table in measure.measure(step.part, original, released)._asdict().items():
        step.write(name, table)
