"""Confirmation by values in pure Python: dictionaries of people, and fractions (METHODS §14).

A file is a list of dictionaries; a missing value is None. The claims are given: by person, the released records of the
best rank, by position.
"""

from collections import Counter
from fractions import Fraction


def rates(external, released, confidential, best, learn, within, strata):
    """The sums of one metric by (stratum, group of people): n, putative, confirmed, modal, proportional, unlinked.

    The records of `external` and `confidential` are by person; `strata` are names of variables. `within` has numbers by
    variable; those that are not learnt must agree too.
    """

    def stratum(record):
        values = tuple(record[name] for name in strata)
        return None if None in values else values

    def learnt(record):
        values = tuple(record[name] for name in learn)
        return None if None in values else values

    def near(one, other, name):
        if one is None or other is None:
            return False
        return abs(Fraction(str(one)) - Fraction(str(other))) <= Fraction(str(within.get(name, 0)))

    def same(true, other):
        return all(
            near(one, another, name) if isinstance(one, int | float) else one == another
            for name, one, another in zip(learn, true, other, strict=True)
        )

    beside = [name for name in within if name not in learn]
    sums = {}
    for person, record in external.items():
        place = stratum(record)
        truth = confidential.get(person)
        if place is None or truth is None or learnt(truth) is None:
            continue
        true = learnt(truth)
        here = [learnt(one) for one in confidential.values() if stratum(one) == place and learnt(one) is not None]
        there = [learnt(one) for one in released if stratum(one) == place and learnt(one) is not None]
        counted = Counter(here)
        modes = [values for values, n in counted.items() if n == max(counted.values())]
        chances = [
            Fraction(sum(same(true, one) for one in others), len(others)) if others else Fraction(0)
            for others in (modes, here, there)
        ]
        usual = chances[0] > 0
        agrees = all(near(record[name], truth[name], name) for name in beside)
        candidates = [released[at] for at in best.get(person, ())]
        claims = [
            one
            for one in candidates
            if learnt(one) is not None and all(near(one[name], record[name], name) for name in beside)
        ]
        right = [
            one
            for one in claims
            if same(true, learnt(one)) and all(near(one[name], truth[name], name) for name in beside)
        ]
        putative, confirmed = (Fraction(len(part), len(candidates) or 1) for part in (claims, right))
        line = [Fraction(1), putative, confirmed, *(putative * chance * agrees for chance in chances)]
        for key in ((place, "all"), *([] if usual else [(place, "unusual")])):
            sums[key] = [a + b for a, b in zip(sums.get(key, [Fraction(0)] * 6), line, strict=True)]
    return sums


def nearest(record, released, variables, strata):
    """The released records of the stratum that differ from a record in as few variables as any; none if in all."""
    if any(record[name] is None for name in strata):
        return []
    here = [at for at, one in enumerate(released) if all(one[name] == record[name] for name in strata)]
    differing = {
        at: sum(record[name] is None or record[name] != released[at][name] for name in variables) for at in here
    }
    least = min(differing.values(), default=len(variables))
    return [] if least == len(variables) else [at for at, n in differing.items() if n == least]


def census(person, record, age):
    """The agreement of a released record with a confidential one as the public reconstruction code has it.

    Block, sex, race and ethnicity are equal, and ages are equal (`exact`), differ by one year at most (`one`), or are
    in one bin of the published tables (`binned`).
    """
    if any(person[name] != record[name] for name in ("block", "sex", "race", "ethnicity")):
        return False
    if age == "binned":
        return bin_of(person["age"]) == bin_of(record["age"])
    return abs(person["age"] - record["age"]) <= {"exact": 0, "one": 1}[age]


ENDS = (4, 9, 14, 17, 19, 20, 21, 24, 29, 34, 39, 44, 49, 54, 59, 61, 64, 66, 69, 74, 79, 84)


def bin_of(age):
    """The age group of a table of sex by age: 23 groups."""
    return sum(age > end for end in ENDS)
