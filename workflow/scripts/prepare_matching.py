"""Adapter of the rule `prepare_matching`."""

from reident import ledger
from reident.matching import prepare

with ledger.step(snakemake) as step:
    files = {None: "confidential"} | {at: f"synthetic_{at + 1}" for at in range(len(step.part.synthetic))}
    sources = [prepare.batches(step.part, at, step.path(name)) for at, name in files.items()]
    held = prepare.holdout_batches(step.part, step.path("holdout")) if step.part.holdout else None
    sinks = {name: step.sink(name) for name in ("confidential", "synthetic", "holdout")}
    step.write_all(prepare.prepare_files(step.part, sources, sinks, step.scratch, holdout=held))
