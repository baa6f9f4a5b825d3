"""Adapter of the rule `order_claims`."""

from reident import ledger
from reident.linkage import surest

with ledger.step(snakemake) as step:
    step.write("claims", surest.order(step.settings, step.open_all("candidates"), step.open("iuf")))
