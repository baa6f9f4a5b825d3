"""Records of categorical and numeric variables, drawn so that every path of the kernels is met."""

import numpy as np
from hypothesis import strategies as st

SHAPES = {
    "small": lambda generator, n: generator.integers(0, 4, n).astype(float),
    "heaped": lambda generator, n: generator.choice([0.0, 0.0, 0.0, 1.0, 40.0], n),
    "continuous": lambda generator, n: generator.normal(size=n),
    "skewed": lambda generator, n: np.round(np.exp(generator.normal(0, 3, n)), 2),
    "outlying": lambda generator, n: np.where(
        generator.random(n) < 0.9, generator.normal(size=n) / 1e4, generator.choice([30.0, 41.0, 42.0, 90.0], n)
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


CATEGORIES = [1, 2, 3, 30, 63, 64, 65, 200]
KINDS = st.lists(st.one_of(st.sampled_from(CATEGORIES), st.sampled_from(sorted(SHAPES))), min_size=1, max_size=20)
# Sizes at which leaves, groups of leaves, sorted parts and records that search together are full or not.
SIZES = st.one_of(
    st.tuples(st.integers(0, 6), st.integers(0, 12)),
    st.tuples(st.integers(1, 4), st.sampled_from([63, 64, 65, 127, 128, 129, 511, 512, 513])),
    st.tuples(st.sampled_from([127, 128, 129]), st.integers(1, 12)),
    st.sampled_from([(2, 1023), (2, 1024), (2, 1025), (2, 1100), (30, 511), (63, 65), (65, 64), (70, 70)]),
)


@st.composite
def two_files(draw):
    """Codes and values of both files, as the kernels take them; the kinds of the variables; a generator."""
    (n_puf, n_eif), kinds = draw(SIZES), draw(KINDS)
    missing = draw(st.sampled_from([0.0, 0.05, 0.4, 1.0]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    eif_codes, eif_values = records(generator, n_eif, kinds, missing)
    puf_codes, puf_values = records(generator, n_puf, kinds, missing)
    near = generator.random(n_puf) < draw(st.sampled_from([0.0, 0.7]))
    if n_eif:  # PUF records that differ from an EIF record on one variable only
        twins = generator.integers(0, n_eif, n_puf)
        codes, values, j = eif_codes[twins], eif_values[twins], generator.integers(0, len(kinds))
        codes[:, j], values[:, j] = puf_codes[:, j], puf_values[:, j]
        puf_codes[near], puf_values[near] = codes[near], values[near]
    return (puf_codes, eif_codes, puf_values, eif_values), kinds, generator


def spreads(values):
    """The sample standard deviation of each column; NaN with fewer than two values."""
    found = np.full(values.shape[1], np.nan)
    for j, column in enumerate(values.T):
        present = column[~np.isnan(column)]
        if present.size > 1:
            with np.errstate(over="ignore", invalid="ignore"):
                found[j] = present.std(ddof=1)
    return found


def arrays_of(puf, eif, numeric):
    """Codes and values of both files from rows of numbers."""
    codes = [np.where(numeric, -1, rows).astype(np.int32) for rows in (puf, eif)]
    values = [np.where(numeric, rows, np.nan).astype(float) for rows in (puf, eif)]
    return *codes, *values


def as_rows(result):
    puf, eif, level, ambiguous, *after = result
    rows = list(zip(puf.tolist(), eif.tolist(), level.tolist(), strict=True))
    return rows, ambiguous.tolist(), following(ambiguous, *after)


def following(ambiguous, level, number):
    """The next level of each record that is not ambiguous, and how many pairs have it; None without a next."""
    columns = zip(ambiguous.tolist(), level.tolist(), number.tolist(), strict=True)
    return [None if hidden or not n else (level, n) for hidden, level, n in columns]
