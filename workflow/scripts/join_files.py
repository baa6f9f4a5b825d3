"""Adapter of the rule `join_files`."""

from reident import ledger
from reident.together import join as together

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = {"strata": step.open("strata"), "manifest": step.read("manifest"), "clusters": step.open("clusters")}
    pairs = together.by_metric(step.settings, step.open_all("pairs"))
    persons = together.persons(step.settings, step.open_all("eif"))
    released = step.open_all("puf")
    step.write("rates", together.join(step.settings, released=released, pairs=pairs, persons=persons, **tables))
