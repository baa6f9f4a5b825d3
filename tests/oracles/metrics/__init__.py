"""The oracle of each metric in a module of its own: what it suspects, what it tolerates, and which options it has.

A module of this package is the oracle of the metric of its name. Random studies, made-up results and changes of studies
have every metric from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


@dataclass(frozen=True)
class Oracle:
    options: Callable  # of the columns of the linking variables: a strategy of the section of the metric
    tolerance: Callable  # (study, options, puf, eif, links): the most variables that differ in a suspected pair
    pairs: Callable | None = None  # like `tolerance`: the suspected pairs before the rank filter
    # In its place where claims are made from more pairs than are suspected: all pairs, and the least suspected score.
    weighed: Callable | None = None
    high_is_best: Callable = lambda _: True  # of the options
    ranked: bool = True  # whether the rank filter applies
    rounded: bool = False  # whether its scores are rounded to twelve decimals
    # For made-up results: the share of records that it suspects, and of those the share that is confirmed.
    strength: tuple[float, float] = (0.3, 0.2)
    changes: tuple[dict[str, Any], ...] = ()  # sections of the metric, each of which changes a result


NAMES = [module.name for module in iter_modules(__path__) if module.name not in ("drawing", "tolerances")]
ORACLES: dict[str, Oracle] = {name: import_module(f"{__name__}.{name}").ORACLE for name in NAMES}
