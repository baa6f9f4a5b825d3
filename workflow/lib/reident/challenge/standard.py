"""The standard attacks: five metrics at their defaults, whatever the study declares (METHODS §6.10)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from reident.linkage import metrics
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.euclidean import Options as Euclidean
from reident.sections.linkage import Binning, RankFilter

if TYPE_CHECKING:
    from reident.linkage.attack_settings import AttackSettings
    from reident.sections.base import Section

NAMES = metrics.standard()
"""The metrics of the standard attacks."""

DEFAULTS: dict[str, Section] = {name: REGISTRY[name].options() for name in NAMES} | {"euclidean": Euclidean(norm="rms")}
"""Their options: the defaults, and for Euclidean the threshold that does not shrink with the number of variables."""


def standard(declared: AttackSettings) -> AttackSettings | None:
    """Return the standard attacks that are not among those of a study; None if all of them are.

    A study with a smaller rank limit, or that keeps fewer pairs, than the default does not make them weaker.
    """
    limits, binning = RankFilter(), Binning()
    max_pairs, keep = max(declared.max_pairs, limits.max_pairs), max(declared.keep, limits.keep)
    chosen = {
        name: options
        for name, options in DEFAULTS.items()
        if fits(name, declared) and not _is_declared(name, declared, binning, max_pairs)
    }
    if not chosen:
        return None
    return dataclasses.replace(declared, metrics=chosen, binning=binning, max_pairs=max_pairs, keep=keep)


def fits(name: str, declared: AttackSettings) -> bool:
    """Return whether a standard metric can compare the records, or the units, of a study."""
    if declared.members is not None and REGISTRY[name].score_units is None:
        return False
    try:
        REGISTRY[name].check(DEFAULTS[name], declared.variables)
    except ValueError:
        return False
    return True


def _is_declared(name: str, declared: AttackSettings, binning: Binning, max_pairs: int) -> bool:
    """Return whether the study makes a standard attack itself: with its options, bins and rank limit."""
    if declared.metrics.get(name) != DEFAULTS[name]:
        return False
    if REGISTRY[name].ranked and declared.max_pairs != max_pairs:
        return False
    if not any(variable.is_numeric for variable in declared.variables):
        return True
    if REGISTRY[name].table(DEFAULTS[name]) == "binned":
        return declared.binning == binning
    return REGISTRY[name].weighs or declared.binning.scope == binning.scope
