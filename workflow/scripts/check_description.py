"""Adapter of the rule `check_description`."""

import pandas as pd
from reident import ledger
from reident.plausibility import grouping
from reident.plausibility.check import check

with ledger.step(snakemake) as step:
    prepared, strata = (step.read_sides(kind) for kind in ("", "strata_"))
    account = pd.concat([step.read("account"), step.read("strata_account")])
    sources = {side: step.path(f"source_{side}") for side in prepared}
    texts = grouping.texts(step.settings.files, sources) if grouping.is_of_rows(prepared) else {}
    step.write("checks", check(step.settings, prepared, step.read("iuf"), strata, account, texts))
