"""For each confidential record: how many synthetic records match it, and whether its own does (METHODS §8).

Variables that must be equal are packed into one code per record, numbers with a radius become ranks
and intervals of ranks; the kernel counts the records of the same code whose ranks lie in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from reident.intake import keys
from reident.intake.radius import Ranked, Reach, ranked
from reident.matching.prepare import TARGET
from reident.matching.settings import MatchingSettings


class Encoded(NamedTuple):
    """The files as integers; file 0 is the confidential one, record i is column i of every array.

    Attributes
    ----------
    shape : (int, int)
        (m + 1, n).
    codes : dict of int32 (m + 1, n)
        By variable without a radius; −1 matches nothing.
    sizes : dict of int
        How many codes such a variable has.
    numbers : dict of (int32 (m + 1, n), int32 (n,), int32 (n,))
        By variable with a radius: ranks, and the interval ``low <= rank < high`` of each confidential record.
    targets : int64 (N,)
        Records that are targets.
    """

    shape: tuple[int, int]
    codes: dict[str, np.ndarray]
    sizes: dict[str, int]
    numbers: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
    targets: np.ndarray


class Matches(NamedTuple):
    """The counts c and T of METHODS, for every file (0: the confidential file itself) and target.

    Attributes
    ----------
    c : int64 (m + 1, N)
    t : bool (m + 1, N)
    """

    c: np.ndarray
    t: np.ndarray


def encode(settings: MatchingSettings, confidential: pa.Table, synthetic: pa.Table) -> Encoded:
    """Return codes, ranks and intervals of the prepared files."""
    n = confidential.num_rows
    each_other = settings.missing == "each_other"
    codes, sizes, numbers = {}, {}, {}
    for name in settings.variables:
        columns = [confidential[name], synthetic[name]]
        if name in settings.radius:
            radius = settings.radius[name]
            of_files = [column.to_numpy().astype(np.float64) for column in columns]
            values = np.concatenate(of_files).reshape(-1, n)
            reach = Reach(radius.size, radius.relative is not None, settings.interval)
            ranking: Ranked = ranked(list(values), reach, missing_match=each_other)
            numbers[name] = np.stack(ranking.ranks), ranking.low, ranking.high
            continue
        parts, labels = keys.text_codes(columns)
        code = np.concatenate(parts).astype(np.int32).reshape(-1, n)
        if each_other:
            code[code < 0] = len(labels)
        codes[name], sizes[name] = code, len(labels) + each_other
    targets = np.flatnonzero(confidential[TARGET].to_numpy())
    shape = (1 + synthetic.num_rows // max(n, 1), n)
    return Encoded(shape, codes, sizes, numbers, targets)


class Regions(NamedTuple):
    """The regions of the matches of the targets: in a group, inside a box.

    Attributes
    ----------
    groups : int64 (m + 1, n)
        Equal where all variables without a radius are; −1 matches nothing.
    ranks : int32 (m + 1, n, q)
        Of the variables with a radius.
    target_groups : int64 (N,)
        The group of each target.
    low, high : int32 (N, q)
        The box of each target.
    """

    groups: np.ndarray
    ranks: np.ndarray
    target_groups: np.ndarray
    low: np.ndarray
    high: np.ndarray


def locate(encoded: Encoded, names: Sequence[str]) -> Regions:
    """Return where the matches of the targets on these variables lie, known and synthesized ones."""
    exact = [name for name in names if name in encoded.codes]
    near = [encoded.numbers[name] for name in names if name in encoded.numbers]
    targets = encoded.targets
    groups = pack([encoded.codes[name] for name in exact], [encoded.sizes[name] for name in exact], encoded.shape)
    return Regions(
        groups,
        _stacked([ranks for ranks, _, _ in near], encoded.shape),
        groups[0, targets],
        _stacked([low[targets] for _, low, _ in near], targets.shape),
        _stacked([high[targets] for _, _, high in near], targets.shape),
    )


def match(encoded: Encoded, regions: Regions) -> Matches:
    """Count the matches of the targets."""
    from reident.kernels import matching as kernel  # noqa: PLC0415 - compiled code: loaded where it runs

    groups, ranks, target_groups, low, high = regions
    c, t = [], []
    for file in range(len(groups)):
        c.append(kernel.count(groups[file], ranks[file], target_groups, low, high))
        target_ranks = ranks[file, encoded.targets]
        is_near = ((low <= target_ranks) & (target_ranks < high)).all(axis=1)
        t.append((target_groups >= 0) & (groups[file, encoded.targets] == target_groups) & is_near)
    return Matches(np.stack(c), np.stack(t))


def _stacked(columns: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Return columns side by side on a last axis, which may be empty."""
    return np.stack(columns, axis=-1) if columns else np.empty((*shape, 0), np.int32)


def pack(columns: Sequence[np.ndarray], sizes: Sequence[int], shape: tuple[int, ...]) -> np.ndarray:
    """Return one code per record, int64: equal where all columns are; −1 where one of them is negative.

    The columns, int32 arrays of `shape`, have codes 0 … size − 1, or negative ones; without any, every record has the
    code 0. Codes stay below eight times the number of records: a table by code then fits into the memory of the
    records.
    """
    code, span = np.zeros(shape, np.int64), 1
    nothing = np.zeros(shape, bool)
    for column, size in zip(columns, sizes, strict=True):
        if span > 2**62 // max(size, 1):
            code, span = _closer(code)
        code *= size
        code += column
        nothing |= column < 0
        span *= max(size, 1)
        code[nothing] = 0
    if span > 8 * code.size:
        code, _ = _closer(code)
    code[nothing] = -1
    return code


def _closer(code: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes 0, 1, 2, … in the same order, and how many there are."""
    distinct, dense = np.unique(code, return_inverse=True)
    return dense.reshape(code.shape).astype(np.int64, copy=False), len(distinct)
