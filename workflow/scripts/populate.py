"""Adapter of the rule `populate`."""

from reident import ledger, simulation

with ledger.step(snakemake) as step:
    step.write_all(simulation.populate(step.settings))
