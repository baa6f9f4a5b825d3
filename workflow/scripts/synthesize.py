"""Adapter of the rule `synthesize`."""

from reident import ledger, simulation

with ledger.step(snakemake) as step:
    step.write("file", simulation.synthesize(step.settings, step.wildcards["side"]))
