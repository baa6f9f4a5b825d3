"""Pairs of units with the same profile, each alone with it in its own file (METHODS §4.7).

The profile of a unit on a set of variables is its stratum, its size, its own values and, with a variable of members,
the multiset of their values. Each value has a random number; that of a member is the sum of the numbers of its values,
scrambled, and that of a unit the sum over its members, so that their order does not count. Equal numbers of different
profiles would be noticed: the members of every class are compared, and the search begins again with other numbers.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from reident.kernels.compiling import inner_jit, jit
from reident.kernels.toplist import run_all
from reident.kernels.units import Units

_ONE = np.uint64(1)
_FREE = np.uint64(0)

SETS = 64
"""Sets whose pairs are in memory at a time."""

SEEDS = range(20)
"""The seeds of the numbers of values, each for one attempt."""


class CollisionError(Exception):
    """Two profiles have the same number."""


class Shared(NamedTuple):
    """Pairs of units, each once with its first smallest set, by PUF unit, order and EIF unit.

    `variables` has bit j for the variable at position j.
    """

    puf: np.ndarray  # int64 (m,)
    eif: np.ndarray  # int64 (m,)
    order: np.ndarray  # int64 (m,)
    variables: np.ndarray  # uint64 (m,)


class Profiled(NamedTuple):
    """The numbers of the values of one file."""

    units: Units
    unit_numbers: np.ndarray  # uint64 (n, v_u)
    numbers: np.ndarray  # uint64 (rows, v_m)
    base: np.ndarray  # uint64 (n,): those of stratum and size
    missing: np.ndarray  # bool (n, v_u + v_m): whether the unit lacks a value of a variable, of its own or of a member


def shared_units(
    puf: Units,
    eif: Units,
    own: Sequence[int],
    orders: Iterable[int],
    *,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Shared:
    """Find the pairs of units that alone have a profile, each in its own file, on a set of variables.

    Parameters
    ----------
    puf, eif : Units
        With categories alone.
    own : sequence of int
        The positions of the units' own variables among all; the members' variables have the others, in their order.
    orders : iterable of int
        The sizes of the sets, ascending.

    Notes
    -----
    Source: METHODS §4.7.
    """
    for seed in SEEDS:
        try:
            return _search(number_values(puf, seed), number_values(eif, seed), own, orders, threads, progress)
        except CollisionError:
            continue
    raise RuntimeError("the numbers of profiles collide whatever the seed")


def _search(
    puf: Profiled,
    eif: Profiled,
    own: Sequence[int],
    orders: Iterable[int],
    threads: int,
    progress: Callable[[float], None] | None,
) -> Shared:
    v, n_eif = puf.missing.shape[1], max(len(eif.base), 1)
    of_units = {position: at for at, position in enumerate(own)}
    of_members = {position: at for at, position in enumerate(j for j in range(v) if j not in of_units)}
    sets = (chosen for order in orders for chosen in combinations(range(v), order))
    total, done = sum(math.comb(v, order) for order in orders), 0
    found = np.zeros(0, np.int64)
    nothing = np.zeros(0, np.int64)
    pairs = [Shared(nothing, nothing, nothing, np.zeros(0, np.uint64))]
    while chunk := list(islice(sets, SETS)):
        by_set: dict[int, np.ndarray] = {}

        def work(at: int, chosen: tuple[int, ...], by_set: dict[int, np.ndarray] = by_set) -> None:
            split = ([places[j] for j in chosen if j in places] for places in (of_units, of_members))
            by_set[at] = shared_profiles(puf, eif, *split)

        run_all([(partial(work, at, chosen), 1.0) for at, chosen in enumerate(chunk)], threads, None)
        number = np.concatenate([by_set[at][:, 0] * n_eif + by_set[at][:, 1] for at in range(len(chunk))])
        of_set = np.repeat(np.arange(len(chunk)), [len(by_set[at]) for at in range(len(chunk))])
        distinct, first = np.unique(number, return_index=True)
        fresh = ~np.isin(distinct, found, assume_unique=True)
        distinct, of_set = distinct[fresh], of_set[first[fresh]]
        bits = np.array([sum(1 << j for j in chosen) for chosen in chunk], np.uint64)
        sizes = np.array([len(chosen) for chosen in chunk])
        pairs.append(Shared(distinct // n_eif, distinct % n_eif, sizes[of_set], bits[of_set]))
        found = np.union1d(found, distinct)
        done += len(chunk)
        if progress is not None:
            progress(done / total)
    columns = [np.concatenate(parts) for parts in zip(*pairs, strict=True)]
    rank = np.lexsort((columns[1], columns[2], columns[0]))
    return Shared(*(column[rank] for column in columns))


def number_values(units: Units, seed: int) -> Profiled:
    """Give every value of a file its number; that of a value is the same in both files."""
    n, v_u, v_m = len(units.stratum), units.unit_codes.shape[1], units.codes.shape[1]
    salts = np.random.default_rng(seed).integers(1, 2**63, v_u + v_m + 2, dtype=np.uint64) | _ONE
    own, members = (
        _scrambled((columns.astype(np.int64) + 1).astype(np.uint64) * salt)
        for columns, salt in ((units.unit_codes, salts[:v_u]), (units.codes, salts[v_u : v_u + v_m]))
    )
    size = np.diff(units.start)
    base = _scrambled(units.stratum.astype(np.uint64) * salts[-2] + size.astype(np.uint64) * salts[-1])
    lacking = np.zeros((n, v_u + v_m), np.bool_)
    lacking[:, :v_u] = units.unit_codes < 0
    if len(units.codes):
        lacking[:, v_u:] = np.logical_or.reduceat(units.codes < 0, units.start[:-1], axis=0)
    return Profiled(units, own, members, base, lacking)


def _scrambled(numbers: np.ndarray) -> np.ndarray:
    numbers = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ numbers >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return numbers ^ numbers >> np.uint64(31)


def shared_profiles(puf: Profiled, eif: Profiled, own: Sequence[int], members: Sequence[int]) -> np.ndarray:
    """Return the pairs of units whose profile on some variables no other unit of their files has; int64 (m, 2).

    Raises
    ------
    CollisionError
        See the module.
    """
    sets = np.array(own, np.int64), np.array(members, np.int64)
    v_u, numbers = puf.unit_numbers.shape[1], []
    for side in (puf, eif):
        number = _profile(side.units.start, side.unit_numbers, side.numbers, side.base, *sets)
        number[side.missing[:, [*sets[0], *(sets[1] + v_u)]].any(axis=1)] = _FREE
        numbers.append(number)
    slots = 1 << int(2 * max(len(puf.base), 1)).bit_length()
    pairs, sound = _alone(
        puf.units, eif.units, *numbers, np.zeros(slots, np.uint64), np.empty((slots, 4), np.int32), *sets
    )
    if not sound:
        raise CollisionError
    return pairs


@inner_jit
def _scramble(x):
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


@jit
def _profile(start, unit_numbers, numbers, base, own, members):
    """Return the number of the profile of each unit; no profile has the number 0."""
    out = np.empty(base.size, np.uint64)
    for u in range(base.size):
        total = base[u]
        for j in own:
            total += unit_numbers[u, j]
        if members.size:
            every = np.uint64(0)
            for row in range(start[u], start[u + 1]):
                member = np.uint64(0)
                for j in members:
                    member += numbers[row, j]
                every += _scramble(member)
            total += _scramble(every)
        out[u] = _scramble(total) | np.uint64(1)
    return out


@inner_jit
def _slot(keys, number):
    """Return the slot that has a number, or the one where it goes."""
    mask = np.uint64(keys.size - 1)
    s = (number >> np.uint64(1)) & mask
    while keys[s] != 0 and keys[s] != number:
        s = (s + np.uint64(1)) & mask
    return s


@jit
def _alone(puf, eif, puf_numbers, eif_numbers, keys, slots, own, members):
    """Return the pairs, and whether all units of every number have one profile; ``slots``: unit and count by file."""
    for u in range(puf_numbers.size):
        number = puf_numbers[u]
        if number == 0:
            continue
        s = _slot(keys, number)
        if keys[s] == 0:
            keys[s] = number
            slots[s, 0], slots[s, 1], slots[s, 3] = u, 1, 0
        else:
            slots[s, 1] = 2
            if not _equal(puf, slots[s, 0], puf, u, own, members):
                return np.empty((0, 2), np.int64), False
    for u in range(eif_numbers.size):
        number = eif_numbers[u]
        if number == 0:
            continue
        s = _slot(keys, number)
        if keys[s] == 0:
            continue
        if not _equal(puf, slots[s, 0], eif, u, own, members):
            return np.empty((0, 2), np.int64), False
        slots[s, 2], slots[s, 3] = u, min(slots[s, 3] + 1, 2)
    n = 0
    for s in range(keys.size):
        n += keys[s] != 0 and slots[s, 1] == 1 and slots[s, 3] == 1
    pairs, n = np.empty((n, 2), np.int64), 0
    for s in range(keys.size):
        if keys[s] != 0 and slots[s, 1] == 1 and slots[s, 3] == 1:
            pairs[n, 0], pairs[n, 1] = slots[s, 0], slots[s, 2]
            n += 1
    return pairs, True


@jit
def _equal(first, u, second, w, own, members):
    """Return whether two units have the same profile, value by value; without missing values."""
    a, b = first.start[u + 1] - first.start[u], second.start[w + 1] - second.start[w]
    if first.stratum[u] != second.stratum[w] or a != b:
        return False
    for j in own:
        if first.unit_codes[u, j] != second.unit_codes[w, j]:
            return False
    if not members.size:
        return True
    used = np.zeros(b, np.bool_)
    for row in range(first.start[u], first.start[u + 1]):
        matched = False
        for k in range(b):
            if not used[k]:
                other, same = second.start[w] + k, True
                for j in members:
                    if first.codes[row, j] != second.codes[other, j]:
                        same = False
                        break
                if same:
                    used[k] = matched = True
                    break
        if not matched:
            return False
    return True
