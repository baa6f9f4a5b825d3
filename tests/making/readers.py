"""What the fast reader of a file gives, and what the exact one alone gives, for tests that compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from reident import reading
from reident.errors import InputError
from reident.reading import statistical
from reident.reading.proven import UnprovenError
from reident.sections.files import SourceFile


def unproven(_: object) -> Iterator[pa.RecordBatch]:
    """In place of the reader by the layout."""
    raise UnprovenError
    yield


def refuse(*_: object) -> Iterator[pa.RecordBatch]:
    """In place of the library."""
    raise AssertionError("the library reads the records")
    yield


def outcome(
    path: Path, wanted: Sequence[str], keys: Sequence[str] = (), fast: Callable | None = None
) -> list[dict[str, str]] | str:
    """The records, or the message of the error; by the library alone if `fast` is :func:`unproven`."""
    before = statistical._fast
    statistical._fast = fast or before
    try:
        return reading.read(path, SourceFile(path=path.name), wanted, keys).to_pylist()
    except InputError as error:
        return str(error)
    finally:
        statistical._fast = before
