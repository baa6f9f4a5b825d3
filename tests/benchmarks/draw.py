"""Seeded census-like files for the benchmarks: correlated categories, skewed amounts, 5 % missing.

Each person belongs to a latent class (a kind of household in a kind of place), which makes the
variables depend on each other. The two files share half of their people; both err a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

CATEGORIES = {
    10: (2, 5, 7, 3, 18, 50, 9, 4, 25, 12),
    13: (2, 5, 7, 3, 18, 50, 9, 4, 25, 12, 6, 2, 30),
    8: (2, 5, 7, 3, 18, 9, 25, 30),
    5: (2, 5, 7, 18, 50),
}
"""The numbers of categories, by the number of categorical variables."""

CLASSES, MISSING, FLIPPED = 60, 0.05, 0.03
METRICS = ("unicity", "taxicab", "euclidean", "adhoc")
"""All metrics of the Primer."""

FILES = """\
files:
  puf: {path: puf.csv, id: id}
  eif: {path: eif.csv, id: id}
  iuf: {path: iuf.csv, puf_id: puf, eif_id: eif}
"""


def study(name: str, title: str, stratum: str, kinds: Mapping[str, str], metrics: Iterable[str] = METRICS) -> str:
    """The study file of two files and their links; by name, a linking variable has a type, and empty is missing."""
    variables = (f'  - {{name: {variable}, type: {kind}, missing: [""]}}\n' for variable, kind in kinds.items())
    return (
        f"id: {name}\ntitle: {title}\n{FILES}strata: [{stratum}]\nlinking_variables:\n{''.join(variables)}"
        f"metrics: {{{', '.join(f'{metric}: {{}}' for metric in metrics)}}}\n"
        "decision: {conditional_rate_at_most: 0.05}\n"
    )


def files(n: int, categorical: int, numeric: int, folder: Path) -> Path:
    """Draw two files of n records, once, and return where they lie.

    The arrays are ``puf_codes``, ``eif_codes`` (int32, -1 missing) and ``puf_values``, ``eif_values``
    (float64, NaN missing), categorical variables first, as the kernels take them; and ``puf_people``,
    ``eif_people``, whose record each one is.
    """
    path = folder / f"{n}-{categorical}-{numeric}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(".part.npz")
        np.savez(aside, **draw(n, categorical, numeric))
        aside.replace(path)
    return path


def masked(n: int, numeric: int, released: int, folder: Path) -> Path:
    """Draw n records of skewed amounts and a sample of them, micro-aggregated in groups of three, as :func:`files`."""
    path = folder / f"{n}-masked-{numeric}-{released}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng([n, numeric, released])
        held = np.exp(rng.standard_normal((n, numeric)))
        sample = rng.permutation(n)[:released]
        puf = np.stack([_threes(column)[sample] for column in held.T], axis=1)
        codes = {f"{side}_codes": np.full(own.shape, -1, np.int32) for side, own in (("puf", puf), ("eif", held))}
        aside = path.with_suffix(".part.npz")
        np.savez(aside, puf_values=puf, eif_values=held, **codes)
        aside.replace(path)
    return path


def _threes(values: np.ndarray) -> np.ndarray:
    """Each value's mean in its group of three consecutive ones; the last group takes the remainder."""
    order, n = np.argsort(values, kind="stable"), len(values)
    group = np.minimum(np.arange(n) // 3, max(n // 3, 1) - 1)
    means = np.bincount(group, weights=values[order]) / np.bincount(group)
    out = np.empty(n)
    out[order] = means[group]
    return out


def draw(n: int, categorical: int, numeric: int) -> dict[str, np.ndarray]:
    """The arrays of :func:`files`."""
    out = {}
    for side, codes, values, people in sides(n, categorical, numeric):
        out |= {f"{side}_codes": codes, f"{side}_values": values, f"{side}_people": people}
    return out


def sides(n: int, categorical: int, numeric: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Each file's name and arrays as of :func:`files`, one file after the other."""
    rng = np.random.default_rng([n, categorical, numeric])
    shared = n // 2
    kind = rng.choice(CLASSES, 2 * n - shared, p=rng.dirichlet(np.full(CLASSES, 0.7)))
    sizes = CATEGORIES[categorical]
    codes = [_category(rng, kind, size).astype(np.int32) for size in sizes]
    values = [_amount(rng, kind, at) for at in range(numeric)]
    for side, held in (("puf", np.arange(n)), ("eif", np.r_[0:shared, n : 2 * n - shared])):
        people = rng.permutation(held)
        own_codes = np.full((n, len(sizes) + numeric), -1, np.int32)
        own_values = np.full((n, len(sizes) + numeric), np.nan)
        for at, size in enumerate(sizes):
            column = codes[at][people]
            column = np.where(rng.random(n) < FLIPPED, rng.integers(0, size, n), column)
            own_codes[:, at] = np.where(rng.random(n) < MISSING, -1, column)
        for at, amounts in enumerate(values, start=len(sizes)):
            column = np.where(rng.random(n) < 0.5, np.round(amounts[people] * rng.normal(1, 0.05, n)), amounts[people])
            own_values[:, at] = np.where(rng.random(n) < MISSING, np.nan, column)
        yield side, own_codes, own_values, people


def _category(rng: np.random.Generator, kind: np.ndarray, size: int) -> np.ndarray:
    """Skewed overall, and more so within a class, where another category is the common one."""
    ranks = np.arange(1, size + 1)
    overall = rng.choice(size, len(kind), p=ranks**-0.8 / (ranks**-0.8).sum())
    within = rng.choice(size, len(kind), p=ranks**-1.6 / (ranks**-1.6).sum())
    order = np.stack([rng.permutation(size) for _ in range(CLASSES)])
    return np.where(rng.random(len(kind)) < 0.55, order[kind, within], overall)


def _amount(rng: np.random.Generator, kind: np.ndarray, at: int) -> np.ndarray:
    """Age, income with zeros, hours with a spike, rent, minutes of travel, in turn."""
    z = 0.6 * rng.normal(size=CLASSES)[kind] + 0.8 * rng.normal(size=len(kind))
    shape = at % 5
    if shape == 0:
        return np.clip(np.round(40 + 20 * z), 0, 95)
    if shape == 1:
        return np.where(rng.random(len(kind)) < 0.08, 0, np.round(np.exp(10.3 + 0.9 * z), -2))
    if shape == 2:
        return np.where(rng.random(len(kind)) < 0.45, 40, np.clip(np.round(35 + 14 * z), 0, 99))
    if shape == 3:
        return np.round(np.exp(6.8 + 0.5 * z))
    return np.clip(np.round(np.exp(3 + 0.7 * z)), 0, 180)
