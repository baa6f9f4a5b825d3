"""Weigh and score n by n records: ``python bench_evidence.py [RECORDS] [STRATA] [THREADS] [OPTION=VALUE ...]``.

Files of ten categories as of draw.py, half of the people in both; people stay in their stratum. Prints the times, the
memory at the highest, the model, and what is right. By default as a study does that says nothing more.
"""

from __future__ import annotations

import resource
import sys
import time

import draw
import numpy as np
from evidence import OUT, estimated, scored, weighed
from reident.linkage.metrics.fellegi_sunter import Options, match_probability


def main(records: str = "1000000", n_strata: str = "51", threads: str = "2", *options: str) -> None:
    """Estimate, then estimate and score."""
    data = dict(np.load(draw.files(int(records), 10, 0, OUT / "files")))
    chosen = Options.model_validate({"levels": "bins"} | dict(one.split("=") for one in options))
    job = chosen, 10, int(threads), int(n_strata)
    warm = {name: values[:2000] for name, values in data.items()}
    weighed(warm, *job)
    start = time.perf_counter(), time.process_time()
    estimates, comparison, context = estimated(data, *job)
    print(estimates.model.to_dict("records")[0])
    spent("weights", start)
    start = time.perf_counter(), time.process_time()
    found = scored(comparison, chosen, context, int(n_strata))
    spent("pairs", start)
    right = (data["puf_people"][found.puf] == data["eif_people"][found.eif]).sum()
    expected = match_probability(found.score, estimates.model["prior"].iloc[0]).sum()
    print(f"{len(found.puf)} pairs, {expected:.0f} expected to be right, {right} right")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")


def spent(what: str, start: tuple[float, float]) -> None:
    """Print the seconds since a start."""
    print(f"{what}: {time.perf_counter() - start[0]:.1f} s, of processors {time.process_time() - start[1]:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
