"""The kernels of euclidean and adhoc against the definition, at sizes that force every path (METHODS §4.3–5)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.examples import examples
from oracles import measured
from reident.kernels import adhoc, euclidean

SCALE = 10**12
SEEDS = st.integers(0, 2**32 - 1)
EDGES = [(0, 3), (3, 0), (1, 1), (2, 70), (63, 65), (65, 64), (30, 511), (9, 513), (70, 70)]
SHAPES = [(1, 0), (0, 1), (5, 0), (0, 4), (3, 3), (17, 2), (2, 17), (9, 9)]
"""Numbers of categorical and of numeric variables."""


def as_oracle(result):
    puf, eif, level, ambiguous = result
    return list(zip(puf.tolist(), eif.tolist(), level.tolist(), strict=True)), ambiguous.tolist()


def files(rng, sizes, shape, categories, missing):
    """Codes and values of two files: few distinct numbers, so that scores tie; some records are in both."""
    v = sum(shape)
    numeric = np.arange(v) >= shape[0]
    step = rng.choice([0.1, 1, 1000])
    whole = rng.integers(0, [categories, 6][rng.integers(2)], (sum(sizes), v))
    whole[: sizes[0]][: sizes[1]] = whole[sizes[0] :][: sizes[0]][: sizes[0]][
        : len(whole[: sizes[0]][: sizes[1]])
    ]
    codes = np.where(numeric, -1, whole % categories).astype(np.int32)
    values = np.where(numeric, whole * step, np.nan)
    lost = rng.random(whole.shape) < missing
    codes[lost], values[lost] = -1, np.nan
    sides = slice(0, sizes[0]), slice(sizes[0], None)
    return numeric, [codes[side] for side in sides], [values[side] for side in sides]


def plain(codes, values, numeric):
    """Records as tuples of a category, a number, or None."""
    return [
        tuple(
            (None if np.isnan(x) else float(x)) if n else (None if c < 0 else int(c))
            for c, x, n in zip(*row, strict=True)
        )
        for row in zip(codes, values, [numeric] * len(codes), strict=True)
    ]


def drawn(seed):
    rng = np.random.default_rng(seed)
    sizes, shape = EDGES[rng.integers(len(EDGES))], SHAPES[rng.integers(len(SHAPES))]
    categories = int(rng.choice([1, 2, 5, 80]))
    missing = rng.choice([0, 0.05, 0.4, 1], p=[0.3, 0.4, 0.25, 0.05])
    keep = int(rng.choice([1, 5, 20]))
    return rng, keep, files(rng, sizes, shape, categories, missing)


@examples(60)
@given(SEEDS)
def test_euclidean_equals_the_definition(seed):
    rng, keep, (numeric, codes, values) = drawn(seed)
    spread = np.where(numeric, rng.choice([0.0, 0.5, 1.0, 700.0, np.nan], len(numeric)), np.nan)
    alpha, norm = float(rng.choice([0.3, 0.5, 1.0])), str(rng.choice(["primer", "rms"]))
    limit = round((alpha / 2 if norm == "primer" else alpha / np.sqrt(2)) * SCALE)
    result = euclidean.nearest(
        *codes,
        *values,
        spread,
        numeric=numeric,
        alpha=alpha,
        norm=norm,
        threshold=limit,
        scale=SCALE,
        keep=keep,
        threads=int(rng.integers(1, 3)),
    )
    puf, eif = (plain(c, x, numeric) for c, x in zip(codes, values, strict=True))
    expected, ambiguous = measured.nearest(
        puf,
        eif,
        lambda p, e: measured.euclidean_level(p, e, numeric, spread, alpha, norm),
        lambda level: level < limit,
        best_is_low=True,
        keep=keep,
    )
    rows, ambiguous_found = as_oracle(result)
    assert ambiguous_found == ambiguous
    assert [row[:2] for row in rows] == [row[:2] for row in expected]
    # Two correct tanh may differ in the last place, which rounding can carry to 10^-12.
    assert np.allclose([row[2] for row in rows], [row[2] for row in expected], rtol=0, atol=1)


def rules_of(rng, numeric, codes):
    """A rule for each variable, for the kernel and for the oracle."""
    kernel, oracle = [], []
    for at, is_number in enumerate(numeric):
        if is_number:
            relative, n = bool(rng.integers(2)), int(rng.integers(1, 4))
            within = np.sort(rng.choice([0.0, 0.25, 0.5, 1.0, 2.0, 1500.0], n, replace=False))
            scores, beyond = rng.integers(0, 6, n) * SCALE, int(rng.integers(0, 3)) * SCALE // 2
            parts = (np.zeros(n), within) if relative else (within, np.zeros(n))
            kernel.append(adhoc.Bands(*parts, scores, beyond))
            bands = [(float(w), float(r), int(s)) for w, r, s in zip(*parts, scores, strict=True)]
            oracle.append(lambda p, e, bands=bands, beyond=beyond: measured.band_score(p, e, bands, beyond))
        else:
            n = int(max(code[:, at].max(initial=-1) for code in codes)) + 1
            table = (
                np.eye(n, dtype=np.int64) * 5 * SCALE
                if rng.integers(2)
                else rng.integers(0, 11, (n, n)) * SCALE // 2
            )
            exact = np.array_equal(table, np.eye(n, dtype=np.int64) * 5 * SCALE)
            kernel.append(adhoc.Exact() if exact else adhoc.Table(table))
            cells = table.tolist()
            oracle.append(lambda p, e, cells=cells: measured.table_score(p, e, cells))
    return kernel, oracle


@examples(60)
@given(SEEDS)
def test_adhoc_equals_the_definition(seed):
    rng, keep, (numeric, codes, values) = drawn(seed)
    rules, scores = rules_of(rng, numeric, codes)
    above = int(len(rules) * rng.choice([0, 1, 2.5, 4]) * SCALE)
    result = adhoc.nearest(
        *codes, *values, rules, above=above, scale=SCALE, keep=keep, threads=int(rng.integers(1, 3))
    )
    puf, eif = (plain(c, x, numeric) for c, x in zip(codes, values, strict=True))
    expected = measured.nearest(
        puf,
        eif,
        lambda p, e: sum(score(a, b) for score, a, b in zip(scores, p, e, strict=True)),
        lambda level: level > above,
        best_is_low=False,
        keep=keep,
    )
    assert as_oracle(result) == expected


@pytest.mark.parametrize("norm", ["primer", "rms"])
def test_threads_make_no_difference_to_euclidean(norm):
    rng = np.random.default_rng(5)
    numeric, codes, values = files(rng, (1500, 2500), (4, 3), 9, 0.05)
    spread = np.where(numeric, 2.0, np.nan)
    options = {"numeric": numeric, "alpha": 0.5, "norm": norm, "keep": 20, "scale": SCALE}
    options["threshold"] = round((0.25 if norm == "primer" else 0.5 / np.sqrt(2)) * SCALE)
    one, two = (euclidean.nearest(*codes, *values, spread, **options, threads=threads) for threads in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert len(one[0])


def test_threads_and_blocks_make_no_difference_to_adhoc():
    rng = np.random.default_rng(6)
    numeric, codes, values = files(rng, (900, 1500), (4, 3), 9, 0.05)
    rules, _ = rules_of(rng, numeric, codes)
    one, two = (
        adhoc.nearest(*codes, *values, rules, above=SCALE, scale=SCALE, keep=20, threads=threads)
        for threads in (1, 2)
    )
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert len(one[0])
