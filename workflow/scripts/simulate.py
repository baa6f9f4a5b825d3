"""Adapter of the rule `simulate`."""

from reident import ledger, simulation

with ledger.step(snakemake) as step:
    for side, table in simulation.simulate(step.part).items():
        step.write(side, table)
