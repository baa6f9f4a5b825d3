"""Adapter of the rule `rank`."""

from reident import ledger, ranking
from reident.metrics import REGISTRY

with ledger.step(snakemake) as step:
    ranked = ranking.rank(step.study, REGISTRY[step.metric], step.read_all("pairs"))
    for name, table in ranked._asdict().items():
        step.write(name, table)
