"""Adapter of the rule `challenge`."""

from reident import ledger
from reident.challenge.attacks import TABLES, Made, challenge
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics.contract import ScoringContext

with ledger.step(snakemake) as step:
    prepared, binned, strata = (step.read_sides(kind) for kind in ("", "binned_", "strata_"))
    tables = {name: step.read(name) for name in ("iuf", "manifest", "clusters")}
    files = AttackFiles(prepared=prepared, strata=strata, binned=binned, **tables)
    made = {name: step.read(name) for name in TABLES if step.inputs[name]}
    pairs = dict(zip(step.settings.declared.metrics, step.open_all("pairs"), strict=True))
    context = ScoringContext(threads=step.threads, functions=step.inputs["functions"], progress=step.progress)
    step.write("attacks", challenge(step.settings, files, Made(**made, pairs=pairs), context))
