"""Adapter of the rule `check_description`."""

import pandas as pd
from reident import ledger
from reident.plausibility.check import check

with ledger.step(snakemake) as step:
    prepared, strata = (step.read_sides(kind) for kind in ("", "strata_"))
    account = pd.concat([step.read("account"), step.read("strata_account")])
    step.write_all(check(step.settings, prepared=prepared, iuf=step.read("iuf"), strata=strata, account=account))
