"""Time the search among units, and count the pairs that its bounds leave: ``python bench_units.py [units] [strata]``.

Taxicab on drawn units of three rows, of which half are in both files with a few other values. Prints one line of JSON:
seconds of wall time and of processor time of the search with compiled kernels, and the peak memory of the process; the
share of pairs of units that bounds exclude, counted with the kernels as plain Python for some PUF units; and the time
of SciPy's assignment for each pair, by which the lists of these units are found again.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

if len(sys.argv) > 3:  # the process that counts; numba reads this as it is loaded
    os.environ["NUMBA_DISABLE_JIT"] = "1"

from reident.kernels import units
from reident.kernels.unit_costs import Rules, of_categories

MEMBERS, OWN, OF_MEMBERS = 3, (4, 6), (2, 5, 9, 25, 40)
CHANGED, MISSING, KEEP, SAMPLE = 0.05, 0.02, 20, 20
V = len(OWN) + len(OF_MEMBERS)
SCALE = units.Scale(units.LINEAR, 2, V, V, float(len(OF_MEMBERS)), True)
"""Taxicab with α = 1/2: a different value costs 2, a missing value 1, and levels are doubled."""


def draw(n: int, n_strata: int) -> tuple[units.Units, units.Units]:
    """Return the units of both files, the first half of each stratum the same people."""
    rng = np.random.default_rng([n, n_strata])
    stratum = np.arange(n) * n_strata // n
    shared = np.arange(n) - np.searchsorted(stratum, stratum) < n // n_strata // 2
    puf = [rng.integers(0, size, (n, rows)) for rows, sizes in ((1, OWN), (MEMBERS, OF_MEMBERS)) for size in sizes]
    eif = [np.where(shared[:, None], codes, rng.permutation(codes)) for codes in puf]
    return _units(rng, puf, stratum), _units(rng, eif, stratum)


def _units(rng: np.random.Generator, columns: list[np.ndarray], stratum: np.ndarray) -> units.Units:
    """Return the units of one file, with other values and missing ones."""
    codes = []
    for column in columns:
        other = np.where(rng.random(column.shape) < CHANGED, rng.permutation(column), column)
        codes.append(np.where(rng.random(column.shape) < MISSING, -1, other).ravel().astype(np.int32))
    own, members = np.column_stack(codes[: len(OWN)]), np.column_stack(codes[len(OWN) :])
    start = np.arange(0, len(members) + 1, MEMBERS)
    return units.Units(start, stratum, own, np.full(own.shape, np.nan), members, np.full(members.shape, np.nan))


def rules(n_strata: int) -> tuple[Rules, Rules]:
    """Return the costs of variables of units and of members."""
    own, members = (of_categories(len(sizes), n_strata, 2, 1) for sizes in (OWN, OF_MEMBERS))
    return own, members


def first(puf: units.Units) -> units.Units:
    """Return the first units of a file."""
    end = puf.start[SAMPLE]
    return units.Units(
        puf.start[: SAMPLE + 1], *(column[:SAMPLE] for column in puf[1:4]), puf.codes[:end], puf.values[:end]
    )


def search(puf: units.Units, eif: units.Units, n_strata: int, threads: int = 1) -> Any:
    """Return the pairs of the kernels."""
    return units.nearest(puf, eif, *rules(n_strata), SCALE, n_strata=n_strata, keep=KEEP, threads=threads)


def count(puf: units.Units, eif: units.Units, n_strata: int) -> int:
    """Return how many pairs of some PUF units are computed by the definition, with the kernels as plain Python."""
    n, exact = 0, units._exact

    def counted(*arguments: Any) -> int:
        nonlocal n
        n += 1
        return exact(*arguments)

    units._exact = counted
    search(first(puf), eif, n_strata)
    return n


def costs(p: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the costs of the values of units or members of one row each, and of those of another."""
    missing = (p[:, None] < 0) | (e[None] < 0)
    return np.where(missing, 1, 2 * (p[:, None] != e[None])).sum(axis=-1)


def scipy_levels(puf: units.Units, eif: units.Units, at: int, others: np.ndarray) -> np.ndarray:
    """Return the levels of a PUF unit and EIF units by SciPy's assignment of every pair."""
    own = costs(puf.unit_codes[at : at + 1], eif.unit_codes[others])[0]
    levels = np.empty(len(others), np.int64)
    for place, other in enumerate(others.tolist()):
        of_members = costs(*(side.codes[side.start[u] : side.start[u + 1]] for side, u in ((puf, at), (eif, other))))
        total = own[place] * MEMBERS + of_members[linear_sum_assignment(of_members)].sum()
        levels[place] = 2 * total - (MEMBERS - 1) * SCALE.threshold
    return levels


def check(puf: units.Units, eif: units.Units, pairs: Any) -> float:
    """Find the lists of some PUF units again, and return the seconds of SciPy for each pair."""
    began, n = time.process_time(), 0
    for at in range(SAMPLE):
        others = np.flatnonzero(eif.stratum == puf.stratum[at])
        levels = np.sort(scipy_levels(puf, eif, at, others))
        levels, n = levels[levels < SCALE.threshold], n + len(others)
        expected = levels if len(levels) <= KEEP else levels[levels < levels[KEEP]]
        assert np.sort(pairs.level[pairs.puf == at]).tolist() == expected.tolist()
    return (time.process_time() - began) / n


def main() -> None:
    """Print the measurements."""
    n, n_strata = (int(sys.argv[at]) if len(sys.argv) > at else usual for at, usual in ((1, 100_000), (2, 50)))
    puf, eif = draw(n, n_strata)
    if len(sys.argv) > 3:
        print(count(puf, eif, n_strata))
        return
    search(*draw(200, 2), 2)  # compiles
    began = time.perf_counter(), time.process_time()
    pairs = search(puf, eif, n_strata, threads=len(os.sched_getaffinity(0)))
    seconds, processor = time.perf_counter() - began[0], time.process_time() - began[1]
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    command = [sys.executable, Path(__file__), str(n), str(n_strata), "count"]
    assigned = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    of_sample = SAMPLE * int((eif.stratum == 0).sum())
    scipy = check(puf, eif, pairs)
    n_pairs = sum(int((puf.stratum == s).sum()) * int((eif.stratum == s).sum()) for s in range(n_strata))
    print(
        json.dumps(
            {
                "units": n,
                "pairs": n_pairs,
                "seconds": round(seconds, 2),
                "processor": round(processor, 2),
                "megabytes": round(megabytes),
                "suspected": len(pairs.puf),
                "excluded": 1 - assigned / of_sample,
                "scipy_microseconds": round(1e6 * scipy, 1),
                "scipy_hours": round(scipy * n_pairs / 3600, 2),
                "load": os.getloadavg()[0],
            }
        )
    )


if __name__ == "__main__":
    main()
