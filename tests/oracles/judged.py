"""Records that miss a value, judged by sets and plain loops (METHODS §7.8)."""

from fractions import Fraction
from itertools import permutations

from oracles import population


def known(record):
    """The values that a record has, with their variables."""
    return {(at, value) for at, value in enumerate(record) if value >= 0}


def possible(record, other):
    """Whether two records are equal on the variables that both have."""
    ours, theirs = dict(known(record)), dict(known(other))
    return all(ours[at] == theirs[at] for at in ours.keys() & theirs.keys())


def sure(record, other):
    """Whether all that is known of the other one is known of the record too."""
    return known(other) <= known(record)


def units_match(unit, other, match):
    """Whether some order of the members of another unit makes each of them match."""
    return len(unit) == len(other) and any(
        all(match(one, two) for one, two in zip(unit, order, strict=True)) for order in permutations(other)
    )


def sizes(things, match):
    """How many of them match each one."""
    return [sum(match(one, other) for other in things) for one in things]


def risks(records, people, weights, name):
    """The risk of every record by basis, with the people who match it; `name` is the column."""
    match = {"wildcard": possible, "sure": sure}[name]
    f = sizes(records, match)
    found = {"sample": [Fraction(1, n) for n in f]}
    if not people:
        sums = [sum(w for other, w in zip(records, weights, strict=True) if match(one, other)) for one in records]
        found["individual"] = [
            population.individual_risk_exactly(n, total) if total > n else 1 / n
            for n, total in zip(f, sums, strict=True)
        ]
        return found, f, None
    matching = {"wildcard": possible, "sure": lambda record, person: known(record) <= known(person)}[name]
    counts = [sum(matching(record, person) for person in people) for record in records]
    # Without anyone who surely matches, the file is the evidence; but never of more people than may match.
    most = [sum(possible(record, person) for person in people) for record in records]
    counts = [min(n or own, limit or own) for n, own, limit in zip(counts, f, most, strict=True)]
    found["population"] = [Fraction(1, n) for n in counts]
    return found, f, counts


def presence(records, counts):
    """The largest share of the people who match a record that are in the file, at most."""
    most = sizes(records, possible)
    return float(max(min(Fraction(1), Fraction(n, people)) for n, people in zip(most, counts, strict=True)))


def beyond(records, people):
    """The records that fewer people match than records have all of their values."""
    return sum(
        sum(possible(record, person) for person in people) < sum(known(record) <= known(other) for other in records)
        for record in records
    )


def diversity(records, values, match, *, ordered=False):
    """The fewest values among the matches of a record with a value, and the largest distance t."""
    inside = [(record, value) for record, value in zip(records, values, strict=True) if value >= 0]
    every = sorted({value for _, value in inside})

    def shares(own):
        parts = [Fraction(own.count(value), len(own)) for value in every]
        return [sum(parts[: at + 1]) for at in range(len(parts))] if ordered else parts

    whole, least, largest = shares([value for _, value in inside]), len(every), Fraction(0)
    for record, _ in inside:
        own = [value for other, value in inside if match(record, other)]
        least = min(least, len(set(own)))
        away = sum(abs(p - q) for p, q in zip(shares(own), whole, strict=True))
        largest = max(largest, away / max(len(every) - 1, 1) if ordered else away / 2)
    return least, float(largest)
