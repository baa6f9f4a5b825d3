"""Adapter of the rule `leave_out`."""

from reident import ledger
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics.contract import ScoringContext
from reident.plausibility.without import leave_out

with ledger.step(snakemake) as step:
    prepared, binned, strata = (step.read_sides(kind) for kind in ("", "binned_", "strata_"))
    tables = {name: step.read(name) for name in ("iuf", "manifest", "clusters")}
    files = AttackFiles(prepared=prepared, strata=strata, binned=binned, **tables)
    context = ScoringContext(threads=step.threads, functions=step.inputs["functions"], progress=step.progress)
    step.write("without", leave_out(step.settings, files=files, context=context))
