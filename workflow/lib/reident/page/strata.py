"""Which strata tables and figures show, where there are many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pandas as pd

from reident.page.sentences import Sentences

if TYPE_CHECKING:
    from reident.report.results import Results

TEXT = Sentences("attack")

MAX_STRATA = 60
"""Strata that figures and tables show one by one; of more, they show the largest ones."""


MAX_WORST = 20
"""Strata whose rates figures and tables show where there are more than :data:`MAX_STRATA`: the worst ones."""


def shown_strata(results: Results) -> pd.DataFrame:
    """Return the strata that figures and tables show: the largest :data:`MAX_STRATA`, in the manifest's order."""
    manifest = results.strata
    if len(manifest) <= MAX_STRATA:
        return manifest
    size = manifest["n_puf"] + manifest["n_eif"]
    return manifest.loc[sorted(size.sort_values(ascending=False, kind="stable").index[:MAX_STRATA])]


def worst_strata(results: Results) -> pd.DataFrame:
    """Return the strata whose rates are shown: all, or the :data:`MAX_WORST` worst of many, in the manifest's order.

    The worst have the highest confirmed rate of any metric; among these, the most confirmed records.
    """
    manifest = results.strata
    if len(manifest) <= MAX_STRATA:
        return manifest
    by_stratum = results.table("rates.csv").groupby("stratum")
    risk = by_stratum.agg(rate=("confirmed_rate", "max"), confirmed=("n_confirmed", "sum"))
    risk = risk.reindex(manifest["stratum"]).reset_index(drop=True).fillna(0)
    order = risk.sort_values(["rate", "confirmed"], ascending=False, kind="stable").index
    return manifest.loc[sorted(order[:MAX_WORST])]


def with_strata_note(results: Results, caption: str, which: Literal["largest", "worst"] = "largest") -> str:
    """Return a caption, with a note where not all strata are shown."""
    total = len(results.table("strata/manifest.csv"))
    limit = MAX_STRATA if which == "largest" else MAX_WORST
    return f"{caption} {TEXT(f'strata.{which}', shown=limit, total=total)}" if total > MAX_STRATA else caption
