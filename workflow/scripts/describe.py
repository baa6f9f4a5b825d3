"""Adapter of the rule `describe`."""

from reident import ledger
from reident.linkage import description

with ledger.step(snakemake) as step:
    prepared = {side: step.read(side) for side in ("puf", "eif", "iuf")}
    binned = {side: step.read(f"binned_{side}") for side in ("puf", "eif")}
    confirmed = dict(zip(step.part.metrics, step.open_all("confirmed"), strict=True))
    tables = description.describe(step.part, prepared, binned, step.read("manifest"), confirmed)
    for name, table in tables._asdict().items():
        step.write(name, table)
