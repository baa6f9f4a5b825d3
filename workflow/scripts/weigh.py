"""Adapter of the rule `weigh`."""

from reident import ledger
from reident.linkage import weights

with ledger.step(snakemake) as step:
    files = step.read_sides()
    strata = step.read_sides("strata_")
    iuf = step.read("iuf") if step.inputs["iuf"] else None
    manifest, how = step.read("manifest"), (step.threads, step.progress)
    step.write_all(weights.estimate(step.settings, files, strata, manifest, iuf, *how))
