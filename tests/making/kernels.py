"""The kernels, called as the tests of several of them need it, and drawn files of category codes."""

import numpy as np
import pytest
from hypothesis import strategies as st
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


def uniform(seed, n, v, levels, missing):
    """Codes int32 (n, v), each category as likely as the others; -1 for missing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, v))
    return np.where(rng.random((n, v)) < missing, -1, codes).astype(np.int32)


def uniform_files(n, v, levels, missing):
    """Files of at least n[0] and at most n[1] records, up to v variables of up to so many levels."""
    return st.builds(
        uniform,
        seed=st.integers(0, 2**32),
        n=st.integers(*n),
        v=st.integers(1, v),
        levels=st.integers(1, levels),
        missing=st.sampled_from(missing),
    )


def skewed(rng, n, v, levels, missing, copies=0.0):
    """Codes int32 (n, v), low ones more likely; ``levels`` of all variables or of each; a share of exact copies."""
    codes = (rng.random((n, v)) ** 2 * levels).astype(np.int32)
    codes[rng.random((n, v)) < missing] = -1
    if n:
        again = rng.random(n) < copies
        codes[again] = codes[rng.integers(0, n, again.sum())]
    return codes
