"""Cells of a set of keys, and their records by the rank of a target (METHODS §7.5, §12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import jit

MAX_WORD = 2**62
"""Combinations of codes that one word tells apart."""


class Grouped(NamedTuple):
    """The records of one file, cell by cell, within a cell by the rank of the target."""

    starts: np.ndarray  # int64 (cells + 1,): where the records of each cell begin
    records: np.ndarray  # int32 (k,): their numbers in the file
    ranks: np.ndarray  # int32 (k,)


@jit
def _number_words(words):
    """Number distinct words 0, 1, … in the order in which they first occur; a negative word is in no cell."""
    slots = 16
    while slots < 2 * len(words):
        slots *= 2
    table = np.full(slots, -1, np.int32)
    numbers = np.full(len(words), -1, np.int32)
    firsts = np.empty(len(words), np.int64)
    n = 0
    for i in range(len(words)):
        word = words[i]
        if word < 0:
            continue
        mixed = np.uint64(word) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64((mixed ^ (mixed >> np.uint64(31))) & np.uint64(slots - 1))
        while table[slot] >= 0 and firsts[table[slot]] != word:
            slot = (slot + 1) & (slots - 1)
        if table[slot] < 0:
            table[slot] = n
            firsts[n] = word
            n += 1
        numbers[i] = table[slot]
    return numbers, n


@jit
def _number_few(words, n_words):
    """Number the words that occur 0, 1, … in their order; words are below ``n_words``."""
    table = np.zeros(n_words, np.int32)
    for i in range(len(words)):
        if words[i] >= 0:
            table[words[i]] = 1
    n = 0
    for word in range(n_words):
        if table[word]:
            table[word] = n
            n += 1
    numbers = np.full(len(words), -1, np.int32)
    for i in range(len(words)):
        if words[i] >= 0:
            numbers[i] = table[words[i]]
    return numbers, n


def number_cells(columns: Sequence[np.ndarray], levels: Sequence[int]) -> tuple[np.ndarray, int]:
    """Number the cells of a set of keys, at least one; return the numbers and how many there are.

    Each column, int32 (n,), has codes from 0, below its level; negative for missing. The numbers, int32 (n,), are equal
    for records with equal codes; -1 for a record that misses one.
    """
    words, n_words = columns[0].astype(np.int64), max(levels[0], 1)
    for column, level in zip(columns[1:], levels[1:], strict=True):
        if n_words * level > MAX_WORD:
            words, n_words = _number(words, n_words)
            words = words.astype(np.int64)
        words = np.where((words < 0) | (column < 0), -1, words * level + column)
        n_words *= max(level, 1)
    return _number(words, n_words)


def _number(words: np.ndarray, n_words: int) -> tuple[np.ndarray, int]:
    few = n_words <= 2 * len(words) + 1024
    return _number_few(words, n_words) if few else _number_words(words)


@jit
def group(cells, ranks, sorted_records, n_cells):
    """Lay the records of a file out cell by cell; ``sorted_records`` are those with a target, by its rank."""
    starts = np.zeros(n_cells + 1, np.int64)
    for i in sorted_records:
        if cells[i] >= 0:
            starts[cells[i] + 1] += 1
    for c in range(n_cells):
        starts[c + 1] += starts[c]
    at = starts[:-1].copy()
    records = np.empty(starts[n_cells], np.int32)
    cell_ranks = np.empty(starts[n_cells], np.int32)
    for i in sorted_records:
        if cells[i] >= 0:
            records[at[cells[i]]] = i
            cell_ranks[at[cells[i]]] = ranks[i]
            at[cells[i]] += 1
    return Grouped(starts, records, cell_ranks)
