"""Adapter of the rule `prepare_attribution`."""

from reident import ledger
from reident.attribution import prepare

with ledger.step(snakemake) as step:
    texts = {side: prepare.read(step.part, side, step.path(side)) for side in step.part.files}
    for name, table in prepare.prepare(step.part, texts)._asdict().items():
        step.write(name, table)
