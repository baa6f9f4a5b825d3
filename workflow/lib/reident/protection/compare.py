"""Rates before and after protection, stratum by stratum (METHODS §6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import pandas as pd

from reident.linkage.settings import COMPARED_RATES, SIDES, WHOLE

_Values: TypeAlias = tuple[str, ...] | None
"""The values of the strata variables of a stratum; None for the whole study."""


class Attack(NamedTuple):
    """The rates of an attack, and its strata."""

    rates: pd.DataFrame
    manifest: pd.DataFrame


def compare(strata: Sequence[str], after: Attack, before: Attack) -> pd.DataFrame:
    """Put the rates of two attacks with the same metrics side by side.

    Parameters
    ----------
    strata : sequence of str
        The names of the strata variables.
    after, before : Attack
        On the PUF, and on the same records before protection. Each has the strata of its own file.

    Returns
    -------
    pandas.DataFrame
        The columns of `protection/rates.csv`, by metric and then by the values of the strata, the whole study (``ALL``)
        first. Strata with the same values are on one line; what a stratum of only one file lacks is missing.
    """
    attacks = {side: _by_values(strata, attack) for side, attack in zip(SIDES, (before, after), strict=True)}
    lines = []
    for metric in dict.fromkeys(after.rates["metric"]):
        values_of_metric = {values for attack in attacks.values() for name, values in attack if name == metric}
        for values in sorted(values_of_metric, key=lambda values: (values is not None, values or ())):
            rows = {side: attack.get((metric, values), {}) for side, attack in attacks.items()}
            lines.append(
                {
                    "metric": metric,
                    "stratum": rows["after"].get("stratum", ""),
                    "stratum_before": rows["before"].get("stratum", ""),
                    **{f"{name}_{side}": rows[side].get(name) for name in COMPARED_RATES for side in SIDES},
                }
            )
    return pd.DataFrame(lines)


def _by_values(strata: Sequence[str], attack: Attack) -> dict[tuple[str, _Values], dict]:
    """Return each line of the rates by its metric and the values of its stratum."""
    names = attack.manifest["stratum"]
    values: dict[str, _Values] = dict(zip(names, map(tuple, attack.manifest[list(strata)].to_numpy()), strict=True))
    values[WHOLE] = None
    return {(line["metric"], values[line["stratum"]]): line for line in attack.rates.to_dict("records")}
