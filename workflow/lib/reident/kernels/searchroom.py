"""What a search through boxes works on: both files, the PUF records that search together, and room (see `search`)."""

from typing import Any, NamedTuple

import numpy as np

from reident.kernels.boxes import WIDTH, Index

TOGETHER = 128
"""PUF records that search together."""

PENDING = 128
"""Pairs of a record that wait to be compared by the definition while its limit still falls."""


class Files(NamedTuple):
    """Both files as they came: what the definition is applied to."""

    puf_codes: np.ndarray  # int32 (n_puf, v)
    eif_codes: np.ndarray  # int32 (n_eif, v)
    puf_values: np.ndarray  # float64 (n_puf, v)
    eif_values: np.ndarray  # float64 (n_eif, v)


def as_files(
    puf_codes: np.ndarray, eif_codes: np.ndarray, puf_values: np.ndarray, eif_values: np.ndarray
) -> Files:
    """Both files in the types of compiled code, without a copy where they are that."""
    return Files(
        np.ascontiguousarray(puf_codes, np.int32),
        np.ascontiguousarray(eif_codes, np.int32),
        np.ascontiguousarray(puf_values, np.float64),
        np.ascontiguousarray(eif_values, np.float64),
    )


class Puf(NamedTuple):
    """The PUF records in the form of the boxes."""

    codes: np.ndarray  # int32 (n_puf, categorical)
    values: np.ndarray  # float32 or float64 (n_puf, numeric)
    missing: np.ndarray  # float32 (v,): the cost of a missing value
    filtered: float  # the cost of a difference that the bit maps tell


class Queries(NamedTuple):
    """The PUF records that search together."""

    codes: np.ndarray  # int32 (TOGETHER, categorical)
    values: np.ndarray  # (TOGETHER, numeric)
    base: np.ndarray  # float32 (TOGETHER,): the cost of what is missing in the PUF record
    limit: np.ndarray  # float32 (TOGETHER,)
    rows: np.ndarray  # int64 (TOGETHER, categorical): its rows of the bit maps
    n_rows: np.ndarray  # int64 (TOGETHER,)


class Found(NamedTuple):
    """What they have found."""

    levels: np.ndarray  # int64 (TOGETHER, keep + 1): the best levels, ascending
    eifs: np.ndarray  # int32 (TOGETHER, keep + 1)
    n: np.ndarray  # int64 (TOGETHER,)
    bound: np.ndarray  # int64 (TOGETHER,): a pair with this level or a worse one does not matter
    ceilings: np.ndarray  # float32 (TOGETHER, keep + 1): the lowest bounds from above, ascending
    n_ceilings: np.ndarray  # int64 (TOGETHER,)
    pending: np.ndarray  # int32 (TOGETHER, PENDING): EIF records that wait
    low: np.ndarray  # float32 (TOGETHER, PENDING): their bounds from below
    n_pending: np.ndarray  # int64 (TOGETHER,)


class Room(NamedTuple):
    """What a search needs beside its results; nothing of it outlives the call."""

    queries: Queries
    found: Found
    desk: Any
    fixed: np.ndarray  # float32 (TOGETHER, 64): see `box_costs`
    varying: np.ndarray  # float32 (TOGETHER, 64)
    low: np.ndarray  # float32 (64,): see `leaf_costs`
    high: np.ndarray  # float32 (64,)
    groups: np.ndarray  # float32 (TOGETHER, groups): what their boxes cost
    near: np.ndarray  # int64 (groups,): the groups to visit
    keys: np.ndarray  # float32 (groups,)
    visits: np.ndarray  # uint64 (TOGETHER,): the leaves of a group to visit
    seeds: np.ndarray  # int32 (keep + 1,)


def make_room(index: Index, puf: Puf, desk: Any, keep: int) -> Room:
    """Room for one search at a time, uninitialised."""
    nc, nn, n_groups = puf.codes.shape[1], puf.values.shape[1], len(index.groups.sets) * WIDTH

    def room(dtype: type, *shape: int) -> np.ndarray:
        return np.empty(shape, dtype)

    queries = Queries(
        room(np.int32, TOGETHER, nc),
        room(puf.values.dtype.type, TOGETHER, nn),
        room(np.float32, TOGETHER),
        room(np.float32, TOGETHER),
        room(np.int64, TOGETHER, nc),
        room(np.int64, TOGETHER),
    )
    found = Found(
        room(np.int64, TOGETHER, keep + 1),
        room(np.int32, TOGETHER, keep + 1),
        room(np.int64, TOGETHER),
        room(np.int64, TOGETHER),
        room(np.float32, TOGETHER, keep + 1),
        room(np.int64, TOGETHER),
        room(np.int32, TOGETHER, PENDING),
        room(np.float32, TOGETHER, PENDING),
        room(np.int64, TOGETHER),
    )
    return Room(
        queries,
        found,
        desk,
        room(np.float32, TOGETHER, WIDTH),
        room(np.float32, TOGETHER, WIDTH),
        room(np.float32, WIDTH),
        room(np.float32, WIDTH),
        room(np.float32, TOGETHER, n_groups),
        room(np.int64, n_groups),
        room(np.float32, n_groups),
        room(np.uint64, TOGETHER),
        room(np.int32, keep + 1),
    )
