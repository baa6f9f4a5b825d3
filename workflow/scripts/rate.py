"""Adapter of the rule `rate`."""

from reident import ledger
from reident.linkage import clusters, description, rates

with ledger.step(snakemake) as step:
    step.check_chain()
    rating, describing = step.settings.rating, step.settings.describing
    prepared, binned, strata = (step.open_sides(kind) for kind in ("", "binned_", "strata_"))
    pairs = dict(zip(rating.metrics, step.open_all("pairs"), strict=True))
    limits = dict(zip(rating.metrics, step.read_columns("limits", rates.LIMITS), strict=True))
    numbers, manifest = step.open("clusters"), step.read("manifest")
    tables = prepared, step.open("iuf"), strata, manifest, pairs, limits
    model = step.read("model") if step.inputs["model"] else None
    step.write("rates", rates.rate(rating, *tables, numbers, model))
    step.write("clusters", clusters.rate(rating, numbers, strata["puf"], manifest, pairs))
    tables = prepared, binned, step.read("iuf"), step.read_sides("strata_"), pairs
    step.write_all(description.describe(describing, *tables))
