"""Measure the search for minimal sample uniques in a drawn survey of many categorical variables.

Usage: python tests/benchmarks/bench_suda.py [records] [variables] [max_order] [threads]

The variables have 2 to 20 categories of unequal frequency, six factors make them depend on each other, and 5 % of the
values are missing. What is printed as JSON: the seconds of the search, its processor time, the peak memory of the
process, and the minimal sample uniques by size. Compiling is not measured.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np
from reident.kernels.suda import minimal_uniques

FACTORS, MISSING = 6, 0.05
DEFAULTS = (5_000, 60, 3, 1)


def survey(n: int, v: int, seed: int = 1) -> np.ndarray:
    """Return the codes of n records, int32 (n, v), -1 for missing."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, FACTORS))
    codes = np.empty((n, v), np.int32)
    for j in range(v):
        levels = 2 + 7 * j % 19
        loadings = rng.normal(size=FACTORS) * (rng.random(FACTORS) < 0.5)
        values = 0.8 * factors @ loadings + rng.normal(size=n)
        shares = rng.dirichlet(np.full(levels, 1.5))
        codes[:, j] = np.searchsorted(np.quantile(values, np.cumsum(shares)[:-1]), values)
    codes[rng.random((n, v)) < MISSING] = -1
    return codes


def main() -> None:
    """Search the drawn survey, and print what it took."""
    given = [int(word) for word in sys.argv[1:]]
    n, v, max_order, threads = (*given, *DEFAULTS[len(given) :])
    minimal_uniques(survey(300, 60), max_order=3)
    codes = survey(n, v)
    wall, cpu = time.monotonic(), time.process_time()
    found = minimal_uniques(codes, max_order=max_order, threads=threads)
    line = {
        "records": n,
        "variables": v,
        "max_order": max_order,
        "threads": threads,
        "seconds": round(time.monotonic() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "msus_by_size": found.counts.sum(axis=0, dtype=np.int64)[1:].tolist(),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
