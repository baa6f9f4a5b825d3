"""Adapter of the rule `compare`."""

from reident import ledger
from reident.pipeline import comparison

with ledger.step(snakemake) as step:
    step.check_chain()
    found = step.read_all("tables")
    step.write("comparison", comparison.compare(step.wildcards["table"], step.members, found))
