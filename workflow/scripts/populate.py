"""Adapter of the rule `populate`."""

from reident import ledger, simulation

with ledger.step(snakemake) as step:
    for side, table in simulation.populate(step.part).items():
        step.write(side, table)
