"""Adapter of the rule `weigh`."""

from reident import ledger
from reident.linkage import weights

with ledger.step(snakemake) as step:
    tables = {"files": step.read_sides(), "strata": step.read_sides("strata_"), "manifest": step.read("manifest")}
    iuf = step.read("iuf") if step.inputs["iuf"] else None
    work = {"threads": step.threads, "progress": step.progress}
    step.write_all(weights.estimate(step.settings, **tables, iuf=iuf, **work))
