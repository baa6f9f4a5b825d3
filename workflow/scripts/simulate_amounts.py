"""Adapter of the rule `simulate_amounts`."""

from reident import ledger, simulation

with ledger.step(snakemake) as step:
    step.write("original", simulation.draw_skewed(step.settings))
