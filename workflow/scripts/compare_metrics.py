"""Adapter of the rule `compare_metrics`."""

from reident import ledger
from reident.linkage import agreement_of_metrics

with ledger.step(snakemake) as step:
    metrics = step.settings.rating.metrics
    tables = step.open_all("pairs"), step.open_all("suspected"), step.read_all("ordered")
    pairs, suspected, claims = (dict(zip(metrics, by_metric, strict=True)) for by_metric in tables)
    truth = {"iuf": step.open("iuf"), "strata": step.open_sides("strata_"), "manifest": step.read("manifest")}
    found = {"pairs": pairs, "suspected": suspected, "claims": claims, "clusters": step.open("clusters")}
    step.write_all(agreement_of_metrics.compare(step.settings, **truth, **found))
