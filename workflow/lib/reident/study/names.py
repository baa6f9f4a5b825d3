"""The names of columns and variables in a study, each of which must mean one thing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from reident.sections.base import refuse_repeats
from reident.sections.columns import RESERVED
from reident.sections.linkage import LinkingVariable, StrataVariable


def check(
    linking_variables: Sequence[LinkingVariable], strata: Sequence[StrataVariable], keys: Mapping[str, Sequence[str]]
) -> None:
    """Refuse names that are given twice, or that a result column has."""
    linking = [variable.name for variable in linking_variables]
    strata_names = [variable.name for variable in strata]
    refuse_repeats(linking, "linking_variables")
    refuse_repeats(strata_names, "strata")
    for variable, stratum in itertools.product(linking_variables, strata):
        if any(getattr(variable, field) == getattr(stratum, field) for field in ("name", "puf", "eif")):
            raise ValueError(
                f"`{variable.name}` must not be both a strata variable and a linking variable, because all pairs "
                "of a stratum agree on it. Remove it from one of the two lists."
            )
    key_names = [name for names in keys.values() for name in names]
    for name in key_names:
        if key_names.count(name) > 1 or name in linking or name in strata_names:
            raise ValueError(
                f"`{name}` must not be the name of a key column and of another column or variable. Give the "
                "variable another `name`, or correct `id`."
            )
    for name in [*key_names, *linking, *strata_names]:
        if name in RESERVED:
            raise ValueError(
                f"`{name}` must not be a name in the study, because a result column has this name. Choose another name."
            )
