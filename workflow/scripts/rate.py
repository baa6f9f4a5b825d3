"""Adapter of the rule `rate`."""

from reident import ledger
from reident.linkage import clusters, rates

with ledger.step(snakemake) as step:
    step.check_chain()
    prepared = {side: step.open(side) for side in ("puf", "eif")}
    strata = {side: step.open(f"strata_{side}") for side in ("puf", "eif")}
    pairs = dict(zip(step.part.metrics, step.open_all("pairs"), strict=True))
    limits = dict(zip(step.part.metrics, step.read_columns("limits", rates.LIMITS), strict=True))
    numbers, manifest = step.open("clusters"), step.read("manifest")
    tables = prepared, step.open("iuf"), strata, manifest, pairs, limits
    model = step.read("model") if step.inputs["model"] else None
    step.write("rates", rates.rate(step.part, *tables, numbers, model))
    step.write("clusters", clusters.rate(step.part, numbers, strata["puf"], manifest, pairs))
