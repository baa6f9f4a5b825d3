"""SAS data sets (sas7bdat) by their layout, where this provably gives what a general library gives (METHODS §1).

The library describes the columns; here the records are read as an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from reident.reading.layout import ArrayFile, blocks
from reident.reading.proven import UnprovenError
from reident.reading.sas_layout import header_of, records_of
from reident.reading.sas_pages import records_on

_MIN_COMPRESSED = 250_000
"""Compressed records for which the compiled decompression is worth the second that loading it takes."""

_LETTERS = np.zeros(256, np.uint8)
"""The letter of a missing value by its third byte, which numbers the letters or is one; 0 if it is not special."""
_SPECIAL = np.frombuffer(b"_ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)
_LETTERS[~np.array([0, *range(2, 28)], np.uint8)] = _SPECIAL
_LETTERS[~_SPECIAL] = _SPECIAL


class DataSet(ArrayFile):
    """A data set. Its texts raise :class:`UnprovenError` for a byte of 0 before another character."""

    padding = " "

    def _describe(self, stream: BinaryIO, size: int) -> None:  # noqa: ARG002 - pages are counted as they are read
        self._header = header_of(stream)
        self._records = records_of(stream, self._header)
        self.layout = self._records.layout
        if self._records.method and self.layout.n < _MIN_COMPRESSED:
            raise UnprovenError

    def numbers(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers and letters, as :meth:`ArrayFile.numbers`."""
        numbers = values.astype(np.float64)
        missing = np.isnan(numbers)
        letters = np.zeros(len(values), np.uint8)
        if missing.any():
            bits = values[missing].view(values.dtype.str.replace("f", "u")).astype(np.uint64)
            letters[missing] = _LETTERS[(bits >> np.uint64(40)) & np.uint64(0xFF)]
            numbers[missing] = np.nan
        return numbers, letters

    def text_cells(self, cells: np.ndarray) -> np.ndarray:
        """Return cells of text with blanks instead of bytes of 0 behind their text."""
        if cells.all():
            return cells
        unused = (cells == 0) | (cells == ord(" "))
        behind = np.logical_and.accumulate(unused[:, ::-1], axis=1)[:, ::-1]
        cells = np.where(behind, np.uint8(ord(" ")), cells)
        if not cells.all():
            raise UnprovenError
        return cells

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the bytes of records, uint8 (n, width).

        Raises
        ------
        UnprovenError
            For a page that is not as the layout has it.
        """
        header, form = self._header, self._records
        yield from blocks(self._path, self.layout._replace(n=form.first))
        left, page = self.layout.n - form.first, form.page
        with self._path.open("rb") as stream:
            stream.seek(header.begin + page * header.page_size)
            while left:
                pages = self._pages(stream, header.pages - page)
                skip = form.pointers if page == form.page else 0
                for records in records_on(pages, header, form, left, skip):
                    left -= len(records)
                    yield records
                page += len(pages)

    def _pages(self, stream: BinaryIO, left: int) -> np.ndarray:
        """Return the next pages; uint8 (pages, page_size)."""
        size = self._header.page_size
        at_once = max(1, self.layout.rows * self.layout.width // size)
        content = np.frombuffer(stream.read(min(at_once, left) * size), np.uint8)
        if not len(content) or len(content) % size:
            raise UnprovenError
        return content.reshape(-1, size)
