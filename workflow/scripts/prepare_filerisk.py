"""Adapter of the rule `prepare_filerisk`."""

from reident import ledger
from reident.filerisk import prepare

with ledger.step(snakemake) as step:
    text = prepare.read_file(step.part, step.path(step.part.side))
    population = prepare.read_population(step.part, step.path("population")) if step.part.population else None
    original = prepare.read_original(step.part, step.path("unperturbed")) if step.part.original else None
    for name, table in prepare.prepare(step.part, text, population, original)._asdict().items():
        step.write(name, table)
