"""Adapter of the rule `weigh`."""

from reident import ledger
from reident.linkage import weights

with ledger.step(snakemake) as step:
    files = {side: step.read(side) for side in ("puf", "eif")}
    strata = {side: step.read(f"strata_{side}") for side in files}
    iuf = step.read("iuf") if step.inputs["iuf"] else None
    manifest, how = step.read("manifest"), (step.threads, step.progress)
    for name, table in weights.estimate(step.part, files, strata, manifest, iuf, *how)._asdict().items():
        step.write(name, table)
