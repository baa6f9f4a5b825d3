"""Adapter of the rule `prepare`."""

from reident import ledger
from reident.intake import prepare as intake

with ledger.step(snakemake) as step:
    sources = {side: intake.batches(step.part, side, step.path(side)) for side in step.part.sides}
    sinks = {name: step.sink(name) for name in ("puf", "eif", "iuf", "clusters")}
    step.write_all(intake.prepare_files(step.part, sources, sinks, step.scratch, step.threads))
