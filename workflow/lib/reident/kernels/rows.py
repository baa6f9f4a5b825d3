"""Categories of both files numbered across all variables, for the scans of taxicab (METHODS §4.2)."""

from typing import NamedTuple

import numpy as np

from reident.kernels.bits import with_margin
from reident.kernels.coding import compact, frequencies, translate

MISSING = 0
"""The number of a missing value."""

UNSHARED = 2**31 - 1
"""The number of an EIF record's category that no PUF record has."""


class Rows(NamedTuple):
    """Both files with their categories numbered, so that a number identifies variable and category.

    0 is a missing value, 1 + j a category of variable j that the EIF does not have; then come, variable by
    variable, the categories that both files have. The variables are ordered by how rarely two records agree
    on them, rarest first: a level does not depend on their order. The EIF is sorted by the first
    variables, so that records that are read together lie together in memory.
    """

    puf: np.ndarray  # int32 (n_puf, v)
    eif: np.ndarray  # int32 (n_eif, v)
    position: np.ndarray  # int32 (n_eif,): position of the record in the caller's EIF
    puf_absent: np.ndarray  # uint64 (n_puf,): bit set of the variables that are missing
    eif_absent: np.ndarray  # uint64 (n_eif,)
    base: np.ndarray  # int64 (v + 1,): first number of a shared category of each variable; count of numbers
    agree: np.ndarray  # float64 (v,): share of the pairs that agree on the variable
    absent: np.ndarray  # float64 (v,): share of the pairs in which it is missing
    variable: np.ndarray  # int64 (v,): position of the variable in the caller's files


def number_rows(puf: np.ndarray, eif: np.ndarray) -> Rows:
    """Number the categories of two files of at least one record each.

    Codes are int32 (n, v), equal in both files where the category is equal; negative for missing.
    """
    v = puf.shape[1]
    agree, absent = np.empty(v), np.empty(v)
    for j in range(v):
        _, _, puf_counts, eif_counts = _count(puf[:, j], eif[:, j])
        agree[j] = (puf_counts / len(puf)) @ (eif_counts / len(eif))
        absent[j] = 1 - puf_counts.sum() / len(puf) * (eif_counts.sum() / len(eif))
    order = np.argsort(agree + absent, kind="stable")

    numbers = np.empty(puf.shape, np.int32), np.empty(eif.shape, np.int32)
    absences = np.zeros(len(puf), np.uint64), np.zeros(len(eif), np.uint64)
    base = np.empty(v + 1, np.int64)
    base[0] = 1 + v
    for k, j in enumerate(order):
        *columns, puf_counts, eif_counts = _count(puf[:, j], eif[:, j])
        shared = (puf_counts > 0) & (eif_counts > 0)
        number = base[k] - 1 + np.cumsum(shared)
        base[k + 1] = base[k] + shared.sum()
        for column, unshared, out, bits in zip(columns, (1 + k, UNSHARED), numbers, absences, strict=True):
            table = np.append(np.where(shared, number, unshared), MISSING).astype(np.int32)
            out[:, k] = translate(column, table)
            np.bitwise_or(bits, (column < 0).astype(np.uint64) << np.uint64(k), out=bits)
    position = np.argsort(_leading(numbers[1], base))
    return Rows(
        with_margin(numbers[0]),
        with_margin(numbers[1][position]),
        position.astype(np.int32),
        absences[0],
        absences[1][position],
        base,
        agree[order],
        absent[order],
        order,
    )


def _count(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return both files' codes of a variable and the frequencies of the codes in each file."""
    puf, eif, n_codes = compact(puf, eif)
    return puf, eif, frequencies(puf, n_codes), frequencies(eif, n_codes)


def _leading(table: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return an int64 key per record that sorts records by as many of the first variables as fit into it."""
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
