"""Adapter of the rule `microaggregate`."""

from reident import ledger
from reident.microaggregation import masking as files

with ledger.step(snakemake) as step:
    original = files.read_original(step.settings, step.path("original"))
    step.write_all(files.make(step.settings, original))
