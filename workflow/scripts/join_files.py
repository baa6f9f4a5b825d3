"""Adapter of the rule `join_files`."""

from reident import ledger
from reident.linkage import together

with ledger.step(snakemake) as step:
    step.check_chain()
    pairs = together.by_metric(step.settings, step.open_all("pairs"))
    persons = together.persons(step.settings, step.open_all("eif"))
    tables = step.open_all("puf"), step.open("strata"), step.read("manifest"), pairs
    step.write("rates", together.join(step.settings, *tables, persons, step.open("clusters")))
