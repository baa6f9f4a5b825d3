"""Adapter of the rule `confirm`."""

from reident import ledger
from reident.linkage import confirmation

with ledger.step(snakemake) as step:
    tables = {"suspected": step.open("suspected"), "iuf": step.open("iuf"), "strata": step.open("strata_puf")}
    tables |= {"files": step.open_sides(), "manifest": step.read("manifest")}
    sinks = {name: step.sink(name) for name in ("confirmed", "positions")}
    step.write("limits", confirmation.confirm(step.settings, **tables, **sinks, folder=step.scratch))
