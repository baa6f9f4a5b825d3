"""Adapter of the rule `populate`."""

from reident import ledger, simulation

with ledger.step(snakemake) as step:
    for side, table in simulation.populate(step.study.simulate).items():
        step.write(side, table)
