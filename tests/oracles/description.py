"""What the checks of a description count, record by record (METHODS §1.1)."""

from collections import Counter


def single_equal(puf, eif):
    """The pairs of rows whose stratum and number no other record of either file has; None is missing."""
    ours, theirs = Counter(puf), Counter(eif)
    return {
        (i, j)
        for i, one in enumerate(puf)
        for j, other in enumerate(eif)
        if one == other and None not in one and ours[one] == theirs[one] == 1
    }


def agreement(puf, eif, reach):
    """The share of pairs of numbers that are within reach, and that of all pairs of a number of each file."""
    linked = [abs(x - y) <= reach for x, y in zip(puf, eif, strict=True)]
    every = [abs(x - y) <= reach for x in puf for y in eif]
    return sum(linked) / len(linked), sum(every) / len(every)


def most_frequent_difference(puf, eif):
    """The number by which most different pairs of unequal numbers differ, how many these are, and the second most."""
    counts = Counter(y - x for x, y in set(zip(puf, eif, strict=True)) if x != y)
    ordered = [*sorted(counts.values(), reverse=True), 0, 0]
    return {difference for difference, n in counts.items() if n == ordered[0]}, ordered[0], ordered[1]


def resembling(own, others, linked):
    """The rows without a link whose cell a record of the other file has, and those with a twin in their own file."""
    unlinked = [row for row in range(len(own)) if row not in linked]
    return (
        sum(own[row] in others for row in unlinked),
        sum(own.count(own[row]) > 1 for row in unlinked),
        sum(own.count(own[row]) == 1 and others.count(own[row]) == 1 for row in unlinked),
    )


def codes_of(table, numbers):
    """The numbers, of some, that each code of a table of ranges stands for."""
    return {
        code: {
            number
            for number in numbers
            for (first, last), of in table.items()
            if of == code and first <= number <= last
        }
        for code in table.values()
    }
