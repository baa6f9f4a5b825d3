"""Time the audit of a releasable edition: ``python bench_release.py [--strata 3000]``, the work `release-audit`.

A national study: strata of unequal size, five metrics of which four have twenty rank limits; counts are rounded
as `census-drb` rounds them and the PUF is known. Prints a line of JSON: the size of the system and the seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import time

import numpy as np
from reident.release.calls import Calls, limit
from reident.release.cells import Cell, Published
from reident.release.facts import Facts
from reident.release.relations import relations
from reident.release.suppression import default_weights, protect

METRICS = ("unicity", "taxicab", "euclidean", "adhoc", "winkler")
LIMIT, KEEP = 5, 20


def counts(n: int) -> dict[Cell, int]:
    """The counts of a study of n strata, drawn."""
    rng, found = np.random.default_rng(n), {}
    names = [f"s{at:04d}" for at in range(1, n + 1)]

    def put(quantity: str, metric: str, limit: int, values: np.ndarray) -> None:
        base = Cell(quantity, metric=metric, rank_limit=limit)
        found[base] = int(values.sum())
        found.update({base._replace(stratum=s): int(v) for s, v in zip(names, values, strict=True)})

    puf = np.maximum(1, rng.lognormal(4, 1.2, n).astype(int))
    eif = rng.lognormal(4, 1.2, n).astype(int)
    links = rng.binomial(np.minimum(puf, eif), 0.5)
    compared = np.where(eif > 0, puf, 0)
    for quantity, values in {"n_puf": puf, "n_eif": eif, "n_links": links}.items():
        put(quantity, "", 0, values)
    for metric in METRICS:
        limit = 0 if metric == "unicity" else LIMIT
        suspected = rng.binomial(compared, 0.4)
        ambiguous = rng.binomial(compared - suspected, 0.3 if limit else 0)
        confirmed = np.minimum(rng.binomial(suspected, 0.2), links)
        correct = rng.binomial(confirmed, 0.5)
        single = correct + rng.binomial(suspected - confirmed, 0.5)
        put("n_suspected", metric, limit, suspected)
        put("n_confirmed", metric, limit, confirmed)
        put("n_ambiguous", metric, limit, ambiguous)
        put("n_single", metric, limit, single)
        put("n_single_confirmed", metric, limit, correct)
        for at in range(1, KEEP + 1) if limit else ():
            base = Cell("", metric=metric, rank_limit=at)
            candidates, many, few = (int((suspected + ambiguous).sum()), int(suspected.sum()), int(confirmed.sum()))
            if at > LIMIT:
                more = (candidates - many) * (at - LIMIT) // KEEP
                many, few = many + more, few + more // 10
            elif at < LIMIT:
                share = 0.6 + 0.08 * at
                many = max(int(many * share), int(single.sum()))
                few = max(int(few * share), int(correct.sum()))
            for quantity, count in (
                ("n_suspected", many), ("n_confirmed", few), ("n_ambiguous", candidates - many),
            ):  # fmt: skip
                found[base._replace(quantity=quantity)] = count
    return found


def publish(count: int) -> Published:
    """Return what is published of a count: below 15, then nearest 10, 50, 100, 500, 1,000."""
    if count < 15:
        return Published("<15", None, 0, 14)
    bases = ((100, 10), (1000, 50), (10_000, 100), (100_000, 500))
    base = next((width for end, width in bases if count < end), 1000)
    value = round(count / base) * base
    return Published(str(value), value, max(15, value - base // 2), value + base // 2)


def required(one: Published) -> float:
    """Return the width that is asked for: all of a small count's interval, half of another's."""
    return (one.high - one.low) * (1.0 if one.low == 0 else 0.5)


def main() -> None:
    """Draw, relate, protect; print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strata", type=int, default=3000)
    options = parser.parse_args()
    drawn = counts(options.strata)
    cells = {cell: publish(count) for cell, count in drawn.items()}
    known = {cell: count for cell, count in drawn.items() if cell.quantity == "n_puf"}
    start, processor = time.perf_counter(), time.process_time()
    strata = tuple(sorted({cell.stratum for cell in cells} - {"ALL"}))
    rows = relations(cells, Facts(strata=strata))
    related = time.perf_counter() - start
    widths = {cell: required(one) for cell, one in cells.items()}
    found = protect(cells, rows, known, widths, default_weights(cells), Calls(limit(len(cells))))
    line = {
        "work": "release-audit",
        "strata": options.strata,
        "cells": len(cells),
        "relations": len(rows),
        "suppressed": len(found.suppressed),
        "narrow": sum(one.width.proven < one.required for one in found.audit.values()),
        "seconds_relations": round(related, 1),
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds": round(time.process_time() - processor, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
