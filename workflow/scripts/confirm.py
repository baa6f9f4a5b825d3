"""Adapter of the rule `confirm`."""

from reident import ledger
from reident.linkage import confirmation
from reident.linkage.metrics import REGISTRY

with ledger.step(snakemake) as step:
    tables = {"suspected": step.open("suspected"), "iuf": step.open("iuf"), "strata": step.open("strata_puf")}
    tables |= {"files": step.open_sides(), "manifest": step.read("manifest")}
    sinks = {name: step.sink(name) for name in ("confirmed", "positions")}
    metric, folder = REGISTRY[step.metric], step.scratch
    step.write("limits", confirmation.confirm(step.settings, metric, **tables, **sinks, folder=folder))
