"""Adapter of the rule `stratify`."""

from reident import ledger
from reident.linkage import strata

with ledger.step(snakemake) as step:
    tables = [step.read(name) for name in ("puf", "eif", "iuf")]
    for name, table in strata.stratify(step.part, *tables, step.params["pairs_per_shard"])._asdict().items():
        step.write(name, table)
