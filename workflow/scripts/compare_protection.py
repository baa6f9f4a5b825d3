"""Adapter of the rule `compare_protection`."""

from reident import ledger
from reident.protection.compare import Attack, compare

with ledger.step(snakemake) as step:
    step.check_chain()
    rates, manifest, rates_before, manifest_before = step.read_all("tables")
    after, before = Attack(rates, manifest), Attack(rates_before, manifest_before)
    step.write("rates", compare(step.settings, after, before))
