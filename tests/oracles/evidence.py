"""The oracle's weights of evidence for an intruder who knows the true links (METHODS §4.6), pair by pair."""

import math
from dataclasses import dataclass
from itertools import product

from oracles.preparing import by_stratum, coarser, code_of, is_numeric

UNIT = 10**12


@dataclass(frozen=True)
class Evidence:
    weights: list  # by variable {level: weight in units of 10^-12 bits}
    least: int  # the least weight of a suspected pair, in the same units


def levels(variables, partial, p, e):
    """The level of each variable of a pair of binned records."""
    return [level(x, x["name"] in partial, a, b) for x, a, b in zip(variables, p.values, e.values, strict=True)]


def level(variable, partly, a, b):
    if a is None or b is None:
        return "missing"
    if a == b:
        return "agree"
    if not partly:
        return "differ"
    if not is_numeric(variable):
        order = list(dict.fromkeys(coarser(variable, code_of(variable, code)) for code in variable["order"]))
        if a not in order or b not in order:
            return "differ"
        a, b = order.index(a), order.index(b)
    return "partial" if abs(a - b) == 1 else "differ"


def estimate(options, variables, puf, eif, links):
    """Count the levels of all pairs inside the strata, and of the links among them."""
    partial = options.get("partial", [])
    counts = [[{}, {}] for _ in variables]
    n = [0, 0]
    for p, e in (pair for side in by_stratum(puf, eif).values() for pair in product(*side)):
        linked = (p.key, e.key) in links
        n[linked] += 1
        for own, found in zip(counts, levels(variables, partial, p, e), strict=True):
            own[linked][found] = own[linked].get(found, 0) + 1
    prior = twelve((n[1] + 0.5) / (n[0] + n[1] + 1))
    weights = []
    for variable, (others, true) in zip(variables, counts, strict=True):
        known = ["agree", "differ", *(["partial"] if variable["name"] in partial else [])]
        m, u = ({x: twelve(smoothed(of, x, known)) for x in known} for of in (true, others))
        weights.append({x: units(math.log2(m[x]) - math.log2(u[x])) for x in known} | {"missing": 0})
    return Evidence(weights, least_of(options, prior))


def least_of(options, prior):
    """The least weight of a suspected pair."""
    threshold = options.get("threshold", {"probability": "0.5"})
    if "weight" in threshold:
        return units(float(threshold["weight"]))
    return units(log_odds(float(threshold["probability"])) - log_odds(prior))


def smoothed(counts, found, known):
    """The share of a level, with half a pair more at each."""
    return (counts.get(found, 0) + 0.5) / (sum(counts.get(x, 0) for x in known) + len(known) / 2)


def log_odds(probability):
    return math.log2(probability) - math.log2(1 - probability)


def twelve(value):
    """Twelve significant digits."""
    return float(f"{value:.12g}")


def units(weight):
    return round(weight * UNIT)


def score(evidence, options, variables, puf, eif):
    """{(PUF position, EIF position): weight} of all pairs of a stratum, in whole units."""
    partial = options.get("partial", [])
    found = {}
    for (i, p), (k, e) in product(enumerate(puf), enumerate(eif)):
        states = levels(variables, partial, p, e)
        found[i, k] = sum(own[state] for own, state in zip(evidence.weights, states, strict=True))
    return found


def tolerance(evidence, complete):
    """The most variables that differ in a pattern that is suspected, the others at their best level; -1 if none is.

    `complete` says of each variable whether no value of it is missing: then no pair has that level.
    """
    best = [
        max(weight for state, weight in own.items() if state != "missing" or not always)
        for own, always in zip(evidence.weights, complete, strict=True)
    ]
    return max(
        (
            sum(differs)
            for differs in product((False, True), repeat=len(best))
            if sum(own["differ"] if d else top for own, top, d in zip(evidence.weights, best, differs, strict=True))
            >= evidence.least
        ),
        default=-1,
    )
