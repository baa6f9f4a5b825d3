"""Several keys at once by their definitions (METHODS §7.5): records one by one, fractions, plain loops."""

from collections import Counter
from fractions import Fraction
from math import exp, log

import numpy as np
from oracles import population
from oracles.filerisk import agree
from scipy.stats import beta


def individual(size, people):
    """The individual risk of a record; as many people as records at least."""
    return population.individual_risk_exactly(size, people) if people > size else 1 / size


def risk(records, people, weights, fraction, households, wildcard):
    """The risk for one set; records and people have the variables of the set alone."""
    matches = [[i for i, other in enumerate(records) if agree(one, other, wildcard)] for one in records]
    sizes = [len(own) for own in matches]
    inside = [i for i, f in enumerate(sizes) if f]
    share = Fraction(len(inside), len(records))
    unique = [i for i in inside if sizes[i] == 1]
    complete = [i for i in inside if min(records[i]) >= 0]
    risks = {i: individual(sizes[i], sum(weights[j] for j in matches[i]) / float(share)) for i in inside}
    g = fraction * float(share) if share else fraction
    u, p = (sum(sizes[i] == size for i in complete) for size in (1, 2))
    scale = u * g + p * (1 - g)
    found = {
        "n_records": len(records),
        "n_compared": len(inside),
        "smallest": min((sizes[i] for i in inside), default=None),
        "n_unique": len(unique),
        "unique_share": len(unique) / len(inside) if inside else None,
        "below_3": sum(sizes[i] < 3 for i in inside),
        "below_5": sum(sizes[i] < 5 for i in inside),
        "expected_matches": float(sum(Fraction(1, sizes[i]) for i in inside)),
        "global_risk": sum(risks.values()),
        "households": of_households(risks, households),
        "dis": u * g / scale if scale > 0 else None,
    }
    pairs = [frozenset(matches[i]) for i in complete if sizes[i] == 2]
    events = [next((j for j in pair if sizes[j] > 2 or min(records[j]) < 0), pair) for pair in pairs]
    found["dis_low"], found["dis_high"] = dis_interval(u, list(Counter(events).values()), g)
    counts = {i: sum(agree(records[i], one, wildcard) for one in people) for i in inside}
    true = {i: 1 / (n or sizes[i]) for i, n in counts.items()}
    if people:
        found |= {
            "true_uniques": sum(counts[i] <= 1 for i in unique),
            "true_matches": sum(true[i] for i in unique),
            "true_risk": sum(true.values()),
            "true_households": of_households(true, households),
        }
    return found


def dis_interval(u, sizes, g):
    """The interval of DIS of u uniques and pairs in independent events of these sizes; None where it is undefined."""
    k = sum(sizes) ** 2 / sum(size**2 for size in sizes) if sizes else 0
    odds = sum(sizes) / k * (1 - g) / g if sizes else 2 * (1 - g) / g
    if not u and (g == 1 or not sizes):
        return None, None
    low = beta.ppf(0.025, u, k + 1) if u else 0
    high = beta.ppf(0.975, u + 1, k) if k else 1
    return low / (low + odds * (1 - low)), high / (high + odds * (1 - high))


def of_households(risks, households):
    """The expected households with a re-identified record."""
    if households is None:
        return None
    safe = dict.fromkeys(households, 1.0)
    for i, own in risks.items():
        safe[households[i]] *= 1 - own
    return sum(1 - one for one in safe.values())


def ordered_t(records, places):
    """The largest distance of a cell from all cells, by the cumulated shares at each place that occurs; -1: missing."""
    inside = [(record, at) for record, at in zip(records, places, strict=True) if min(record) >= 0 and at >= 0]
    every = sorted({at for _, at in inside})
    if len(every) < 2:
        return 0.0 if inside else None

    def cumulated(own):
        return [Fraction(sum(at <= place for at in own), len(own)) for place in every]

    whole = cumulated([at for _, at in inside])
    cells = {record: cumulated([at for other, at in inside if other == record]) for record, _ in inside}
    moved = [sum(abs(c - s) for c, s in zip(own, whole, strict=True)) for own in cells.values()]
    return float(max(moved) / (len(every) - 1))


def diversity(records, values):
    """The diversity of a sensitive variable for one set; -1 is missing in both."""
    cells = {}
    for record, value in zip(records, values, strict=True):
        if min(record) >= 0 and value >= 0:
            cells.setdefault(record, []).append(value)
    n = sum(map(len, cells.values()))
    if not n:
        return {"n_records": 0, "n_one_value": 0, "n_shared_value": 0}
    every = Counter(value for own in cells.values() for value in own)
    counts = [sorted(Counter(own).values(), reverse=True) for own in cells.values()]
    one = [own for own in cells.values() if len(set(own)) == 1]
    return {
        "n_records": n,
        "distinct_l": min(map(len, counts)),
        "n_one_value": sum(map(len, one)),
        "one_value_share": sum(map(len, one)) / n,
        "n_shared_value": sum(len(own) for own in one if len(own) > 1),
        "entropy_l": exp(min(-sum(r / sum(own) * log(r / sum(own)) for r in own) for own in counts)),
        "recursive_2": ratio(counts, 2),
        "recursive_3": ratio(counts, 3),
        "t": max(
            float(sum(abs(Fraction(own.count(v), len(own)) - Fraction(every[v], n)) for v in every) / 2)
            for own in cells.values()
        ),
    }


def ratio(counts, least):
    """The number that c must exceed for recursive (c, least)-diversity; None where no c is large enough."""
    if any(len(own) < least for own in counts):
        return None
    return float(max(Fraction(own[0], sum(own[least - 1 :])) for own in counts))


def contributions(shares, uniques, names):
    """What each variable adds: ``shares`` and ``uniques`` (sets of records) by set, as tuples of names."""
    of = {frozenset(keys): share for keys, share in shares.items()}
    lines = {}
    for name in names:
        own = [keys for keys in shares if name in keys]
        added = [
            of[frozenset(keys)] - of[frozenset(keys) - {name}]
            for keys in own
            if of[frozenset(keys)] is not None and of[frozenset(keys) - {name}] is not None
        ]
        known = [shares[keys] for keys in own if shares[keys] is not None]
        lines[name] = {
            "n_sets": len(own),
            "n_with_unique": sum(bool(uniques[keys]) for keys in own),
            "n_unique": len(set().union(*(uniques[keys] for keys in own))),
            "unique_share": np.mean(known) if known else None,
            "added_share": np.mean(added) if added else None,
        }
    return lines
