"""What the order of the two files tells of the true links, for the terminal (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from reident.drafting.links import Key, Links
from reident.plausibility.conversions import ranks
from reident.plausibility.order import KEYS, ROWS, correlation, is_told, serial_numbers, sorted_cells

_IN_WORDS = {ROWS: "rows", KEYS: "keys"}


def facts(names: tuple[str, str], links: Links, columns: Iterable[np.ndarray]) -> Iterator[str]:
    """Yield a sentence where the PUF and the EIF are in the same order, beyond what the values of the PUF explain.

    Parameters
    ----------
    names : the names of both files
    columns : of the linked records, the values of the PUF by variable: numbers, -inf where missing, or codes
    """
    values = list(columns)
    found = [
        (abs(told[0]), one, other)
        for one, rank in _orders(links, 0, links.puf)
        for cells in [sorted_cells(np.zeros(len(rank), np.int64), values, rank)]
        for other, place in _orders(links, 1, links.eif)
        for told in [correlation(cells, rank, place)]
        if is_told(*told)
    ]
    if found:
        most, one, other = max(found)
        yield (
            f"The {_IN_WORDS[one]} of {names[0]} and the {_IN_WORDS[other]} of {names[1]} are in the same order (rank "
            f"correlation {most:.2f} over {links.compared:,} links), which tells who is who. Before you publish, sort "
            f"{names[0]} by random numbers, and draw new keys"
        )


def _orders(links: Links, at: int, key: Key) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the ranks of the linked records of a file by their rows, and by their keys as text and as numbers."""
    yield ROWS, ranks(links.rows[at].astype(np.float64))
    if len(key.columns) != 1:
        return
    keys = links.records[at][key.columns[0]].combine_chunks().cast(pa.string())
    _, text = np.unique(np.array(keys.to_pylist(), str), return_inverse=True)
    yield KEYS, text.astype(np.float64)
    if (numbers := serial_numbers(pa.table({"": keys}), [""])) is not None:
        yield KEYS, ranks(numbers)
