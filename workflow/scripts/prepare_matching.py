"""Adapter of the rule `prepare_matching`."""

from reident import ledger
from reident.intake.sources import batches, opened
from reident.matching import prepare

with ledger.step(snakemake) as step:
    sources = {side: batches(extract, step.path(side)) for side, extract in step.settings.extracts.items()}
    sinks = {name: step.sink(name) for name in ("confidential", "synthetic", "holdout")}
    with opened(step.settings.extracts, sources, step.scratch) as texts:
        step.write_all(prepare.prepare_files(step.settings, texts, sinks))
