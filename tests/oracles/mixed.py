"""Records of categorical and numeric variables, drawn so that every path of the kernels is met."""

import numpy as np

SHAPES = {
    "small": lambda generator, n: generator.integers(0, 4, n).astype(float),
    "heaped": lambda generator, n: generator.choice([0.0, 0.0, 0.0, 1.0, 40.0], n),
    "continuous": lambda generator, n: generator.normal(size=n),
    "skewed": lambda generator, n: np.round(np.exp(generator.normal(0, 3, n)), 2),
    "outlying": lambda generator, n: np.where(
        generator.random(n) < 0.9,
        generator.normal(size=n) / 1e4,
        generator.choice([30.0, 41.0, 42.0, 90.0], n),
    ),
    "constant": lambda _, n: np.full(n, 7.5),
    "huge": lambda generator, n: generator.choice([-1e308, -1e16, 0.0, 1e16, 1e16 + 2, 1e308], n),
    "tiny": lambda generator, n: generator.choice([0.0, 5e-324, 1e-300, 1e-12], n),
}


def records(generator, n, kinds, missing):
    """Codes and values of n records; a kind is a number of categories or one of SHAPES."""
    codes, values = np.full((n, len(kinds)), -1, np.int32), np.full((n, len(kinds)), np.nan)
    for j, kind in enumerate(kinds):
        present = generator.random(n) >= missing
        if isinstance(kind, int):
            # Skewed, so that rare categories occur and frequent ones tie.
            codes[present, j] = (kind * generator.random(n) ** 2).astype(np.int32)[present]
        else:
            values[present, j] = SHAPES[kind](generator, n)[present]
    return codes, values


def spreads(values):
    """The sample standard deviation of each column; NaN with fewer than two values."""
    found = np.full(values.shape[1], np.nan)
    for j, column in enumerate(values.T):
        present = column[~np.isnan(column)]
        if present.size > 1:
            with np.errstate(over="ignore", invalid="ignore"):
                found[j] = present.std(ddof=1)
    return found


def as_rows(result):
    puf, eif, level, ambiguous = result
    return list(zip(puf.tolist(), eif.tolist(), level.tolist(), strict=True)), ambiguous.tolist()
