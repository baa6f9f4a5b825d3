"""Adapter of the rule `thin`."""

from reident import ledger
from reident.larger import thinning
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics.contract import ScoringContext

with ledger.step(snakemake) as step:
    prepared, strata = step.read_sides(), step.read_sides("strata_")
    files = AttackFiles(prepared=prepared, iuf=step.read("iuf"), strata=strata, manifest=step.read("manifest"))
    context = ScoringContext(threads=step.threads, functions=step.inputs["functions"], progress=step.progress)
    step.write(
        "counts",
        thinning.thin(step.settings, step.metric, tables=files, suspected=step.open("suspected"), context=context),
    )
