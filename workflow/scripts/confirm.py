"""Adapter of the rule `confirm`."""

from reident import ledger
from reident.linkage import confirmation
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    files = step.open_sides()
    truth = files, step.open("iuf"), step.open("strata_puf"), step.read("manifest")
    metric, sinks = REGISTRY[step.metric], (step.sink("confirmed"), step.sink("positions"))
    tables = step.open("suspected"), *truth, *sinks
    step.write("limits", confirmation.confirm(step.settings, metric, *tables, step.scratch))
