"""Times of joining the attacks with several files, on drawn pairs: `bench_together.py [records] [files]`."""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
from reident.linkage.settings import JoiningSettings
from reident.sections.linkage import Rates
from reident.together import join as together

STRATA = 50
CANDIDATES = 5


def drawn(n: int, seed: int) -> tuple[pa.Table, pa.ChunkedArray]:
    """Return up to five pairs of each of nine in ten records, best first, and the person of each EIF record."""
    draw = np.random.default_rng(seed)
    number = draw.integers(1, CANDIDATES + 1, n) * (draw.random(n) < 0.9)
    puf = np.repeat(np.arange(n, dtype=np.int32), number)
    score = np.sort(draw.integers(0, 40, len(puf)) / 40)
    score = score[np.lexsort((draw.random(len(puf)), puf))]
    order = np.lexsort((-score, puf))
    pairs = {
        "puf": puf,
        "eif": draw.integers(0, 2 * n, len(puf)).astype(np.int32),
        "score": score[order],
        "confirmed": draw.random(len(puf)) < 0.1,
    }
    persons = draw.integers(0, 4 * n, 2 * n).astype(str)
    return pa.table(pairs), pa.chunked_array([pa.array(persons)])


def main(n: int = 1_000_000, files: int = 2) -> None:
    """Join the attacks of so many files, and print the seconds and the largest memory of the process."""
    own = [drawn(n, seed) for seed in range(files)]
    stratum = np.sort(np.random.default_rng(9).integers(0, STRATA, n)).astype(np.int32)
    manifest = pd.DataFrame({"stratum": [f"s{at:04d}" for at in range(STRATA)], "n_puf": np.bincount(stratum)})
    settings = JoiningSettings(tuple(map(str, range(files))), {"adhoc": False}, (), person=True, rates=Rates())
    before = time.perf_counter()
    table = together.join(
        settings,
        [pa.table({})] * (1 + files),
        pa.table({"stratum": stratum}),
        manifest,
        {"adhoc": [pairs for pairs, _ in own]},
        [persons for _, persons in own],
    )
    seconds = time.perf_counter() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    pairs = sum(pairs.num_rows for pairs, _ in own)
    print(f"{n:,} records, {files} files, {pairs:,} pairs: {seconds:.1f} s, {peak:.2f} GiB, {len(table)} lines")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
