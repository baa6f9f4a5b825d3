"""Adapter of the rule `describe`."""

from reident import ledger
from reident.linkage import description

with ledger.step(snakemake) as step:
    prepared, binned = (
        {side: step.open(f"{kind}{side}") for side in ("puf", "eif")} for kind in ("", "binned_")
    )
    strata = {side: step.read(f"strata_{side}") for side in ("puf", "eif")}
    pairs = dict(zip(step.part.metrics, step.open_all("pairs"), strict=True))
    tables = description.describe(step.part, prepared, binned, step.read("iuf"), strata, pairs)
    for name, table in tables._asdict().items():
        step.write(name, table)
