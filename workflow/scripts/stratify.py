"""Adapter of the rule `stratify`."""

from reident import ledger
from reident.linkage import strata

with ledger.step(snakemake) as step:
    records = {side: step.open(side).read(list(step.settings.strata)) for side in ("puf", "eif")}
    step.write_all(strata.stratify(step.settings, **records, iuf=step.read("iuf")))
