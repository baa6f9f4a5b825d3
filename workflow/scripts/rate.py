"""Adapter of the rule `rate`."""

from reident import ledger
from reident.linkage import rates

with ledger.step(snakemake) as step:
    step.check_chain()
    files = [step.read(name) for name in ("puf", "eif", "iuf", "manifest")]
    confirmed = dict(zip(step.part.metrics, step.open_all("confirmed"), strict=True))
    limits = dict(zip(step.part.metrics, step.read_all("limits"), strict=True))
    step.write("rates", rates.rate(step.part, *files, confirmed, limits))
