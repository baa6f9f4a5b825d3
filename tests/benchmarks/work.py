"""The works that are timed, what a program must answer, and how answers are compared."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

import numpy as np

KEEP = 20


class Work(NamedTuple):
    """One metric, or the risk of one file (`suda`): its variables of both types, its norm, agreement or rule."""

    metric: str
    categorical: int
    numeric: int
    norm: str = ""


WORKS = {
    "taxicab": Work("taxicab", 10, 0),
    "euclidean-rms": Work("euclidean", 5, 5, "rms"),
    "euclidean-primer": Work("euclidean", 5, 5, "primer"),
    "adhoc": Work("adhoc", 5, 5),
    "adhoc-tables": Work("adhoc", 5, 5, "tables"),
    "adhoc-functions": Work("adhoc", 5, 5, "functions"),
    "unicity": Work("unicity", 13, 0),
    "winkler-half-gap": Work("winkler", 0, 3, "half_gap"),
    "winkler-nearest": Work("winkler", 0, 10, "nearest"),
    "winkler-closest": Work("winkler", 0, 10, "closest"),
    "winkler-closest-all": Work("winkler", 0, 5, "closest-all"),
    "fellegi-sunter": Work("fellegi_sunter", 10, 0),
    "suda-8": Work("suda", 8, 0),
    "suda-13": Work("suda", 13, 0),
}

NEAREST = 360
"""Winkler: so many values agree by `nearest`; of its records one in a hundred is released, as for `closest`."""

CLOSEST = {10: 7, 5: 3}
"""Winkler: on so many variables records are closest, by the number of variables."""

BANDS = ((0.0, 5), (0.1, 4), (0.25, 2))
"""Adhoc: within so much of the PUF value, in proportion to it, a numeric variable scores so much."""

NEIGHBOURS = 2
"""Adhoc with tables: what two codes of a categorical variable score that differ by one; equal codes score 5."""


FUNCTION = """
import numpy as np

def alike(p, e):
    return 5 * np.exp(-np.abs(p - e) / (1 + 0.1 * np.abs(p)))
"""
"""Adhoc with functions: what a numeric variable scores that has at most `LEVELS` values; the others have bands."""

LEVELS = 4096


def limit(work: Work) -> int:
    """The largest suspected level: half units of taxicab, 10^-12 of the euclidean score (α = ½), adhoc's negative."""
    v = work.categorical + work.numeric
    if work.metric == "adhoc":
        return -(5 * v // 2) - 1
    if work.metric == "taxicab":
        return (v + 1) // 2 - 1
    return int(np.rint((0.25 if work.norm == "primer" else 0.5 / np.sqrt(2)) * 1e12)) - 1


def rank_rule(puf: np.ndarray, eif: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each PUF record the levels (lowest first) with at most KEEP pairs, cumulated."""
    order = np.lexsort((eif, level, puf))
    puf, eif, level = puf[order], eif[order], level[order]
    last = np.append((puf[1:] != puf[:-1]) | (level[1:] != level[:-1]), True)[: len(puf)]
    ends = np.flatnonzero(last)
    end = ends[np.searchsorted(ends, np.arange(len(puf)))]
    kept = end - np.searchsorted(puf, puf) < KEEP
    return puf[kept], eif[kept], level[kept]


def answer(work: Work, puf: np.ndarray, eif: np.ndarray, level: np.ndarray) -> None:
    """Print the number of pairs and the digest of an answer sorted by record, for the comparison.

    Of SUDA the records with a minimal sample unique, the size of the smallest, and their number.

    Of euclidean only the pairs: tools add squares up in whatever order, which may move the last decimal.
    """
    columns = [puf, eif, level]
    if work.metric == "euclidean":
        order = np.lexsort((eif, puf))
        columns = [puf[order], eif[order]]
    digest = hashlib.sha256()
    for column in columns:  # one at a time: what the comparison holds counts as memory of the program
        digest.update(np.ascontiguousarray(column, np.int64).data)
    print(json.dumps({"pairs": len(puf), "digest": digest.hexdigest()[:16]}))
