"""Adapter of the rule `confirm`."""

from reident import confirmation, ledger
from reident.metrics import REGISTRY

with ledger.step(snakemake) as step:
    scored = step.read_all("pairs"), step.read_all("aside")
    strata = list(step.read("manifest")["stratum"])
    found = confirmation.confirm(
        step.study, REGISTRY[step.metric], step.read("suspected"), *scored, step.read("iuf"), strata
    )
    for name, table in found._asdict().items():
        step.write(name, table)
