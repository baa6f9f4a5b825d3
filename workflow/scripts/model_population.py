"""Adapter of the rule `model_population`."""

from reident import ledger
from reident.filerisk import modelling

with ledger.step(snakemake) as step:
    step.check_chain()
    step.write_all(modelling.model(step.settings, file=step.read("file"), population=step.read("population")))
