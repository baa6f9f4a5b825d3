"""Adapter of the rule `rate`."""

from reident import ledger
from reident.linkage import agreement_of_metrics, clusters, description, rates

with ledger.step(snakemake) as step:
    step.check_chain()
    settings = step.settings
    of_metrics = step.open_all("pairs"), step.open_all("suspected"), step.read_all("ordered")
    of_metrics += (step.read_columns("limits", rates.LIMITS),)
    by_metric = (dict(zip(settings.rating.metrics, tables, strict=True)) for tables in of_metrics)
    pairs, suspected, claims, curves = by_metric
    files, iuf, strata = step.open_sides(), step.open("iuf"), step.open_sides("strata_")
    both = {"manifest": step.read("manifest"), "pairs": pairs}
    numbers, model = step.open("clusters"), step.read("model") if step.inputs["model"] else None
    tables = {"prepared": files, "iuf": iuf, "strata": strata, "rank_curves": curves, "clusters": numbers}
    step.write("rates", rates.rate(settings.rating, **tables, **both, model=model))
    step.write("clusters", clusters.rate(settings.rating, numbers=numbers, strata=strata["puf"], **both))
    compared = {"iuf": iuf, "strata": strata, "suspected": suspected, "claims": claims, "clusters": numbers}
    step.write_all(agreement_of_metrics.compare(settings.comparing, **compared, **both))
    tables = {"prepared": files, "binned": step.open_sides("binned_"), "iuf": step.read("iuf")}
    step.write_all(description.describe(settings.describing, **tables, strata=step.read_sides("strata_"), pairs=pairs))
