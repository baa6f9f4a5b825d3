"""The pairs of two files by comparison pattern."""

from reident.kernels import patterns


def count_patterns(puf, eif, *, near, incomplete, threads=1):
    """What a tally has counted of two files, with the variables in the order that is best for them."""
    tally = patterns.Tally(near, incomplete, patterns.by_agreement(puf, eif).tolist(), threads)
    tally.add(puf, eif)
    return tally.counts()
