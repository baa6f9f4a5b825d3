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
    """Rows without a link with a cell of the other file, with a twin, single in both, and of cells without a link."""
    unlinked = [row for row in range(len(own)) if row not in linked]
    cells = {own[row] for row in linked}
    return (
        sum(own[row] in others for row in unlinked),
        sum(own.count(own[row]) > 1 for row in unlinked),
        sum(own.count(own[row]) == 1 and others.count(own[row]) == 1 for row in unlinked),
        sum(cell in others and cell not in cells for cell in own),
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


def exchanged(pairs):
    """The share of pairs of dates that differ, and of which each is the other one with day and month exchanged."""
    return sum(x != y and (x.year, x.month, x.day) == (y.year, y.day, y.month) for x, y in pairs) / len(pairs)


def coarse(pairs):
    """The largest share of different dates of one year, or month, with those of a file at its start or middle."""
    shares = []
    for at in (0, 1):
        own = [(pair[at], pair[0], pair[1]) for pair in pairs if pair[0] != pair[1]]
        of_year = [one.day == 1 and one.month in (1, 7) for one, x, y in own if x.year == y.year]
        of_month = [one.day in (1, 15) for one, x, y in own if (x.year, x.month) == (y.year, y.month)]
        shares += [sum(of_year), sum(of_month)]
    return max(shares) / len(pairs)
