"""Adapter of the rule `compare_metrics`."""

from reident import ledger
from reident.linkage import agreement_of_metrics

with ledger.step(snakemake) as step:
    metrics, tables = step.settings.rating.metrics, (step.open_all("pairs"), step.read_all("ordered"))
    pairs, claims = (dict(zip(metrics, by_metric, strict=True)) for by_metric in tables)
    truth = {"iuf": step.open("iuf"), "strata": step.open_sides("strata_"), "manifest": step.read("manifest")}
    found = {"pairs": pairs, "claims": claims, "clusters": step.open("clusters")}
    step.write_all(agreement_of_metrics.compare(step.settings, **truth, **found))
