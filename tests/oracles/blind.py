"""The weights of an intruder who knows no link: EM over all pairs, one by one (METHODS §4.6)."""

import numpy as np

LEVELS = ("agree", "partial", "differ", "missing")


def estimate(strata, near):
    """Return (weights, prior, largest prior, rounds): weights by variable and level, in bits.

    `strata` has a pair of arrays of codes, the PUF's and the EIF's, for each stratum; codes below 0 are missing. `near`
    says which variables have the level *partial*.
    """
    level = np.concatenate([levels(puf, eif, near) for puf, eif in strata])
    largest = sum(min(len(puf), len(eif)) for puf, eif in strata) / len(level)
    g, prior, rounds = em(level, near, largest)
    weights = [{} for _ in near]
    for j, own in enumerate(levels_used(near)):
        links = expected(level[:, j], g, own) + 0.5
        others = expected(level[:, j], 1 - g, own) + 0.5
        for at, weight in zip(own, np.log2(links / links.sum()) - np.log2(others / others.sum()), strict=True):
            weights[j][LEVELS[at]] = weight
    return weights, prior, largest, rounds


def em(level, near, largest, most_rounds=10_000, close=1e-10):
    """Return the probability of each pair of being a link after the last round, the prior, and the rounds."""
    m = np.zeros((len(near), 3))
    for j, own in enumerate(levels_used(near)):
        m[j, own] = 0.1 / (len(own) - 1)
        m[j, 0] = 0.9
    u = shares(level, np.ones(len(level)), np.full(m.shape, 1 / 3))
    prior, rounds = largest / 2, 0
    while rounds < most_rounds:
        rounds += 1
        g = probability(level, m, u, prior)
        before = m, u, prior
        m, u, prior = shares(level, g, m), shares(level, 1 - g, u), min(g.mean(), largest)
        change = max(abs(m - before[0]).max(), abs(u - before[1]).max())
        if change <= close and abs(prior - before[2]) <= close * prior:
            break
    return probability(level, m, u, prior), prior, rounds


def levels_used(near):
    """The places in `LEVELS` of the levels that each variable has where it is present."""
    return [[0, 1, 2] if partly else [0, 2] for partly in near]


def expected(level, amount, own):
    """The amounts of one variable's pairs with each of some levels."""
    return np.array([amount[level == at].sum() for at in own])


def levels(puf, eif, near):
    """The level of each variable of each pair, as a place in `LEVELS`."""
    a, b = (one.reshape(-1, len(near)) for one in np.broadcast_arrays(puf[:, None], eif[None]))
    found = np.where(a == b, 0, 2)
    found[(abs(a - b) == 1) & np.array(near)] = 1
    found[(a < 0) | (b < 0)] = 3
    return found


def shares(level, amount, otherwise):
    """The share of each level that is present, of an amount by pair; as before where no pair has the variable."""
    rows = []
    for j, before in enumerate(otherwise):
        sums = np.array([amount[level[:, j] == at].sum() for at in range(3)])
        rows.append(sums / sums.sum() if sums.sum() > 0 else before)
    return np.array(rows)


def probability(level, m, u, prior):
    """The probability of each pair of being a link."""
    link, other = np.full(len(level), prior), np.full(len(level), 1 - prior)
    for j in range(level.shape[1]):
        present = level[:, j] < 3
        link[present] *= m[j][level[present, j]]
        other[present] *= u[j][level[present, j]]
    return link / (link + other)
