"""Adapter of the rule `prepare_matching`."""

from reident import ledger
from reident.matching import prepare

with ledger.step(snakemake) as step:
    copies = range(len(step.part.synthetic))
    confidential = prepare.read_confidential(step.part, step.path("confidential"))
    synthetic = [prepare.read_synthetic(step.part, at, step.path(f"synthetic_{at + 1}")) for at in copies]
    for name, table in prepare.prepare(step.part, confidential, synthetic)._asdict().items():
        step.write(name, table)
