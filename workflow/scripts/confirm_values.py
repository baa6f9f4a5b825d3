"""Adapter of the rule `confirm_values`."""

from reident import ledger
from reident.intake.sources import batches
from reident.linkage.metrics.contract import ScoringContext
from reident.values import prepare, rates

with ledger.step(snakemake) as step:
    texts = {side: batches(extract, step.path(side)) for side, extract in step.settings.extracts.items()}
    prepared = prepare.prepare(step.settings, texts)
    context = ScoringContext(threads=step.threads, functions=step.inputs["functions"], progress=step.progress)
    made = rates.confirm(step.settings, prepared, context)
    step.write_all({**made._asdict(), "account": prepared.account, "warnings": prepared.warnings})
