"""Adapter of the rule `compare_variants`."""

from reident import ledger
from reident.pipeline import comparison
from reident.pipeline.steps import COMPARED

with ledger.step(snakemake) as step:
    step.check_chain()
    rows = COMPARED[step.wildcards["table"]].compared
    step.write("comparison", comparison.compare(rows, step.settings, step.read_all("tables")))
