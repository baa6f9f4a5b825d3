"""Adapter of the rule `try_recodings`."""

from reident import ledger
from reident.linkage.attack import AttackFiles
from reident.linkage.metrics.contract import ScoringContext
from reident.suggestion import suggest

with ledger.step(snakemake) as step:
    prepared, binned, strata = (step.read_sides(kind) for kind in ("", "binned_", "strata_"))
    tables = {name: step.read(name) for name in ("iuf", "manifest", "clusters")}
    files = AttackFiles(prepared=prepared, strata=strata, binned=binned, **tables)
    positions = dict(zip(step.settings.attack.metrics, step.read_all("confirmed"), strict=True))
    context = ScoringContext(threads=step.threads, functions=step.inputs["functions"])
    work = {"folder": step.checkpoints, "context": context, "progress": step.progress}
    step.write_all(suggest.suggest(step.settings, files=files, positions=positions, **work))
