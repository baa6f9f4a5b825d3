"""Adapter of the rule `explain`."""

from reident import ledger
from reident.linkage import explanation
from reident.linkage.counterfactual import Files
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Setting

with ledger.step(snakemake) as step:
    prepared, binned, strata = (step.read_sides(kind) for kind in ("", "binned_", "strata_"))
    files = Files(prepared, binned, strata, step.read("manifest"), step.read("iuf"))
    positions = dict(zip(step.part.metrics, step.open_all("confirmed"), strict=True))
    setting = Setting(threads=step.threads, functions=step.inputs["functions"], progress=step.progress)
    explained = explanation.explain(step.part, REGISTRY[step.metric], files, positions, setting)
    step.write_all(explained)
