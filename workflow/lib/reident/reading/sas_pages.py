"""The records on pages of SAS data sets (sas7bdat), compressed or not (METHODS §1).

What is not as the layout has it raises :class:`UnprovenError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from reident.reading.proven import UnprovenError
from reident.reading.sas_layout import (
    COMPRESSED,
    DATA,
    DESCRIBED,
    EMPTY,
    INDEX,
    KINDS,
    WHOLE,
    Header,
    Records,
)

_KINDS = np.array(sorted(KINDS), np.uint32)


def records_on(pages: np.ndarray, header: Header, form: Records, n: int, skip: int) -> Iterator[np.ndarray]:
    """Yield the records on pages, uint8 (records, width).

    Parameters
    ----------
    pages : uint8 (pages, page_size)
        Those that follow the last record can be of any type.
    header : Header
    form : Records
    n : int
        The number of records that the file still has.
    skip : int
        The number of pointers of the first page that precede those of compressed records.

    Raises
    ------
    UnprovenError
    """
    if form.method:
        yield from _compressed(pages, header, form, n, skip)
    else:
        yield from _stored(pages, header, form, n)


def _stored(pages: np.ndarray, header: Header, form: Records, n: int) -> Iterator[np.ndarray]:
    begin, width = header.page_header, form.layout.width
    counts = _shorts(pages, begin - 6, header)
    needed = int(np.searchsorted(np.cumsum(counts), n)) + 1
    pages, counts = pages[:needed], counts[:needed]
    most = int(counts.max())
    end = begin + most * width
    if (_shorts(pages, begin - 8, header) != DATA).any() or end > header.page_size:
        raise UnprovenError
    if most:
        records = pages[:, begin:end].reshape(len(pages), most, width)
        yield records[np.arange(most) < counts[:, None]][:n]


def _compressed(pages: np.ndarray, header: Header, form: Records, n: int, skip: int) -> Iterator[np.ndarray]:
    from reident.kernels import unpacking  # noqa: PLC0415 - compiled code: loaded where it runs

    found = _found(pages, header, n, skip)
    content = pages.reshape(-1)
    whole = found.compression == WHOLE
    _check_whole(content, found.starts[whole], header)
    methods = np.where(whole, unpacking.STORED, form.method).astype(np.uint8)
    for first in range(0, len(methods), form.layout.rows):
        part = slice(first, first + form.layout.rows)
        records, n_whole = unpacking.decompressed(
            content, found.starts[part], found.sizes[part], methods[part], form.layout.width
        )
        if n_whole < len(records):
            raise UnprovenError
        yield records


class _Found(NamedTuple):
    """Where compressed records are in the bytes of pages, and which are compressed; int64 (records,)."""

    starts: np.ndarray
    sizes: np.ndarray
    compression: np.ndarray


def _found(pages: np.ndarray, header: Header, n: int, skip: int) -> _Found:
    types = _shorts(pages, header.page_header - 8, header)
    counts = np.where(np.isin(types, DESCRIBED), _shorts(pages, header.page_header - 4, header), 0)
    most = int(counts.max())
    end = header.page_header + most * header.pointers.itemsize
    if end > header.page_size:
        raise UnprovenError
    pointers = np.ascontiguousarray(pages[:, header.page_header : end]).view(header.pointers)
    used = (np.arange(most) < counts[:, None]) & (pointers["size"] > 0) & (pointers["compression"] != EMPTY)
    used[0, :skip] = False
    places, order = np.nonzero(used)
    last = int(places[n - 1]) if len(places) >= n else len(pages) - 1
    if len(places) > n and places[n] == last:  # more records than the file has
        raise UnprovenError
    if not np.isin(types[: last + 1], (*DESCRIBED, INDEX)).all():
        raise UnprovenError
    places, chosen = places[:n], pointers[places[:n], order[:n]]
    _check(chosen, header.page_header + counts[places] * header.pointers.itemsize, header)
    starts = chosen["start"].astype(np.int64) + places * header.page_size
    return _Found(starts, chosen["size"].astype(np.int64), chosen["compression"])


def _check(pointers: np.ndarray, ends: np.ndarray, header: Header) -> None:
    """Check that pointers are those of records, which are on the page behind its pointers."""
    size, limit = pointers["size"].astype(np.uint64), np.uint64(header.page_size)
    inside = (pointers["start"] <= limit) & (size <= limit)
    inside &= pointers["start"].astype(np.uint64) + size <= limit
    known = (pointers["compression"] == COMPRESSED) | (
        (pointers["compression"] == WHOLE) & (pointers["is_record"] > 0)
    )
    if not (inside & known & (pointers["start"] >= ends.astype(np.uint64))).all():
        raise UnprovenError


def _check_whole(content: np.ndarray, starts: np.ndarray, header: Header) -> None:
    """Check that records which are not compressed do not begin like a description."""
    for half in range(0, header.word, 4):
        if (starts + half + 4 > len(content)).any():
            raise UnprovenError
        words = content[starts[:, None] + np.arange(half, half + 4)].view(f"{header.order}u4")
        if np.isin(words, _KINDS).any():
            raise UnprovenError


def _shorts(pages: np.ndarray, start: int, header: Header) -> np.ndarray:
    """Return a number of two bytes of each page, int64 (pages,)."""
    shorts = np.ascontiguousarray(pages[:, start : start + 2])
    return shorts.view(f"{header.order}u2")[:, 0].astype(np.int64)
