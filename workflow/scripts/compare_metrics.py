"""Adapter of the rule `compare_metrics`."""

from reident import ledger
from reident.linkage import agreement_of_metrics

with ledger.step(snakemake) as step:
    metrics, tables = step.settings.rating.metrics, (step.open_all("pairs"), step.read_all("ordered"))
    pairs, claims = (dict(zip(metrics, by_metric, strict=True)) for by_metric in tables)
    truth = step.open("iuf"), step.open_sides("strata_"), step.read("manifest")
    tables = *truth, pairs, claims, step.open("clusters")
    step.write_all(agreement_of_metrics.compare(step.settings, *tables))
