"""What the searches for minimal sample uniques return, whichever way they count them (METHODS §7)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import WORD


class MinimalUniques(NamedTuple):
    """The minimal sample uniques of all records of a file, counted.

    Attributes
    ----------
    counts : int32 (n, max_order + 1)
        MSUs of each record by size; column 0 is 0.
    order : int8 (n,)
        Size of each record's smallest MSU; 0 where it has none.
    variables : uint64 (n, words)
        The first smallest MSU (by its tuple of positions): bit j of word w for variable 64·w + j.
    by_level : list of int64 (codes, max_order + 1)
        For each variable, by code: the MSUs by size that contain the variable, of the records with that code.
    """

    counts: np.ndarray
    order: np.ndarray
    variables: np.ndarray
    by_level: list[np.ndarray]


def none_yet(n: int, most: int, codes: list[int]) -> MinimalUniques:
    """Return the counts before any set is searched.

    Parameters
    ----------
    n : int
        Records.
    most : int
        The largest size of a set.
    codes : list of int
        The number of codes of each variable.
    """
    return MinimalUniques(
        np.zeros((n, most + 1), np.int32),
        np.zeros(n, np.int8),
        np.zeros((n, max(1, -(-len(codes) // WORD))), np.uint64),
        [np.zeros((k, most + 1), np.int64) for k in codes],
    )
