"""Adapter of the rule `measure_distances`."""

from reident import ledger
from reident.distances import measure as closest

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = {name: step.read(name) for name in ("confidential", "synthetic", "holdout")}
    step.write_all(closest.measure(step.settings, **tables, threads=step.threads, progress=step.progress))
