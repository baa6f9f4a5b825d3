"""The secrets that a reader who holds the PUF and the EIF cannot exclude (METHODS §11.2).

A secret says of each PUF record which of its candidates are its links, or that none is. Records are alike if their
candidates count for the same sets of quantities: only the number of each class matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

WHOLE_CLASSES, MAX_CLASSES = 40, 400
"""Classes of records that proofs use as they are, and about how many they use at all. Rarer classes lose possibilities:
proofs then have fewer secrets to choose from, and stay right."""

Set = tuple[int, ...]
"""The distinct vectors of a record, by their positions."""


@dataclass(frozen=True)
class Space:
    """The secrets of a study, by classes of records.

    The attributes `sizes` to `top` describe a part of the secrets: each record has at most one link, and with
    `shared` no two records have the same EIF record, whatever each record takes.
    """

    suspected: np.ndarray  # int64 (q,): the records whose link can count for each quantity
    excess: np.ndarray  # int64 (q, q): the records whose link can count for the first quantity and not for the second
    shared: bool  # whether readers take links to be one to one, and records share candidates
    sizes: np.ndarray  # int64 (k,): the records of each class
    cells: np.ndarray  # int64 (u,): the class of each unknown, which is the number of its records with one vector
    counted: np.ndarray  # bool (q, u): whether a record of the unknown counts for the quantity
    top: np.ndarray  # int64 (q,): the largest count of each quantity in this part


def of_pairs(puf: np.ndarray, eif: np.ndarray, vector: np.ndarray, vectors: np.ndarray, *, one_to_one: bool) -> Space:
    """Return the secrets of a study by its suspected pairs.

    Parameters
    ----------
    puf, eif : int64 (n,)
        The records of each pair, as numbers from 0. In the place of EIF records there may be persons.
    vector : int64 (n,)
        What each pair counts for, as a row of `vectors`.
    vectors : bool (v, q)
        The quantities that a record counts for if a pair is its link.
    one_to_one : bool
        Whether readers take it that no two records have the same EIF record.
    """
    shared = one_to_one and len(eif) > 0 and int(np.bincount(eif).max()) > 1
    counts = np.asarray(vectors.any(axis=1))[vector] if len(vector) else np.zeros(0, bool)
    puf, eif, vector = puf[counts], eif[counts], vector[counts]
    slots, slot = np.unique(puf * len(vectors) + vector, return_inverse=True)
    kept = _distinct(puf, eif, slot, vectors.sum(axis=1)[slots % max(1, len(vectors))]) if shared else slice(None)
    return _of_classes(_classes(slots, len(vectors)), _classes(slots[kept], len(vectors)), vectors, shared=shared)


def of_levels(records: int, levels: int) -> Space:
    """Return the secrets of records each of which reaches one of several levels, or none; a level includes the lower.

    The quantities are the records that reach each level, from the lowest to the highest.
    """
    vectors = np.tri(levels, dtype=bool)
    classes = {tuple(range(levels)): records} if records and levels else {}
    return _of_classes(classes, classes, vectors, shared=False)


def _of_classes(full: dict[Set, int], kept: dict[Set, int], vectors: np.ndarray, *, shared: bool) -> Space:
    q = vectors.shape[1]
    suspected, excess, top = np.zeros(q, np.int64), np.zeros((q, q), np.int64), np.zeros(q, np.int64)
    for members, n in full.items():
        rows = vectors[list(members)]
        suspected += n * rows.any(axis=0)
        excess += n * ((rows.T.astype(np.float32) @ ~rows) > 0)
    classes = sorted(_fewer(kept, vectors).items())
    for members, n in classes:
        top += n * vectors[list(members)].any(axis=0)
    cells = np.repeat(np.arange(len(classes)), [len(members) for members, _ in classes]).astype(np.int64)
    rows = np.array([row for members, _ in classes for row in members], np.int64)
    return Space(
        suspected, excess, shared, np.array([n for _, n in classes], np.int64), cells, vectors[rows].T.copy(), top
    )


def _classes(slots: np.ndarray, v: int) -> dict[Set, int]:
    """Return how many records have each set of vectors, from sorted numbers record · v + vector, each once."""
    if not len(slots):
        return {}
    _, record, sizes = np.unique(slots // v, return_inverse=True, return_counts=True)
    position = np.arange(len(slots)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    sets: list[Set] = [()]
    code = np.zeros(len(sizes), np.int64)
    for at in range(int(sizes.max())):
        here = np.flatnonzero(position == at)
        key, new = np.unique(code[record[here]] * v + slots[here] % v, return_inverse=True)
        code[record[here]] = len(sets) + new
        sets += [(*sets[known // v], int(known % v)) for known in key.tolist()]
    codes, n = np.unique(code, return_counts=True)
    return {sets[c]: int(m) for c, m in zip(codes.tolist(), n.tolist(), strict=True)}


def _fewer(classes: dict[Set, int], vectors: np.ndarray) -> dict[Set, int]:
    """Return fewer classes: records of the rarer ones have a part of their possibilities, which counts for much."""
    frequent = _frequent(classes, WHOLE_CLASSES)
    covered: dict[Set, int] = {}
    for members, n in classes.items():
        part = members if members in frequent else _cover(members, vectors)
        covered[part] = covered.get(part, 0) + n
    frequent = _frequent(covered, MAX_CLASSES)
    merged: dict[Set, int] = {}
    for members, n in covered.items():
        parts = [members] if members in frequent else [(row,) for row in members if (row,) in frequent]
        part = min(parts, default=members[:1])
        merged[part] = merged.get(part, 0) + n
    return merged


def _frequent(classes: dict[Set, int], most: int) -> set[Set]:
    return {members for members, _ in sorted(classes.items(), key=lambda item: (-item[1], item[0]))[:most]}


def _cover(members: Set, vectors: np.ndarray) -> Set:
    """Return the vectors of a set that count for something that no earlier one does; the first counts for most."""
    part: list[int] = []
    seen = np.zeros(vectors.shape[1], bool)
    for row in members:
        if (vectors[row] & ~seen).any():
            part.append(row)
            seen |= vectors[row]
    return tuple(part)


def _distinct(puf: np.ndarray, eif: np.ndarray, slot: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return which slots (records with a vector) can have an EIF record each, all different: bool (slots,).

    Every record takes one slot if it can, one that counts for more quantities first; then further ones.
    """
    taken, kept = np.zeros(eif.max(initial=-1) + 1, bool), np.zeros(len(weight), bool)
    matched = np.zeros(puf.max(initial=-1) + 1, bool)
    for first in (True, False):
        for value in sorted(set(weight.tolist()), reverse=True):
            free = (weight[slot] == value) & ~taken[eif] & ~(matched[puf] if first else kept[slot])
            at = np.flatnonzero(free)
            at = at[_matching((puf if first else slot)[at], eif[at])]
            kept[slot[at]] = taken[eif[at]] = matched[puf[at]] = True
    return kept


def _matching(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the positions of a largest set of pairs in which no row and no column is repeated."""
    if not len(rows):
        return np.zeros(0, np.int64)
    row, column = np.unique(rows, return_inverse=True)[1], np.unique(columns, return_inverse=True)[1]
    _, each = np.unique(row * (column.max() + 1) + column, return_index=True)
    graph = sparse.csr_matrix((each + 1, (row[each], column[each])))
    match = csgraph.maximum_bipartite_matching(graph, perm_type="column")
    found = np.flatnonzero(match >= 0)
    return np.asarray(graph[found, match[found]]).ravel() - 1
