"""Adapter of the rule `prepare_filerisk`."""

from reident import ledger
from reident.filerisk import prepare as intake

with ledger.step(snakemake) as step:
    study = step.study
    text = intake.read_file(study, step.path(study.risk.side))
    population = intake.read_population(study, step.path("population")) if study.risk.population else None
    for name, table in intake.prepare(study, text, population)._asdict().items():
        step.write(name, table)
