"""Adapter of the rule `try_recodings`."""

from reident import ledger
from reident.linkage.counterfactual import Files
from reident.suggestion import suggest
from reident.suggestion.trial import Setting

with ledger.step(snakemake) as step:
    tables = [step.read_sides(kind) for kind in ("", "binned_", "strata_")]
    files = Files(*tables, step.read("manifest"), step.read("iuf"))
    own = step.read("clusters"), step.inputs["functions"], step.threads
    positions = dict(zip(step.part.attacks, step.read_all("confirmed"), strict=True))
    setting = Setting(files, *own)
    step.write_all(suggest.suggest(step.part, setting, positions, step.checkpoints, step.progress))
