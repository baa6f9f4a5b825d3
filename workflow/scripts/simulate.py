"""Adapter of the rule `simulate`."""

from reident import ledger, simulation

with ledger.step(snakemake) as step:
    step.write_all(simulation.simulate(step.settings))
