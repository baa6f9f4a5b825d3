"""Compressed records of SAS data sets: by runs of a byte (RLE), or by runs and repeated bytes (RDC) (METHODS §1)."""

import numpy as np

from reident.kernels.compiling import lean_jit

STORED, RUNS, REPEATS = 0, 1, 2
"""How a record is stored: as it is, by runs, or by runs and repeated bytes."""

_LONG_RUN, _SHORT_RUN = 4, 12
"""The first commands for runs: of any byte, and of the bytes that have their own command after these."""


@lean_jit
def _fill(row, at, n, byte):
    """Write a run, and return where it ends; -1 if it does not fit."""
    if at + n > row.size:
        return -1
    for place in range(at, at + n):
        row[place] = byte
    return at + n


@lean_jit
def _copy(content, start, end, row, at, n):
    """Copy bytes of the content, and return where they end in the record; -1 if either is too short."""
    if at + n > row.size or start + n > end:
        return -1
    for place in range(n):
        row[at + place] = content[start + place]
    return at + n


@lean_jit
def _by_runs(content, start, end, row):
    """Write a record that is compressed by runs; return whether it is whole."""
    done = 0
    while start < end and done >= 0:
        command, low = content[start] >> 4, np.int64(content[start] & 0x0F)
        start += 1
        if command == 3:
            return False
        if command in (0, 1) or _LONG_RUN <= command < 8:  # the next byte is a part of the length
            if start + (command == _LONG_RUN) >= end:
                return False
            low = low * 256 + content[start]
            start += 1
        if command in (_LONG_RUN, _SHORT_RUN):
            if start >= end:
                return False
            done = _fill(row, done, low + (18 if command == _LONG_RUN else 3), content[start])
            start += 1
        elif _LONG_RUN < command < 8 or command > _SHORT_RUN:
            byte = (0x40, 0x20, 0)[command % 4 - 1]
            done = _fill(row, done, low + (17 if command < 8 else 2), byte)
        else:
            if command < 2:
                n = low + 64 + 4096 * command
            else:
                n = low + 96 if command == 2 else low + 1 + 16 * (command - 8)
            done = _copy(content, start, end, row, done, n)
            start += n
    return done == row.size


@lean_jit
def _by_repeats(content, start, end, row):
    """Write a record that is compressed by runs and repeated bytes; return whether it is whole."""
    done, marks, left = 0, 0, 0
    while start + (2 if left == 0 else 1) <= end and done >= 0:
        if left == 0:
            marks, left = np.int64(content[start]) << 8 | np.int64(content[start + 1]), 16
            start += 2
            continue
        left -= 1
        if not marks >> left & 1:
            done = _copy(content, start, end, row, done, 1)
            start += 1
            continue
        if start + 2 > end:
            return False
        command, low, following = (
            content[start] >> 4,
            np.int64(content[start] & 0x0F),
            np.int64(content[start + 1]),
        )
        start += 2
        if command == 0:
            done = _fill(row, done, low + 3, following)
            continue
        n = np.int64(command)
        if command <= 2:  # a third byte: that of the run, or of the length
            if start >= end:
                return False
            n = np.int64(content[start]) + 16
            start += 1
        back = low + 16 * following + 3
        if command == 1:
            done = _fill(row, done, low + 16 * following + 19, n - 16)
        elif back > done or n > back:
            return False
        else:
            done = _copy(row, done - back, done, row, done, n)
    return done == row.size and not (left and marks >> left - 1 & 1)


@lean_jit
def _records(content, starts, sizes, methods, rows):
    for at in range(starts.size):
        start, end = starts[at], starts[at] + sizes[at]
        if methods[at] == RUNS:
            whole = _by_runs(content, start, end, rows[at])
        elif methods[at] == REPEATS:
            whole = _by_repeats(content, start, end, rows[at])
        else:
            whole = _copy(content, start, end, rows[at], 0, sizes[at]) == rows.shape[1]
        if not whole:
            return at
    return starts.size


def decompressed(
    content: np.ndarray, starts: np.ndarray, sizes: np.ndarray, methods: np.ndarray, width: int
) -> tuple[np.ndarray, int]:
    """Return records, and how many of them are whole before one that is not.

    Parameters
    ----------
    content : uint8 (bytes,)
    starts, sizes : int64 (n,)
        Where each record is in the content.
    methods : uint8 (n,)
        `STORED`, `RUNS` or `REPEATS`.
    width : int
        Bytes of a record that is whole.

    Returns
    -------
    records : uint8 (n, width)
    whole : int

    Raises
    ------
    ValueError
        For a record that is not inside the content.
    """
    if len(starts) and (min(starts.min(), sizes.min()) < 0 or (starts + sizes).max() > len(content)):
        raise ValueError("a record must be inside the content")
    records = np.zeros((len(starts), width), np.uint8)
    return records, _records(content, starts, sizes, methods, records)
