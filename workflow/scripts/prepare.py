"""Adapter of the rule `prepare`."""

from reident import ledger
from reident.intake import prepare as intake

with ledger.step(snakemake) as step:
    sources = {side: intake.read_source(step.part, side, step.path(side)) for side in step.part.sides}
    prepared = intake.prepare(step.part, **sources)
    for name, table in prepared._asdict().items():
        step.write(name, table)
