"""Drawn files of category codes."""

import numpy as np
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32)


def uniform(seed, n, v, levels, missing):
    """Codes int32 (n, v), each category as likely as the others; -1 for missing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, v))
    return np.where(rng.random((n, v)) < missing, -1, codes).astype(np.int32)


def uniform_files(n, v, levels, missing):
    """Files of at least n[0] and at most n[1] records, up to v variables of up to so many levels."""
    return st.builds(
        uniform,
        seed=SEEDS,
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
