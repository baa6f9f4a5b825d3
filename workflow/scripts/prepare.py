"""Adapter of the rule `prepare`."""

from reident import ledger
from reident.intake.prepare import prepare_files
from reident.intake.sources import batches

with ledger.step(snakemake) as step:
    sources = {side: batches(extract, step.path(side)) for side, extract in step.settings.extracts.items()}
    sinks = {name: step.sink(name) for name in ("puf", "eif", "iuf", "clusters")}
    step.write_all(prepare_files(step.settings, sources, sinks, step.scratch, step.threads))
