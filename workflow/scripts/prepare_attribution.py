"""Adapter of the rule `prepare_attribution`."""

from reident import ledger
from reident.attribution import prepare

with ledger.step(snakemake) as step:
    sources = {side: prepare.batches(step.part, side, step.path(side)) for side in step.part.files}
    sinks = {name: step.sink(name) for name in ("original", "released", "holdout")}
    step.write_all(prepare.prepare_files(step.part, sources, sinks, step.scratch))
