"""Adapter of the rule `explain`."""

from reident import ledger
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics.contract import ScoringContext
from reident.why import explanation

with ledger.step(snakemake) as step:
    prepared, binned, strata = (step.read_sides(kind) for kind in ("", "binned_", "strata_"))
    tables = {name: step.read(name) for name in ("iuf", "manifest")}
    files = AttackFiles(prepared=prepared, strata=strata, binned=binned, **tables)
    positions = dict(zip(step.settings.metrics, step.open_all("confirmed"), strict=True))
    context = ScoringContext(threads=step.threads, functions=step.inputs["functions"], progress=step.progress)
    step.write_all(explanation.explain(step.settings, step.metric, files=files, positions=positions, context=context))
