"""The risk of every record, k-map and δ-presence by their definitions (METHODS §7.6): fractions, plain loops."""

from fractions import Fraction

from oracles import population
from oracles.filerisk import agree


def risks(records, people, weights, wildcard):
    """The risk of every record that is compared, by basis; with people, F by record too."""
    matches = [[i for i, other in enumerate(records) if agree(one, other, wildcard)] for one in records]
    inside = [i for i, own in enumerate(matches) if own]
    found = {"sample": [Fraction(1, len(matches[i])) for i in inside]}
    if people:
        counts = [sum(agree(records[i], one, wildcard) for one in people) for i in inside]
        # Where nobody matches, the record itself is evidence of as many people as it has matches in the file.
        found["population"] = [Fraction(1, n or len(matches[i])) for i, n in zip(inside, counts, strict=True)]
        return found, [len(matches[i]) for i in inside], counts
    share = len(inside) / len(records)
    sums = [sum(weights[j] for j in matches[i]) / share for i in inside]
    found["individual"] = [
        population.individual_risk_exactly(len(matches[i]), total) if total > len(matches[i]) else 1 / len(matches[i])
        for i, total in zip(inside, sums, strict=True)
    ]
    return found, [len(matches[i]) for i in inside], None


def summary(values):
    """The largest and the mean risk, and the expected re-identifications."""
    n = len(values)
    return {
        "n_records": n,
        "largest": float(max(values)) if n else None,
        "mean": float(sum(values) / n) if n else None,
        "expected": float(sum(values)),
    }


def presence(sizes, counts):
    """k-map, population uniques and δ-presence."""
    people = [n or f for f, n in zip(sizes, counts, strict=True)]
    shares = [min(Fraction(1), Fraction(f, n)) for f, n in zip(sizes, people, strict=True)]
    return {
        "smallest": min(people, default=None),
        "n_unique": sum(f == n == 1 for f, n in zip(sizes, people, strict=True)),
        "largest_presence": float(max(shares)) if shares else None,
        "mean_presence": float(sum(shares) / len(shares)) if shares else None,
    }


def above(values, risk):
    """How many risks are above a threshold, which is a decimal as it is written."""
    return sum(value > (Fraction(risk) if isinstance(value, Fraction) else float(risk)) for value in values)
