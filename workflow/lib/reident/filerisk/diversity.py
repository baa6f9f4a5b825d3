"""l-diversity and t-closeness of a sensitive variable in the cells of a set of key variables (METHODS §7.5).

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007; Li, Li and Venkatasubramanian 2007.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from reident.filerisk.cells_of_sets import Cells, Target
from reident.filerisk.estimates import significant
from reident.filerisk.quantities import DIGITS
from reident.kernels import diversity, keysets

NAN = float("nan")


class Diverse(NamedTuple):
    """The diversity of one sensitive variable for one set of key variables; NaN without a cell."""

    n_records: int
    distinct_l: float
    n_one_value: int
    one_value_share: float
    n_shared_value: int
    entropy_l: float
    recursive_2: float
    recursive_3: float
    t: float
    distance: str


def measure_diversity(cells: Cells, target: Target) -> Diverse:
    """Measure the diversity of a sensitive variable.

    Parameters
    ----------
    cells : Cells
        Of one set of key variables, where records have cells.
    target : Target
        A record without a value is left out.
    """
    grouped = keysets.group(cells.numbers, target.codes, target.order, len(cells.sizes))
    worst = diversity.diversity(grouped)
    distance, largest = "equal", worst.largest_distance
    if (places := target.by_place) is not None:
        distance = "ordered"
        grouped = keysets.group(cells.numbers, places.codes, places.order, len(cells.sizes))
        largest = diversity.ordered_distance(grouped)
    if not worst.n_records:
        return Diverse(0, NAN, 0, NAN, 0, NAN, NAN, NAN, NAN, distance)
    return Diverse(
        worst.n_records,
        worst.least_values,
        worst.n_one_value,
        round(worst.n_one_value / worst.n_records, DIGITS),
        worst.n_shared_value,
        _shown(math.exp(worst.least_entropy)),
        _shown(worst.largest_ratio),
        _shown(worst.largest_ratio_3),
        _shown(largest),
        distance,
    )


def _shown(value: float) -> float:
    """Return a number with nine significant digits, NaN for an infinite one."""
    return significant(round(value, DIGITS)) if math.isfinite(value) else NAN
