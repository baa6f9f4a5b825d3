"""Adapter of the rule `extrapolate`."""

from reident import ledger
from reident.larger import curves

with ledger.step(snakemake) as step:
    counts = dict(zip(step.settings.metrics, step.read_all("counts"), strict=True))
    step.write("rates", curves.extrapolate(step.settings, counts))
