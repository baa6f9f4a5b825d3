"""Adapter of the rule `prepare_matching`."""

from reident import ledger
from reident.matching import prepare as intake

with ledger.step(snakemake) as step:
    options, copies = step.study.matched, range(len(step.study.matched.synthetic))
    confidential = intake.read_confidential(options, step.path("confidential"))
    synthetic = [intake.read_synthetic(options, at, step.path(f"synthetic_{at + 1}")) for at in copies]
    for name, table in intake.prepare(options, confidential, synthetic)._asdict().items():
        step.write(name, table)
