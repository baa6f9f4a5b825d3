"""Categories of both files numbered through all variables, for taxicab's scans (METHODS §4.2)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit

MISSING = 0
"""The number of a missing value."""

UNSHARED = 2**31 - 1
"""The number of an EIF record's category that no PUF record has."""


class Rows(NamedTuple):
    """Both files with their categories numbered, so that a number tells variable and category.

    0 is a missing value, 1 + j a category of variable j that the EIF has not; then come, variable after
    variable, the categories that both files have. The variables are ordered by how rarely two records agree
    on them, most telling first: a level does not depend on their order. The EIF is sorted by the first
    variables, so that records that are taken together lie together in memory.
    """

    puf: np.ndarray  # int32 (n_puf, v)
    eif: np.ndarray  # int32 (n_eif, v)
    position: np.ndarray  # int32 (n_eif,): where the record stands in the EIF
    puf_absent: np.ndarray  # uint64 (n_puf,): bit set of the variables that are missing
    eif_absent: np.ndarray  # uint64 (n_eif,)
    base: np.ndarray  # int64 (v + 1,): number of the first shared category of each variable; how many numbers
    agree: np.ndarray  # float64 (v,): share of the pairs that agree on the variable
    absent: np.ndarray  # float64 (v,): share of the pairs in which it is missing


@jit
def _counts(table, j, top):
    """How often each code of variable j occurs."""
    counts = np.zeros(top + 1, np.int64)
    for i in range(len(table)):
        if table[i, j] >= 0:
            counts[table[i, j]] += 1
    return counts


@jit
def _write(table, j, numbers, column, out, absent):
    """Write the numbers of variable j as a column, and a bit where it is missing."""
    for i in range(len(table)):
        if table[i, j] < 0:
            out[i, column] = MISSING
            absent[i] |= np.uint64(1) << np.uint64(column)
        else:
            out[i, column] = numbers[table[i, j]]


def _dense(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same categories with codes that are not much larger than the number of records."""
    most = 4 * (len(puf) + len(eif)) + 1024
    sparse = [j for j in range(puf.shape[1]) if max(puf[:, j].max(), eif[:, j].max()) > most]
    if sparse:
        puf, eif = puf.copy(), eif.copy()
    for j in sparse:
        codes = np.unique(np.concatenate([puf[:, j], eif[:, j]]))
        codes = codes[codes >= 0]
        for table in (puf, eif):
            table[:, j] = np.where(table[:, j] < 0, -1, np.searchsorted(codes, table[:, j]))
    return puf, eif


def number_rows(puf: np.ndarray, eif: np.ndarray) -> Rows:
    """Number the categories of two files of at least one record each; int32 (n, v), missing below 0."""
    puf, eif = _dense(puf, eif)
    v = puf.shape[1]
    tops = [max(int(puf[:, j].max()), int(eif[:, j].max()), 0) for j in range(v)]

    def counts(j: int) -> tuple[np.ndarray, np.ndarray]:
        return _counts(puf, j, tops[j]), _counts(eif, j, tops[j])

    agree, absent = np.empty(v), np.empty(v)
    for j in range(v):
        of_puf, of_eif = counts(j)
        agree[j] = (of_puf / len(puf)) @ (of_eif / len(eif))
        absent[j] = 1 - of_puf.sum() / len(puf) * (of_eif.sum() / len(eif))
    order = np.argsort(agree + absent, kind="stable")

    numbered = np.empty(puf.shape, np.int32), np.empty(eif.shape, np.int32)
    absences = np.zeros(len(puf), np.uint64), np.zeros(len(eif), np.uint64)
    base = np.empty(v + 1, np.int64)
    base[0] = 1 + v
    for column, j in enumerate(order):
        of_puf, of_eif = counts(j)
        shared = (of_puf > 0) & (of_eif > 0)
        numbers = base[column] - 1 + np.cumsum(shared)
        base[column + 1] = base[column] + shared.sum()
        for table, alone, out, absent_in in zip(
            (puf, eif), (1 + column, UNSHARED), numbered, absences, strict=True
        ):
            _write(table, j, np.where(shared, numbers, alone).astype(np.int32), column, out, absent_in)
    position = np.argsort(_leading(numbered[1], base))
    return Rows(
        numbered[0],
        numbered[1][position],
        position.astype(np.int32),
        absences[0],
        absences[1][position],
        base,
        agree[order],
        absent[order],
    )


def _leading(table: np.ndarray, base: np.ndarray) -> np.ndarray:
    """One number per record, int64, that orders them by as many of the first variables as it has room for."""
    key = np.zeros(len(table), np.int64)
    used = 1
    for j in range(table.shape[1]):
        width = int(base[j + 1] - base[j]) + 2
        used *= width
        if used >= 2**63:
            break
        key *= width
        key += np.clip(table[:, j] - (base[j] - 1), 0, width - 1)  # missing, shared ones, unshared
    return key
