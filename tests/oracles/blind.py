"""The weights of an intruder who knows no link: EM over all pairs, one by one (METHODS §4.6)."""

import numpy as np

LEVELS = ("agree", "partial", "differ", "missing")


def estimate(strata, near):
    """Return (weights, prior, largest prior, rounds): weights by variable and level, in bits.

    `strata` has a pair of arrays of codes, the PUF's and the EIF's, for each stratum; codes below 0 are missing. `near`
    says which variables have the level *partial*.
    """
    level = np.concatenate([levels(puf, eif, near) for puf, eif in strata])
    pairs, v = level.shape
    largest = sum(min(len(puf), len(eif)) for puf, eif in strata) / pairs
    used = [[0, 1, 2] if partly else [0, 2] for partly in near]
    m = np.zeros((v, 3))
    for j, own in enumerate(used):
        m[j, own] = 0.1 / (len(own) - 1)
        m[j, 0] = 0.9
    u = shares(level, np.ones(pairs), np.full((v, 3), 1 / 3))
    prior, rounds = largest / 2, 0
    while rounds < 10_000:
        rounds += 1
        g = probability(level, m, u, prior)
        before = m, u, prior
        m, u, prior = shares(level, g, m), shares(level, 1 - g, u), min(g.mean(), largest)
        change = max(abs(m - before[0]).max(), abs(u - before[1]).max())
        if change <= 1e-10 and abs(prior - before[2]) <= 1e-10 * prior:
            break
    g = probability(level, m, u, prior)  # the links that are expected after the last round
    weights = [{} for _ in near]
    for j, own in enumerate(used):
        links = np.array([g[level[:, j] == at].sum() for at in own]) + 0.5
        others = np.array([(1 - g)[level[:, j] == at].sum() for at in own]) + 0.5
        for at, weight in zip(
            own, np.log2(links / links.sum()) - np.log2(others / others.sum()), strict=True
        ):
            weights[j][LEVELS[at]] = weight
    return weights, prior, largest, rounds


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
