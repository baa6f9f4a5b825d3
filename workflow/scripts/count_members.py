"""Adapter of the rule `count_members`."""

from reident import ledger
from reident.linkage import members

with ledger.step(snakemake) as step:
    prepared, binned, strata = (step.read_sides(kind) for kind in ("", "binned_", "strata_"))
    pairs = dict(zip(step.settings.scoring, step.open_all("pairs"), strict=True))
    tables = {"compared": {"prepared": prepared, "binned": binned}, "iuf": step.read("iuf"), "strata": strata}
    step.write_all(members.count(step.settings, **tables, manifest=step.read("manifest"), pairs=pairs))
