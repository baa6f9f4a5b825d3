"""Adapter of the rule `sample_population`."""

from reident import ledger
from reident.filerisk import numerical_study

with ledger.step(snakemake) as step:
    step.check_chain()
    population, work = step.read("population"), {"threads": step.threads, "progress": step.progress}
    step.write_all(numerical_study.run(step.settings, population=population, **work))
