"""Draws samples of a population that is fully known, with incomplete keys, perturbed values, and their true risk."""

from typing import NamedTuple

import numpy as np
from reident.filerisk import dis, matches, uniques


def population(n: int = 30_000, seed: int = 1) -> np.ndarray:
    """Return people with a skewed key of four variables, int32 (n, 4)."""
    draw = np.random.default_rng(seed)
    levels = np.array([6, 8, 12, 15])
    return (draw.random((n, 4)) ** 2 * levels).astype(np.int32)


class Drawn(NamedTuple):
    """One sample: DIS with the sampling fraction of its cells and with f alone, its error, and the truth."""

    estimate: float
    uncorrected: float
    error: float
    low: float
    high: float
    truth: float


def sampled(people: np.ndarray, fraction: float, incomplete: float, draw: np.random.Generator) -> np.ndarray:
    """Return a Bernoulli sample in which a share of the records misses a value of one variable."""
    return with_missing(people[draw.random(len(people)) < fraction], incomplete, draw)


def with_missing(codes: np.ndarray, incomplete: float, draw: np.random.Generator) -> np.ndarray:
    """Return records of which a share misses a value of one variable."""
    codes = codes.copy()
    misses = np.flatnonzero(draw.random(len(codes)) < incomplete)
    codes[misses, draw.integers(0, codes.shape[1], len(misses))] = -1
    return codes


def true_probability(released: np.ndarray, people: np.ndarray) -> float:
    """Return the correct unique matches among all unique matches of the population with the complete records.

    Without divergence a person matches uniquely if the cell has one record; one person of the cell is right.
    """
    numbers = uniques.cell_numbers(np.concatenate([released, people]))
    mine, theirs = numbers[: len(released)], numbers[len(released) :]
    sizes = np.bincount(mine[mine >= 0], minlength=int(numbers.max()) + 1)
    return float((sizes == 1).sum() / (sizes[theirs] == 1).sum())


def drawn(people: np.ndarray, fraction: float, incomplete: float, draw: np.random.Generator) -> Drawn:
    """Return DIS of one sample beside the truth, as the step computes it."""
    codes = sampled(people, fraction, incomplete, draw)
    sizes = uniques.cell_sizes(codes)
    u, p, t = (int((sizes == size).sum()) for size in (1, 2, 3))
    in_cells = dis.of_cells(fraction, float((sizes > 0).mean()))
    estimate, error = dis.general(u, p, in_cells), dis.sampling_error(u, p, t, in_cells)
    return Drawn(
        estimate, dis.general(u, p, fraction), error, *dis.interval(u, p, in_cells), true_probability(codes, people)
    )


class Attacked(NamedTuple):
    """One perturbed sample: DIS by the values of the file and by the original ones, and the truth."""

    by_file: float
    by_original: float
    truth: float


def attacked(people: np.ndarray, fraction: float, incomplete: float, draw: np.random.Generator) -> Attacked:
    """Return DIS of a sample that was perturbed, beside an attack by every person of the population.

    A fifth of the records has another one's value of the last variable. The attack is simulated person by person.
    """
    taken = np.flatnonzero(draw.random(len(people)) < fraction)
    original = people[taken].copy()
    misses = np.flatnonzero(draw.random(len(taken)) < incomplete)
    original[misses, draw.integers(0, 4, len(misses))] = -1
    released = original.copy()
    swapped = np.flatnonzero(draw.random(len(taken)) < 0.2)
    released[swapped, 3] = original[np.roll(swapped, 1), 3]
    released[draw.random(len(taken)) < 0.05, 0] = -1  # suppressed
    numbers = uniques.cell_numbers(np.concatenate([released, people]))
    cells, wanted = numbers[: len(taken)], numbers[len(taken) :]
    sizes = np.bincount(cells[cells >= 0], minlength=int(numbers.max()) + 1)
    unique = sizes[wanted] == 1
    right = (sizes[wanted[taken]] == 1) & (cells == wanted[taken])
    complete = float((original >= 0).all(axis=1).mean())
    u, p, w = matches.by_cell(released, original).counts
    own = uniques.cell_sizes(released)
    in_cells = dis.of_cells(fraction, float((own > 0).mean()))
    return Attacked(
        dis.general(uniques.n_unique(own), uniques.n_in_pairs(own), in_cells),
        dis.general(u, p, dis.of_cells(fraction, complete), w),
        float(right.sum() / unique.sum()),
    )
