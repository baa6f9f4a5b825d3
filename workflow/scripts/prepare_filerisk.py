"""Adapter of the rule `prepare_filerisk`."""

from reident import ledger
from reident.filerisk import prepare

with ledger.step(snakemake) as step:
    paths = {"file": step.part.side, "population": "population", "original": "unperturbed"}
    sources = {
        name: prepare.batches(step.part, name, step.path(path))
        for name, path in paths.items()
        if name == "file" or getattr(step.part, name)
    }
    sinks = {name: step.sink(name) for name in paths}
    step.write_all(prepare.prepare_files(step.part, sources, sinks, step.scratch))
