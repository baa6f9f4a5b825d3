"""Adapter of the rule `confirm`."""

from reident import ledger
from reident.linkage import confirmation
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    pairs = step.open("suspected"), step.open_all("pairs"), step.open_all("aside")
    truth = step.read("iuf"), list(step.read("manifest")["stratum"])
    metric, confirmed = REGISTRY[step.metric], step.sink("confirmed")
    step.write("limits", confirmation.confirm(step.part, metric, *pairs, *truth, confirmed))
