"""Adapter of the rule `rate`."""

from reident import ledger
from reident.linkage import rates

with ledger.step(snakemake) as step:
    step.check_chain()
    strata = {side: step.read(f"strata_{side}") for side in ("puf", "eif")}
    pairs = dict(zip(step.part.metrics, step.open_all("pairs"), strict=True))
    limits = dict(zip(step.part.metrics, step.read_all("limits"), strict=True))
    tables = step.read("iuf"), strata, step.read("manifest"), pairs, limits
    step.write("rates", rates.rate(step.part, *tables))
