"""Time several keys at once at national size: all sets of key variables up to three, two targets (METHODS §7.5).

Usage: .venv/bin/python tests/benchmarks/bench_scenarios.py [records] [threads]
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import pyarrow as pa
from bench_attribute import LEVELS, skewed
from reident.filerisk import scenarios
from reident.filerisk.parts import IntruderRules
from reident.filerisk.prepare import STRATUM, WEIGHT
from reident.sections.keys import sets_up_to

TARGETS = {"diagnosis": 40, "benefit": 5}
FRACTION = 0.05
MISSING = 0.02


def main() -> None:
    n, threads = (
        int(sys.argv[at]) if len(sys.argv) > at else default for at, default in ((1, 10**6), (2, 2))
    )
    draw = np.random.default_rng(1)
    weights = draw.gamma(4, 1 / FRACTION / 4, n) + 1
    columns = {f"k{at}": skewed(draw, n, levels) for at, levels in enumerate(LEVELS)}
    columns |= {name: skewed(draw, n, levels) for name, levels in TARGETS.items()}
    coded = {name: pa.array(codes, mask=draw.random(n) < MISSING) for name, codes in columns.items()}
    names = [f"k{at}" for at in range(len(LEVELS))]
    rules = IntruderRules((), tuple(sets_up_to(names, 3)), tuple(TARGETS), None, False, False)
    file = pa.table({WEIGHT: weights, **coded})
    nobody = pa.table({STRATUM: pa.array([], pa.int32()), **{name: file[name].slice(0, 0) for name in names}})
    start = time.perf_counter()
    found = scenarios.assess(rules, file, nobody, threads=threads)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sets = f"{len(rules.sets)} sets of up to 3 of {len(names)} variables"
    print(
        f"{n:,} records, {MISSING:.0%} missing, weights, {sets}, {len(TARGETS)} targets, {threads} threads:"
    )
    print(f"{seconds:.1f} s, {peak:.2f} GiB; {len(found.scenarios):,} and {len(found.diversity):,} lines")


if __name__ == "__main__":
    main()
