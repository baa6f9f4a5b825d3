"""Adapter of the rule `stratify`."""

from reident import ledger
from reident.linkage import strata

with ledger.step(snakemake) as step:
    records = [step.open(side).read(list(step.settings.strata)) for side in ("puf", "eif")]
    made = strata.stratify(step.settings, *records, step.read("iuf"))
    step.write_all(made)
