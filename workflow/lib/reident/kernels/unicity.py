"""Pairs of shared sample uniques: alone in the same cell, each in its own file (METHODS §4.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

Sets = Literal["all", "full", "jointly_observed"]


def shared_uniques(
    puf: np.ndarray,
    eif: np.ndarray,
    *,
    sets: Sets = "all",
    max_order: int | None = None,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of records that are sample uniques of their own files on the same cell of some set.

    Returns
    -------
    puf, eif : int64 (m,)
    order : int8 (m,)
    variables : uint64 (m,)
    """
    v = puf.shape[1]
    n = len(puf)
    codes = np.concatenate([puf, eif]).astype(np.int64)
    present = codes >= 0
    bits = present @ (1 << np.arange(v, dtype=np.uint64))
    found: list[np.ndarray] = []
    limit = min(max_order or v, v) if sets == "all" else v

    def visit(rows: np.ndarray, cells: np.ndarray, first: int, mask: int, order: int) -> None:
        if order == 0 and progress:
            progress(first / v)
        for j in range(first, v):
            kept = present[rows, j]
            r, c = rows[kept], cells[kept]
            _, c = np.unique(c * (codes[:, j].max() + 1) + codes[r, j], return_inverse=True)
            split = np.searchsorted(r, n)
            count_p, count_e = (
                np.bincount(c[:split], minlength=len(c)),
                np.bincount(c[split:], minlength=len(c)),
            )
            single = (count_p == 1) & (count_e == 1)
            s = mask | 1 << j
            if sets != "full" or order + 1 == v:
                at_p, at_e = single[c[:split]], single[c[split:]]
                p, e = r[:split][at_p], r[split:][at_e]
                p, e = p[np.argsort(c[:split][at_p])], e[np.argsort(c[split:][at_e])]
                if sets == "jointly_observed":
                    same = bits[p] & bits[e] == s
                    p, e = p[same], e[same]
                found.append(np.c_[p, e - n, np.full(len(p), order + 1), np.full(len(p), s)])
            live = (count_p > 0) & (count_e > 0)
            if order + 1 < limit and j + 1 < v and live.any():
                visit(r[live[c]], c[live[c]], j + 1, s, order + 1)
            if sets == "full":
                break

    if len(puf) and len(eif):
        visit(np.arange(len(codes)), np.zeros(len(codes), np.int64), 0, 0, 0)
    pairs = np.concatenate([np.zeros((0, 4), np.int64), *found])
    reverse = sum(((pairs[:, 3] >> j) & 1) << (v - 1 - j) for j in range(v))
    pairs = pairs[np.lexsort((-reverse, pairs[:, 2], pairs[:, 1], pairs[:, 0]))]
    first = np.ones(len(pairs), bool)
    first[1:] = (pairs[1:, :2] != pairs[:-1, :2]).any(axis=1)
    pairs = pairs[first]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 2], pairs[:, 0]))]
    return pairs[:, 0], pairs[:, 1], pairs[:, 2].astype(np.int8), pairs[:, 3].astype(np.uint64)
