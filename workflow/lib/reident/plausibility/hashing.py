"""Hashes of 64 bits of columns of text: different hashes mean different texts, so distinct ones prove a key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_WORD = 8


def hashes(columns: Sequence[pa.Array]) -> np.ndarray:
    """Return a hash of each tuple of texts, none of which is null; uint64 (n,).

    It depends on the order of the columns; parts are never joined.
    """
    total = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        total = mixed(total * _FACTOR + _texts(column))
    return total


def mixed(values: np.ndarray) -> np.ndarray:
    """Return the finaliser of splitmix64, a permutation of the 64-bit integers."""
    values = (values ^ (values >> _SHIFTS[0])) * _MIX[0]
    values = (values ^ (values >> _SHIFTS[1])) * _MIX[1]
    return values ^ (values >> _SHIFTS[2])


def _texts(column: pa.Array) -> np.ndarray:
    """Return the hash of each text: its bytes in words of eight, the last one filled with zeros, and its length."""
    column = column.cast(pa.large_binary())
    offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]
    lengths = np.diff(offsets)
    data = column.buffers()[2]
    content = np.zeros(offsets[-1] + _WORD, np.uint8) if len(offsets) else np.zeros(_WORD, np.uint8)
    if data is not None:
        content[: offsets[-1]] = np.frombuffer(data, np.uint8)[: offsets[-1]]
    words = np.ndarray((len(content) - _WORD + 1,), "<u8", content.data, strides=(1,))
    state = mixed(lengths.astype(np.uint64) + _FACTOR)
    for start in range(0, int(lengths.max(initial=0)), _WORD):
        rest = lengths - start
        longer = np.flatnonzero(rest > 0)
        word = words[offsets[longer] + start]
        bits = np.minimum(rest[longer], _WORD).astype(np.uint64) * np.uint64(8)
        keep = np.where(bits == 64, np.uint64(2**64 - 1), (np.uint64(1) << (bits % np.uint64(64))) - np.uint64(1))
        state[longer] = mixed(state[longer] * _FACTOR + (word & keep))
    return state


def has_repeats(values: np.ndarray) -> bool:
    """Whether a hash is there twice."""
    ordered = np.sort(values)
    return bool((ordered[1:] == ordered[:-1]).any())
