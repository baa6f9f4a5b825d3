"""Adapter of the rule `prepare_filerisk`."""

from reident import ledger
from reident.filerisk import prepare
from reident.intake.sources import batches, opened

with ledger.step(snakemake) as step:
    paths = {"file": step.settings.side, "population": "population", "original": "unperturbed"}
    sources = {name: batches(extract, step.path(paths[name])) for name, extract in step.settings.extracts.items()}
    sinks = {name: step.sink(name) for name in paths}
    with opened(step.settings.extracts, sources, step.scratch) as texts:
        step.write_all(prepare.prepare_files(step.settings, texts, sinks))
