"""A study's own scoring functions of adhoc: approved code, which prints nothing (METHODS §4.4)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reident.errors import InputError, type_name
from reident.sections.exact import SCALE

if TYPE_CHECKING:
    from reident.linkage.pairing import Pairing, Records


_MARK = "<study> "
"""What the name of an approved file begins with in tracebacks, which tells its lines from those of libraries."""

_LENGTHS: dict[str, int] = {}
"""The lines of each approved file, by its name in tracebacks: code may give itself names and line numbers of data."""


def own_scores(pairing: Pairing, at: int, function: Callable, rows: slice, columns: slice) -> np.ndarray:
    """Return the scores of a block by a study's own function, checked; missing values score 0 without it.

    The function may do with its arguments what it likes: they are copies.
    """
    p = _values(pairing, "puf", at)[rows][:, None].copy()
    e = _values(pairing, "eif", at)[columns][None, :].copy()
    name = pairing.variables[at].name
    try:
        with _silenced():
            raw = np.asarray(function(p, e), np.float64)
        scores = np.broadcast_to(raw, (p.shape[0], e.shape[1]))
    except BaseException as error:  # noqa: BLE001 - foreign code; its message may hold data
        raise InputError(
            f"{_line(error)}the scoring function of `{name}` failed ({type_name(error)}). It must take two arrays "
            "that broadcast (PUF values as a column, EIF values as a row) and return their scores; correct it."
        ) from None
    missing = _is_missing(pairing.puf, at)[rows][:, None] | _is_missing(pairing.eif, at)[columns][None, :]
    if not ((scores >= 0) & (scores <= 5))[~missing].all():
        raise InputError(f"the scoring function of `{name}` gives a score outside 0…5; correct the function.")
    return np.where(missing, 0, np.rint(np.where(missing, 0, scores) * SCALE)).astype(np.int64)


def _values(pairing: Pairing, side: str, at: int) -> np.ndarray:
    """A variable's values for a study's own function: numbers, or category labels ('' where missing)."""
    records = getattr(pairing, side)
    labels = pairing.labels[at]
    if labels is None:
        return records.values[:, at]
    return np.array([*labels, ""], object)[records.codes[:, at]]


def _is_missing(records: Records, at: int) -> np.ndarray:
    return (records.codes[:, at] < 0) & np.isnan(records.values[:, at])


def approved(function: str, sha256: str | None, files: Sequence[Path]) -> Callable:
    """Return the study's own function, from a file whose SHA-256 the study approves."""
    module, name = function.split(":")
    path = next(file for file in files if file.stem == module)
    source = path.read_bytes()
    if hashlib.sha256(source).hexdigest() != sha256:
        raise InputError(
            f"{path.name} is not the file that the study approves; review it and give its SHA-256 as `sha256`."
        )
    _LENGTHS[_MARK + path.name] = len(source.splitlines())
    space: dict[str, Any] = {"__name__": module}
    try:
        with _silenced():
            exec(compile(source, _MARK + path.name, "exec"), space)  # noqa: S102 - the bytes that the study approves
    except BaseException as error:  # noqa: BLE001 - foreign code
        where = _line(error) or f"{path.name}: "
        raise InputError(f"{where}the file cannot be loaded ({type_name(error)}). Correct the file.") from None
    if not callable(space.get(name)):
        raise InputError(f"{path.name} has no function `{name}`; correct `function`.")
    return space[name]


def _line(error: BaseException) -> str:
    """Return the file and the line of it at which foreign code failed, for a message; empty if it called nothing."""
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):  # of the file itself, which has no frame yet
        places.append((error.filename or "", error.lineno or 1))
    lines = [(name.removeprefix(_MARK), line) for name, line in places if line <= _LENGTHS.get(name, 0)]
    return f"{lines[-1][0]}, line {lines[-1][1]}: " if lines else ""


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Drop the output and the warnings of foreign code, which may hold data, by whatever way they leave the process."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    copies = [os.dup(descriptor) for descriptor in (1, 2)]
    mute()
    try:
        with (
            Path(os.devnull).open("w", encoding="utf-8") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            yield
    finally:
        for descriptor, copy in zip((1, 2), copies, strict=True):
            os.dup2(copy, descriptor)
            os.close(copy)


def mute() -> None:
    """Drop whatever this process writes to the terminal from here on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
