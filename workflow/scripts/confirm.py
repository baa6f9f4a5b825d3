"""Adapter of the rule `confirm`."""

from reident import ledger
from reident.linkage import confirmation, surest

with ledger.step(snakemake) as step:
    tables = {"suspected": step.open("suspected"), "iuf": step.open("iuf"), "strata": step.open("strata_puf")}
    tables |= {"files": step.open_sides(), "manifest": step.read("manifest")}
    confirming, claiming = step.settings.confirming, step.settings.claiming
    sinks = {name: step.sink(name) for name in ("confirmed", "positions")}
    step.write("limits", confirmation.confirm(confirming, **tables, **sinks, folder=step.scratch))
    step.write("claims", surest.order(claiming, step.open_all("candidates"), step.open("iuf")))
