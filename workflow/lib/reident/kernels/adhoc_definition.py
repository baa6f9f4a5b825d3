"""The cost of a pair by the rules of adhoc, in strata whose bands have widths of their own (METHODS §4.4)."""

from typing import NamedTuple

import numpy as np

from reident.kernels import strata
from reident.kernels.adhoc_rules import BANDS, TABLE, Flat
from reident.kernels.compiling import lean_jit


class Definition(NamedTuple):
    """The rules, and the widths of their bands in each stratum."""

    rules: Flat
    within: np.ndarray  # float64 (n_strata, b), in place of that of the rules


@lean_jit
def reach(within, share, p):
    """Return the largest difference from a PUF value that a band holds; without a share it may be infinite."""
    return within + (share * abs(p) if share > 0 else 0.0)


@lean_jit
def difference(p, e):
    """Return the difference that the limits of bands are compared with."""
    return 0.0 if p == e else abs(e - p)


@strata.implements(Definition)
def _level_in(metric, _scratch, files, s, i, r, bound):
    """Return the cost of the pair (i, r) of stratum s, or a number of at least ``bound`` if it reaches that."""
    rules, within, total = metric.rules, metric.within[s], 0
    for j in range(rules.kind.size):
        if total >= bound:
            break
        if rules.kind[j] == BANDS:
            p, e = files.puf_values[i, j], files.eif_values[r, j]
            if np.isnan(p) or np.isnan(e):
                total += rules.highest[j]
                continue
            cost = rules.beyond[j]
            for b in range(rules.start[j], rules.start[j] + rules.width[j]):
                if difference(p, e) <= reach(within[b], rules.share[b], p):
                    cost = rules.cost[b]
                    break
            total += cost
            continue
        p, e = files.puf_codes[i, j], files.eif_codes[r, j]
        if p < 0 or e < 0:
            total += rules.highest[j]
        elif rules.kind[j] == TABLE:
            total += rules.table[rules.start[j] + p * rules.width[j] + e]
        elif p != e:
            total += rules.highest[j]
    return total
