"""Models of the population by their definitions (METHODS §7.1–7.4): sums, dense matrices and plain loops."""

from decimal import Decimal, localcontext
from math import comb, exp, fsum, lgamma, log, prod, sqrt

import numpy as np
from oracles.filerisk import agree


def individual_risk(f, people, cells=200_000):
    """E(1/F) of the negative binomial distribution, term by term."""
    p = min(1.0, f / people)
    if p == 1:
        return 1 / f
    total, probability = 0.0, p**f
    for trials in range(f, f + cells):
        total += probability / trials
        probability *= trials * (1 - p) / (trials - f + 1)
    return total


def individual_risk_exactly(f, people):
    """The same by the recurrence, which loses a factor of p / q in each of f steps: at most 364 digits in tests."""
    with localcontext() as context:
        context.prec = 400
        p = Decimal(f) / Decimal(people)
        q = 1 - p
        value = -p.ln() / q
        for m in range(1, f):
            value = (1 / Decimal(m) - p * value) / q
        return float(p * value)


def matches(records, weights, wildcard):
    """The matches of each record and the sum of their weights."""
    pairs = list(zip(records, weights, strict=True))
    found = [[w for other, w in pairs if agree(one, other, wildcard)] for one in records]
    return [len(own) for own in found], [sum(own) for own in found]


def design(levels, margins):
    """The matrix of a log-linear model: an indicator for each combination of categories of each margin."""
    cells = np.stack(np.unravel_index(np.arange(prod(levels)), levels), axis=1)
    columns = []
    for axes in margins:
        own = cells[:, list(axes)]
        columns += [(own == value).all(axis=1) for value in np.unique(own, axis=0)]
    return np.array(columns, float).T


def fit(counts, margins, rounds=300):
    """Poisson regression by iteratively reweighted least squares."""
    x, y = design(counts.shape, margins), counts.ravel()
    mu = np.maximum(y, 0.1)
    for _ in range(rounds):
        root = np.sqrt(mu)
        beta = np.linalg.lstsq(root[:, None] * x, root * (np.log(mu) + (y - mu) / mu), rcond=None)[0]
        mu = np.exp(np.clip(x @ beta, -60, 60))
    return mu.reshape(counts.shape)


def bias_and_test(counts, fitted, margins, pi, which):
    """B̂ and its test, cell by cell; derivatives by differences of the definition."""

    def h(lam):
        nu = lam * (1 - pi)
        return exp(-nu) if which == 1 else (1 - exp(-nu)) / nu

    x, bias, first, second = design(counts.shape, margins), 0.0, [], []
    for f, mu in zip(counts.ravel(), fitted.ravel(), strict=True):
        lam, step = mu / pi, 1e-3 * max(mu / pi, 1e-2)
        slope = (h(lam + step) - h(lam - step)) / (2 * step) if lam > step else 0.0
        bend = (h(lam + step) - 2 * h(lam) + h(lam - step)) / step**2 if lam > step else 0.0
        a, b = -lam * exp(-mu) * slope, lam * exp(-mu) * bend / (2 * pi)
        bias += a * (f - mu) + b * ((f - mu) ** 2 - f)
        first.append(a)
        second.append(b)
    a, b, mu = np.array(first), np.array(second), fitted.ravel()
    root = np.sqrt(mu)
    left = root * a - root[:, None] * x @ np.linalg.lstsq(root[:, None] * x, root * a, rcond=None)[0]
    return bias, bias / float(np.sqrt((left**2).sum() + 2 * (b**2 * mu**2).sum()))


def poisson_mean(function, nu, terms=400):
    """The mean of a function of F, where F − 1 is Poisson."""
    return sum(exp(-nu + k * log(nu) - lgamma(k + 1)) * function(1 + k) for k in range(terms))


def pitman_likelihood(theta, alpha, sizes):
    """The logarithm of the probability of the sizes, by seating one record after another."""
    total, seated = 0.0, 0
    for cells, size in enumerate(sizes):
        for already in range(size):
            if seated:
                total += log((theta + cells * alpha if not already else already - alpha) / (theta + seated))
            seated += 1
    return total


def pitman_uniques(theta, alpha, people):
    """The expected uniques among all people."""
    return people * prod((theta + alpha + i - 1) / (theta + i) for i in range(1, people))


def ewens(sizes):
    """θ with the largest likelihood of Ewens, θ^u·Π (size − 1)! / Π_{j<n} (θ + j): where its derivative is 0."""
    low, high = 1e-9, 1e15
    for _ in range(80):
        theta = sqrt(low * high)
        rising = len(sizes) / theta > fsum(1 / (theta + j) for j in range(sum(sizes)))
        low, high = (theta, high) if rising else (low, theta)
    return low


def ewens_uniques(theta, people, records, n_unique):
    """The expected uniques among all people, and among the uniques of a file of ``records``."""
    return people * theta / (theta + people - 1), n_unique * (theta + records - 1) / (theta + people - 1)


def zayatz(sizes, people):
    """The expected sample uniques that are population uniques."""
    n = sum(sizes)
    one = {j: j * comb(people - j, n - 1) / comb(people, n) for j in set(sizes)}
    n_unique = sizes.count(1)
    return n_unique * n_unique * one[1] / sum(one[j] for j in sizes)


def snb_expected(alpha, beta, fraction, terms=4000):
    """The probabilities that a cell of the population has one and two records in the sample."""
    one = two = 0.0
    probability = beta**alpha
    for k in range(terms):
        people = k + 1
        one += probability * people * fraction * (1 - fraction) ** (people - 1)
        two += probability * comb(people, 2) * fraction**2 * (1 - fraction) ** max(people - 2, 0)
        probability *= (alpha + k) / (k + 1) * (1 - beta)
    return one, two
