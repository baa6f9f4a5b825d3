"""Populations of people whose key variables depend on each other, in three ways, and samples of them."""

from collections.abc import Iterator, Sequence

import numpy as np

LEVELS = (18, 2, 5, 8, 16, 6)
"""The categories of each key variable."""


def populations(seed: int, n: int, people: int, levels: Sequence[int] = LEVELS) -> Iterator[np.ndarray]:
    """Yield the codes of the people of each population; the way in which variables depend takes turns."""
    ways = (by_earlier_variables, by_class, by_pairs)
    for at in range(n):
        yield ways[at % len(ways)](np.random.default_rng([seed, at]), people, levels)


def by_earlier_variables(rng: np.random.Generator, people: int, levels: Sequence[int]) -> np.ndarray:
    """Draw each variable from a distribution that one or two earlier variables choose."""
    columns = [rng.choice(levels[0], people, p=rng.dirichlet(np.full(levels[0], rng.choice([1.0, 5.0, 50.0]))))]
    evenness = rng.choice([0.3, 1.0, 3.0, 10.0])
    for n in levels[1:]:
        parents = rng.choice(len(columns), min(len(columns), rng.integers(1, 3)), replace=False)
        group = np.unique(np.stack([columns[at] for at in parents]), axis=1, return_inverse=True)[1].ravel()
        columns.append(_drawn(rng, rng.dirichlet(np.full(n, evenness), group.max() + 1), group))
    return np.stack(columns, axis=1).astype(np.int32)


def by_class(rng: np.random.Generator, people: int, levels: Sequence[int]) -> np.ndarray:
    """Draw the variables independently within classes of people that the key does not contain."""
    classes, evenness = int(rng.choice([5, 15, 40])), rng.choice([0.5, 1.0, 3.0])
    group = rng.choice(classes, people, p=rng.dirichlet(np.full(classes, 2.0)))
    columns = [_drawn(rng, rng.dirichlet(np.full(n, evenness), classes), group) for n in levels]
    return np.stack(columns, axis=1).astype(np.int32)


def by_pairs(rng: np.random.Generator, people: int, levels: Sequence[int]) -> np.ndarray:
    """Draw people from a log-linear model with effects of all variables and of all pairs."""
    spread, logarithm = rng.choice([0.2, 0.35, 0.5]), np.zeros(levels)
    for i in range(len(levels)):
        logarithm = logarithm + rng.normal(0, 0.8, [n if j == i else 1 for j, n in enumerate(levels)])
        for k in range(i):
            shape = [n if j in (i, k) else 1 for j, n in enumerate(levels)]
            logarithm = logarithm + rng.normal(0, spread, shape)
    shares = np.exp(logarithm).ravel()
    counts = rng.multinomial(people, shares / shares.sum())
    cells = np.repeat(np.arange(counts.size), counts)
    return np.stack(np.unravel_index(cells, levels), axis=1).astype(np.int32)


def _drawn(rng: np.random.Generator, shares: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Draw a category for each person from the distribution of the group."""
    ends = shares.cumsum(axis=1)
    return np.minimum((rng.random(len(group))[:, None] > ends[group]).sum(axis=1), shares.shape[1] - 1)
