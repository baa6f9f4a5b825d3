"""Unicity and minimal sample uniques by definition (METHODS §4.1, §7): every set, every record, in plain Python."""

from itertools import combinations


def sample_uniques(records, variables):
    """Cells of one record: {cell: position}, among the records without a missing value in ``variables``."""
    cells = {}
    for position, record in enumerate(records):
        cell = tuple(int(record[j]) for j in variables)
        if min(cell) >= 0:
            cells.setdefault(cell, []).append(position)
    return {cell: members[0] for cell, members in cells.items() if len(members) == 1}


def jointly_observed(puf_record, eif_record):
    return tuple(j for j in range(len(puf_record)) if puf_record[j] >= 0 and eif_record[j] >= 0)


def shared_uniques(puf, eif, sets="all", max_order=None):
    """Rows (puf, eif, order, mask), each pair once with its first smallest set; sorted by puf, order, eif."""
    v = puf.shape[1]
    most = min(max_order or v, v) if sets == "all" else v
    orders = [v] if sets == "full" else range(1, most + 1)
    first = {}
    for order in orders:
        for variables in combinations(range(v), order):
            of_puf, of_eif = sample_uniques(puf, variables), sample_uniques(eif, variables)
            for cell, p in of_puf.items():
                e = of_eif.get(cell)
                if e is None or (sets == "jointly_observed" and jointly_observed(puf[p], eif[e]) != variables):
                    continue
                first.setdefault((p, e), (order, sum(1 << j for j in variables)))
    return sorted(((p, e, *best) for (p, e), best in first.items()), key=lambda row: (row[0], row[2], row[1]))


def minimal_uniques(records, max_order=None):
    """For each record the tuples of variables that are MSUs, smaller ones first, then in the order of positions."""
    n, v = records.shape
    minimal = [[] for _ in range(n)]
    for order in range(1, min(max_order or v, v) + 1):
        for variables in combinations(range(v), order):
            for record in sample_uniques(records, variables).values():
                if not any(set(smaller) < set(variables) for smaller in minimal[record]):
                    minimal[record].append(variables)
    return minimal
