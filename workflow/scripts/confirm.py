"""Adapter of the rule `confirm`."""

from reident import ledger
from reident.linkage import confirmation
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    keys = {side: step.open(side).read(list(step.part.keys[side])) for side in ("puf", "eif")}
    truth = keys, step.read("iuf"), step.read("strata_puf"), step.read("manifest")
    metric, sinks = REGISTRY[step.metric], (step.sink("confirmed"), step.sink("positions"))
    step.write("limits", confirmation.confirm(step.part, metric, step.open("suspected"), *truth, *sinks))
