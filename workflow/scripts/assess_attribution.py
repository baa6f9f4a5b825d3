"""Adapter of the rule `assess_attribution`."""

from reident import ledger
from reident.attribution import assessment

with ledger.step(snakemake) as step:
    step.check_chain()
    tables = [step.read(name) for name in ("original", "released", "holdout", "categories")]
    found = assessment.assess(step.settings, *tables, threads=step.threads, progress=step.progress)
    step.write_all(found)
