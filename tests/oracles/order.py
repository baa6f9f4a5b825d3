"""What the order of the files tells, by definition: positions one by one, cells by trying, least squares on dummies.

Records are dictionaries with their values, `stratum` (None for none) and `row`, in the order of their keys.
"""

import re
from itertools import groupby
from math import gcd

import numpy as np


def rank(values):
    """The mean rank of each value, from 1; None of a missing one."""
    present = [value for value in values if value is not None]
    return [
        None if value is None else sum(one < value for one in present) + (sum(one == value for one in present) + 1) / 2
        for value in values
    ]


def positions(values, strata, *, within):
    """(rank − ½) / n of each record, within its stratum or in the whole file; None without a value or a stratum."""
    found = []
    for value, stratum in zip(values, strata, strict=True):
        others = [
            one
            for one, other in zip(values, strata, strict=True)
            if one is not None and other is not None and (other == stratum or not within)
        ]
        if value is None or stratum is None:
            found.append(None)
            continue
        below, equal = sum(one < value for one in others), sum(one == value for one in others)
        found.append((below + (equal + 1) / 2 - 0.5) / len(others))
    return found


def serial(keys):
    """The numbers of keys that differ in one number alone, in units of their common step; None for others."""
    parts = [re.fullmatch(r"([^0-9]*)([0-9]{1,15})([^0-9]*)", key) for key in keys]
    if not all(parts) or len({(part[1], part[3]) for part in parts}) > 1:
        return None
    numbers = [int(part[2]) for part in parts]
    step = 0
    for number in numbers:
        step = gcd(step, number - numbers[0])
    return [number / max(step, 1) for number in numbers]


def is_sorted(groups, values):
    """Whether the values of consecutive groups are sorted, or equal ones together, and not by chance."""
    parts = [[value for _, value in part] for _, part in groupby(zip(groups, values, strict=True), lambda one: one[0])]
    chance = sum(len(part) - sum(part.count(value) ** 2 for value in set(part)) / len(part) for part in parts)
    if chance < 20:
        return False
    for last in (-float("inf"), float("inf")):
        turned = [[last if value == -float("inf") else value for value in part] for part in parts]
        if all(part == sorted(part) for part in turned) or all(part == sorted(part)[::-1] for part in turned):
            return True
    together = all(len([value for value, _ in groupby(part)]) == len(set(part)) for part in parts)
    return together and 2 * sum(len(set(part)) - 1 for part in parts) <= chance


def cells(strata, columns, ranks):
    """The cell of each record: a tuple of its stratum and of the values by which the file is sorted; None for none."""
    order = sorted(
        (at for at, stratum in enumerate(strata) if stratum is not None), key=lambda at: (strata[at], ranks[at])
    )
    names, left = [(strata[at],) for at in order], list(columns)
    while True:
        found = next((column for column in left if is_sorted(names, [column[at] for at in order])), None)
        if found is None:
            break
        left = [column for column in left if column is not found]
        names = [(*name, found[at]) for name, at in zip(names, order, strict=True)]
    by_record = dict(zip(order, names, strict=True))
    return [by_record.get(at) for at in range(len(strata))]


def correlation(cell, own, other, design):
    """The partial rank correlation of links, and its standard error, from dummies of all cells and columns."""
    kept = [at for at in range(len(cell)) if cell[at] is not None and own[at] is not None and other[at] is not None]
    kept = [at for at in kept if sum(cell[one] == cell[at] for one in kept) > 1]
    if len(kept) < 10:
        return 0.0, 0, float("inf")
    names = sorted({cell[at] for at in kept}, key=str)
    ranks = []
    for values in (own, other):
        shares = {}
        for name in names:
            members = [at for at in kept if cell[at] == name]
            for at, place in zip(members, rank([values[at] for at in members]), strict=True):
                shares[at] = (place - 0.5) / len(members)
        ranks.append([shares[at] for at in kept])
    dummies = np.array([[cell[at] == name for name in names] for at in kept], float)
    full = np.column_stack([dummies, np.array([design[at] for at in kept]).reshape(len(kept), -1)])
    values = np.array(ranks).T
    left = values - full @ np.linalg.pinv(full, rcond=1e-10) @ values
    freedom = len(kept) - len(names) - 1
    for column in full[:, len(names) :].T:
        within = column - dummies @ np.linalg.pinv(dummies) @ column
        freedom -= np.abs(within).max() > 1e-9
    squares = (left**2).sum(axis=0)
    if freedom < 10 or squares.prod() <= 1e-12 * len(kept) ** 2:
        return 0.0, 0, float("inf")
    return float((left[:, 0] * left[:, 1]).sum() / np.sqrt(squares.prod())), len(kept), 1 / np.sqrt(freedom)


def nearer(puf, eif, strata, links):
    """The median over links of the share of other EIF records of the stratum that are nearer than the partner.

    `strata` are those of the EIF records.
    """
    shares = []
    for p, e in links:
        if puf[p] is None or eif[e] is None:
            continue
        own = abs(puf[p] - eif[e])
        others = [
            abs(puf[p] - eif[at])
            for at in range(len(eif))
            if at != e and strata[at] == strata[e] and eif[at] is not None
        ]
        if others:
            less = sum(one < own - 1e-11 for one in others)
            equal = sum(abs(one - own) <= 1e-11 for one in others)
            shares.append((less + equal / 2) / len(others))
    return float(np.median(shares)) if shares else 1.0
