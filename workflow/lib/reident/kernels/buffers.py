"""The data of a search through boxes: both files, a batch of PUF records, and buffers (see `search`)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.boxes import WIDTH, Index

BATCH = 128
"""PUF records that search together."""

MAX_PENDING = 128
"""Pairs of a record that wait for the comparison by the definition while its limit still falls."""


class SearchFiles(NamedTuple):
    """Both files as the caller gives them: the definition is applied to these."""

    puf_codes: np.ndarray  # int32 (n_puf, v)
    eif_codes: np.ndarray  # int32 (n_eif, v)
    puf_values: np.ndarray  # float64 (n_puf, v)
    eif_values: np.ndarray  # float64 (n_eif, v)


def as_files(
    puf_codes: np.ndarray, eif_codes: np.ndarray, puf_values: np.ndarray, eif_values: np.ndarray
) -> SearchFiles:
    """Return both files in the types of compiled code; copy only arrays of another type.

    Raises
    ------
    ValueError
        If the codes and the values of a file differ in shape, or the files in their number of columns.
    """
    if puf_codes.ndim != 2 or eif_codes.ndim != 2 or puf_codes.shape[1] != eif_codes.shape[1]:
        raise ValueError("codes of both files must be matrices with the same number of columns.")
    if puf_codes.shape != puf_values.shape or eif_codes.shape != eif_values.shape:
        raise ValueError("codes and values of a file must have the same shape.")
    return SearchFiles(
        np.ascontiguousarray(puf_codes, np.int32),
        np.ascontiguousarray(eif_codes, np.int32),
        np.ascontiguousarray(puf_values, np.float64),
        np.ascontiguousarray(eif_values, np.float64),
    )


class Puf(NamedTuple):
    """The PUF records in the layout of the boxes."""

    codes: np.ndarray  # int32 (n_puf, categorical)
    values: np.ndarray  # float32 (n_puf, numeric)
    missing: np.ndarray  # float32 (v,): cost of a missing value
    filter_cost: float  # cost of a difference that the bit maps show


class Queries(NamedTuple):
    """The PUF records of a batch."""

    codes: np.ndarray  # int32 (BATCH, categorical)
    values: np.ndarray  # float32 (BATCH, numeric)
    base: np.ndarray  # float32 (BATCH,): cost of what is missing in the PUF record
    limit: np.ndarray  # float32 (BATCH,)
    margin: np.ndarray  # float32 (BATCH,): a pair's cost in single precision plus this is an upper bound
    rows: np.ndarray  # int64 (BATCH, categorical): the record's rows of the bit maps
    n_rows: np.ndarray  # int64 (BATCH,)


class Candidates(NamedTuple):
    """The best pairs of the records of a batch, and those still to be compared."""

    levels: np.ndarray  # int64 (BATCH, keep + 1): the best levels, ascending
    eifs: np.ndarray  # int32 (BATCH, keep + 1)
    n: np.ndarray  # int64 (BATCH,)
    bound: np.ndarray  # int64 (BATCH,): a pair with this level or a worse one does not matter
    ceilings: np.ndarray  # float32 (BATCH, keep + 1): the lowest upper bounds, ascending
    n_ceilings: np.ndarray  # int64 (BATCH,)
    pending: np.ndarray  # int32 (BATCH, MAX_PENDING): EIF records that wait
    low: np.ndarray  # float32 (BATCH, MAX_PENDING): their lower bounds
    n_pending: np.ndarray  # int64 (BATCH,)


class Buffers(NamedTuple):
    """The buffers of a search beside its results; the next batch overwrites them."""

    queries: Queries
    candidates: Candidates
    squares: np.ndarray  # float64 (v,): of the scores of one pair
    fixed: np.ndarray  # float32 (BATCH, 64): see `euclidean_costs.box_costs`
    varying: np.ndarray  # float32 (BATCH, 64)
    low: np.ndarray  # float32 (64,): see `euclidean_costs.leaf_costs`
    high: np.ndarray  # float32 (64,)
    group_costs: np.ndarray  # float32 (BATCH, groups)
    groups: np.ndarray  # int64 (groups,): the groups to visit
    keys: np.ndarray  # float32 (groups,)
    visits: np.ndarray  # uint64 (BATCH,): the leaves of a group to visit
    seeds: np.ndarray  # int32 (keep + 1,)


def empty_buffers(index: Index, puf: Puf, v: int, keep: int) -> Buffers:
    """Allocate the buffers of one search at a time, uninitialised."""
    nc, nn, n_groups = puf.codes.shape[1], puf.values.shape[1], len(index.groups.sets) * WIDTH

    def empty(dtype: type, *shape: int) -> np.ndarray:
        return np.empty(shape, dtype)

    queries = Queries(
        codes=empty(np.int32, BATCH, nc),
        values=empty(np.float32, BATCH, nn),
        base=empty(np.float32, BATCH),
        limit=empty(np.float32, BATCH),
        margin=empty(np.float32, BATCH),
        rows=empty(np.int64, BATCH, nc),
        n_rows=empty(np.int64, BATCH),
    )
    candidates = Candidates(
        levels=empty(np.int64, BATCH, keep + 1),
        eifs=empty(np.int32, BATCH, keep + 1),
        n=empty(np.int64, BATCH),
        bound=empty(np.int64, BATCH),
        ceilings=empty(np.float32, BATCH, keep + 1),
        n_ceilings=empty(np.int64, BATCH),
        pending=empty(np.int32, BATCH, MAX_PENDING),
        low=empty(np.float32, BATCH, MAX_PENDING),
        n_pending=empty(np.int64, BATCH),
    )
    return Buffers(
        queries,
        candidates,
        squares=empty(np.float64, v),
        fixed=empty(np.float32, BATCH, WIDTH),
        varying=empty(np.float32, BATCH, WIDTH),
        low=empty(np.float32, WIDTH),
        high=empty(np.float32, WIDTH),
        group_costs=empty(np.float32, BATCH, n_groups),
        groups=empty(np.int64, n_groups),
        keys=empty(np.float32, n_groups),
        visits=empty(np.uint64, BATCH),
        seeds=empty(np.int32, keep + 1),
    )
