"""Adapter of the rule `score`."""

from reident import ledger
from reident.linkage import scoring
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Estimates

with ledger.step(snakemake) as step:
    files = {side: step.open(side) for side in ("puf", "eif")}
    strata = {side: step.read(f"strata_{side}") for side in files}
    plan = step.read("manifest"), step.read("shards")
    estimates = [step.read(name) for name in ("levels", "model") if step.inputs[name]]
    work = scoring.Work(step.wildcards["shard"], step.threads, step.inputs["functions"], step.progress)
    work = work._replace(weights=Estimates(*estimates) if estimates else None)
    scoring.score_shard(step.part, REGISTRY[step.metric], files, strata, *plan, work, step.sink("pairs"))
