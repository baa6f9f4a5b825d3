"""Adapter of the rule `rate`."""

from reident import ledger
from reident.linkage import clusters, description, rates

with ledger.step(snakemake) as step:
    step.check_chain()
    rating, describing = step.settings.rating, step.settings.describing
    prepared, binned, strata = (step.open_sides(kind) for kind in ("", "binned_", "strata_"))
    pairs = dict(zip(rating.metrics, step.open_all("pairs"), strict=True))
    rank_curves = dict(zip(rating.metrics, step.read_columns("limits", rates.LIMITS), strict=True))
    both = {"manifest": step.read("manifest"), "pairs": pairs}
    numbers, model = step.open("clusters"), step.read("model") if step.inputs["model"] else None
    tables = {"prepared": prepared, "iuf": step.open("iuf"), "strata": strata, "rank_curves": rank_curves}
    step.write("rates", rates.rate(rating, **tables, **both, clusters=numbers, model=model))
    step.write("clusters", clusters.rate(rating, numbers=numbers, strata=strata["puf"], **both))
    tables = {"prepared": prepared, "binned": binned, "iuf": step.read("iuf"), "strata": step.read_sides("strata_")}
    step.write_all(description.describe(describing, **tables, pairs=pairs))
