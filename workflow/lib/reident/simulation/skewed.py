"""Draw a file of skewed positive amounts, for studies of micro-aggregation (METHODS §9).

The logarithms are normal with one common factor. Every value is an integer: processors differ in the last bit of exp
and log, and rounding removes the difference.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from reident.simulation.population import Streams, as_text
from reident.simulation.section import SkewedAmounts

MEDIAN = 1_000_000
"""The median of every variable; it is large, which makes equal values rare."""

PERSON = "person"


def draw_skewed(spec: SkewedAmounts) -> pd.DataFrame:
    """Draw the file, a pure function of the section: the same text in every cell on every machine.

    Its columns are :data:`PERSON` and ``x1`` … ``xv``: lognormal, at least 1, rounded to integers. All cells are text.
    """
    streams, n = Streams(spec.seed), spec.records
    shared = math.sqrt(spec.correlation) * streams("factor").standard_normal(n)
    columns = {PERSON: np.arange(1, n + 1)}
    for at in range(1, spec.variables + 1):
        specific = math.sqrt(1 - spec.correlation) * streams(f"x{at}").standard_normal(n)
        amounts = np.rint(MEDIAN * np.exp(spec.sigma * (shared + specific)))
        columns[f"x{at}"] = np.maximum(amounts, 1).astype(np.int64)
    return as_text(columns)
