"""The kernels, called as the tests of several of them need it."""

import numpy as np
import pytest
from reident.kernels import bitslice, patterns, taxicab
from reident.kernels.adhoc import Bands, Exact, Table

METHODS = {"pairs": 0.0, "join": 32.0, "auto": None}
"""Compare all pairs, refine sets of records first, or estimate which is faster: nanoseconds for a pair in taxicab and
weights. No result depends on it."""


def by_method(kernel, method, *arguments, **options):
    """What a kernel gives by one of `METHODS`."""
    with pytest.MonkeyPatch.context() as patch:
        if METHODS[method] is not None:
            patch.setattr(taxicab, "pair_cost", lambda *_: METHODS[method])
        return kernel(*arguments, **options)


def with_every_division(kernel, generator, *arguments, **options):
    """What a kernel gives by every method, with one thread and two, and blocks and tiles of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(taxicab, "MAX_BLOCK", int(generator.choice([64, 777, 2**18])))
        patch.setattr(taxicab, "MIN_BLOCK", int(generator.choice([64, 777, 2**13])))
        patch.setattr(bitslice, "TILE_BYTES", int(generator.choice([1, 2**14, 2**17])))
        for method, threads in (("pairs", 2), ("join", 1), ("join", 2), ("auto", 2)):
            yield by_method(kernel, method, *arguments, **options, threads=threads)


def kernel_rule(rule):
    """A rule of the oracle."""
    if rule[0] == "exact":
        return Exact()
    if rule[0] == "table":
        return Table(np.array(rule[1], np.int64))
    within, share, score = zip(*rule[1], strict=True) if rule[1] else ((), (), ())
    return Bands(np.array(within), np.array(share), np.array(score, np.int64), rule[2])


def count_patterns(puf, eif, *, near, incomplete, threads=1):
    """What a tally has counted of two files, with the variables in the order that is best for them."""
    tally = patterns.Tally(near, incomplete, patterns.by_agreement(puf, eif).tolist(), threads)
    tally.add(puf, eif)
    return tally.counts()
