"""Time attribute disclosure at national size: all sets of keys of a size, several targets (METHODS §12).

Usage: .venv/bin/python tests/benchmarks/bench_attribute.py [records] [threads]
"""

from __future__ import annotations

import resource
import sys
import time
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
from reident.attribution import assessment
from reident.attribution.parts import AttributionRules
from reident.attribution.prepare import FILE, PERSON, ROW
from reident.sections.matching import Radius

LEVELS = (2, 5, 8, 10, 12, 20, 40, 90, 7, 15)
"""Codes of the ten keys."""


def main() -> None:
    n, threads = (
        int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((1, 10**6), (2, 2))
    )
    draw = np.random.default_rng(1)
    columns = {f"k{at}": skewed(draw, n, levels) for at, levels in enumerate(LEVELS)}
    columns |= {f"t{at}": skewed(draw, n, levels) for at, levels in enumerate((2, 6, 12, 50))}
    columns["income"] = np.round(np.exp(draw.normal(10, 0.7, n)), -2)
    released = {name: swapped(draw, column) for name, column in columns.items()}
    names = [f"k{at}" for at in range(len(LEVELS))]
    targets = {name: None for name in columns if name.startswith("t")} | {"income": Radius(relative="0.1")}
    rules = AttributionRules((), tuple(combinations(names, 3)), targets, category=False)
    rows = np.arange(n, dtype=np.int32)
    original = pa.table({ROW: rows, **columns})
    copy = pa.table({FILE: np.ones(n, np.int32), PERSON: rows, **released})
    categories = pd.DataFrame(
        [(name, code, str(code)) for name in columns for code in range(100)],
        columns=["variable", "code", "label"],
    )
    start = time.perf_counter()
    found = assessment.assess(rules, original, copy, original.slice(0, 0), categories, threads=threads)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sets = len(rules.sets)
    print(f"{n:,} records, {sets} sets of 3 of {len(names)} keys, {len(targets)} targets, {threads} threads:")
    print(f"{seconds:.1f} s, {peak:.2f} GiB; {len(found.summary):,} lines")


def skewed(draw: np.random.Generator, n: int, levels: int) -> np.ndarray:
    """Draw codes, the first ones more often."""
    return np.minimum(draw.geometric(min(0.5, 3 / levels), n) - 1, levels - 1).astype(np.int32)


def swapped(draw: np.random.Generator, column: np.ndarray) -> np.ndarray:
    """Exchange a tenth of the values."""
    moved = np.flatnonzero(draw.random(len(column)) < 0.1)
    released = column.copy()
    released[moved] = column[draw.permutation(moved)]
    return released


if __name__ == "__main__":
    main()
