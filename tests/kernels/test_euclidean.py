"""Euclidean's kernel on large files, its bounds, and what it refuses (METHODS §4.3, §5); small files are properties."""

import math

import numpy as np
import pytest
from making.examples import cases
from oracles import euclidean as oracle
from oracles.bounds import bounds
from oracles.mixed import arrays_of, as_rows, records, spreads
from reident.kernels import euclidean
from reident.kernels.buffers import SearchFiles, empty_buffers
from reident.kernels.euclidean_costs import SQUARE_ERROR, UNIT, float32_error

NAN = math.nan
SCALE = 10**12


def nearest(*arrays, **options):
    """The kernel with the threshold of the definition."""
    alpha, norm = options["alpha"], options["norm"]
    threshold = oracle.threshold(alpha, norm) if math.isfinite(alpha) else 1
    return euclidean.nearest(*arrays, **{"threshold": threshold, "scale": SCALE} | options)


LARGE = [
    ("several groups of leaves", 3, 9000, [12, 30, "skewed", "heaped", "continuous"], 0.05, {}),
    ("several groups, the threshold excludes nothing", 3, 9000, [4] * 9 + ["continuous"] * 8, 0.05, {"norm": "primer"}),
    ("one more than a group of leaves", 2, 4097, [3, "small"], 0.3, {"norm": "primer"}),
    ("all records equal", 2, 5000, [1, "constant"], 0.0, {"norm": "primer"}),
    ("few distinct records, all of them tied", 3, 5000, [2, "heaped"], 0.2, {"keep": 400, "norm": "primer"}),
    ("a tie of thousands just above the nearest", 2, 5000, ["heaped"] * 3, 0.0, {"norm": "primer", "keep": 2000}),
    ("more groups than a block of boxes holds", 1, 290_000, ["skewed"], 0.05, {"norm": "primer", "keep": 3}),
    ("records that search in two rounds", 1200, 90, [5, "small", "continuous"], 0.1, {"norm": "primer"}),
    ("more variables than bit maps count differences", 3, 1500, [2] * 40 + ["small"] * 4, 0.05, {"norm": "primer"}),
    ("more categories than the bit maps can hold", 3, 1500, [900] * 20, 0.02, {"norm": "primer"}),
]  # fmt: skip


@pytest.mark.parametrize(("n_puf", "n_eif", "kinds", "missing", "options"), cases(LARGE))
def test_large(n_puf, n_eif, kinds, missing, options):
    generator = np.random.default_rng(n_eif)
    puf_codes, puf_values = records(generator, n_puf, kinds, missing)
    eif_codes, eif_values = records(generator, n_eif, kinds, missing)
    numeric = np.array([isinstance(kind, str) for kind in kinds])
    arrays = puf_codes, eif_codes, puf_values, eif_values, spreads(eif_values)
    options = {"numeric": numeric, "alpha": 0.5, "norm": "rms", "keep": 20} | options
    expected = oracle.nearest(*arrays, **options)
    for threads in (1, 2):
        done = []
        result = nearest(*arrays, **options, threads=threads, progress=done.append)
        assert as_rows(result) == expected
        assert done == sorted(done)
        assert done[-1] == 1


@pytest.mark.parametrize(
    ("kinds", "alpha"),
    [
        (["continuous"] * 5 + [3] * 5, 0.5),
        (["continuous"] * 64, 0.3),
        (["skewed", "huge", "tiny", "constant", "small"] * 6 + [70] * 34, 0.3),
        ([80] * 20, 1.0),
        (["outlying"] * 3 + [2], 0.5),
        (["continuous"], 0.7),
    ],
)
def test_lower_bounds_are_below_and_upper_bounds_above_the_cost(kinds, alpha):
    generator = np.random.default_rng(5)
    puf_codes, puf_values = records(generator, 40, kinds, 0.1)
    eif_codes, eif_values = records(generator, 300, kinds, 0.1)
    numeric, spread = np.array([isinstance(kind, str) for kind in kinds]), spreads(eif_values)
    files = SearchFiles(puf_codes, eif_codes, puf_values, eif_values)
    spread[[kind == "outlying" for kind in kinds]] = 1.0
    usable = np.where(np.isfinite(spread) & (spread > 0), spread, NAN)
    metric, index, puf = euclidean._prepare(files, numeric, usable, alpha, True, SCALE)
    low, high, box = (np.full((2, 40, 300), NAN, np.float32) for _ in range(3))
    bounds(metric, index, puf, empty_buffers(index, puf, len(kinds), 5), low, high, box)
    cost = np.array(
        [
            [
                math.fsum(
                    oracle.variable_score(numeric[j], p_codes[j], e_codes[j], p[j], e[j], usable[j], alpha) ** 2
                    for j in range(len(kinds))
                )
                for e_codes, e in zip(eif_codes.tolist(), eif_values.tolist(), strict=True)
            ]
            for p_codes, p in zip(puf_codes.tolist(), puf_values.tolist(), strict=True)
        ]
    )
    for bound in (*low, *box):
        assert (bound <= cost * (1 + 1e-12)).all()
    for bound in high:
        assert (bound >= cost * (1 - 1e-12)).all()
        assert np.isfinite(bound).any()
    # Useful, too: where no value is cut off, the filter lets through hardly more than it must.
    assert (cost - low[0])[np.isfinite(high[0])].max() < 1e-3 * len(kinds)


def worst_pairs(direction, generator):
    """Pairs of float32 eᵃ, eᵇ whose squared score in single precision is 5.25 units above (or below) the exact one.

    a − b is just below 6. The difference and the sum of the two lose, or gain, nearly half a unit in the last place.
    """
    n = 3_000_000
    x = generator.uniform(1.004, 1.02, n).astype(np.float32)
    unit = 2.0**-23  # the last place of x, x − y and x + y
    half = 0.5 - direction * generator.integers(1, 13, n) / 512
    y = ((np.floor(x * math.exp(-6) * generator.uniform(1.0001, 1.3, n) / unit) + half) * unit).astype(np.float32)
    quotient = (x - y) / (x + y)
    square = quotient * quotient
    exact = ((x.astype(float) - y) / (x.astype(float) + y)) ** 2
    excess = (square - exact) * direction
    worst = (excess > 5.25 * UNIT) & (square <= np.float32(math.tanh(3) ** 2))
    return x[worst], y[worst], square[worst], excess[worst]


def worst_record(n, n_different, direction, generator):
    """Values of a PUF and an EIF record of n numeric variables that use up the error of single precision."""
    x, y, square, excess = worst_pairs(direction, generator)
    error, fixed = np.float32(float32_error(n, n + n_different)), np.float32(n_different)
    total, exact, chosen = np.float32(0), float(n_different), []
    for k in range(n):
        after = total + square
        gain = excess + direction * (after.astype(float) - total - square)
        if k == n - 1 and direction > 0:
            gain = (fixed + np.maximum(after - error, np.float32(0))).astype(float) - (square - excess)
        elif k == n - 1:
            gain = (square + excess) - np.minimum(fixed + after + error, after + (fixed + error))
        best = int(np.argmax(gain))
        chosen.append(best)
        exact += square[best] - direction * float(excess[best])
        total = after[best]
    return np.log(x[chosen].astype(float)), np.log(y[chosen].astype(float)), error


# Of the roundings of the last two sums, up to 2·h(v) in all, some exclude one another: that counts with few variables.
@pytest.mark.parametrize(
    ("n", "n_different", "share"),
    [
        (1, 0, 0.9),
        (1, 1, 0.75),
        (2, 0, 0.8),
        (10, 5, 0.8),
        (64, 0, 0.9),
        (100, 30, 0.9),
        (300, 212, 0.9),
        (512, 0, 0.9),
    ],
)
@pytest.mark.parametrize("direction", [1, -1], ids=["lower bound", "upper bound"])
def test_the_worst_records_use_up_the_error_of_single_precision(n, n_different, share, direction):
    p, e, error = worst_record(n, n_different, direction, np.random.default_rng(n))
    v = n + n_different
    numeric = np.arange(v) >= n_different
    codes = [np.full((rows, v), -1, np.int32) for rows in (3, 1)]
    codes[0][:, ~numeric], codes[1][:, ~numeric] = 1, 2
    values = [np.full((rows, v), NAN) for rows in (3, 1)]
    values[0][:, numeric], values[1][:, numeric] = [p, -p, 0 * p], e  # the medians are 0
    files = SearchFiles(*codes, *values)
    metric, index, puf = euclidean._prepare(files, numeric, np.where(numeric, 1.0, NAN), 0.5, False, SCALE)
    assert metric.error == error
    low, high, box = (np.full((2, 3, 1), NAN, np.float32) for _ in range(3))
    bounds(metric, index, puf, empty_buffers(index, puf, v, 5), low, high, box)
    cost = math.fsum([n_different, *(math.tanh((a - b) / 2) ** 2 for a, b in zip(p, e, strict=True))])
    below, above = cost - np.float64([low, box])[:, :, 0, 0], np.float64(high)[:, 0, 0] - cost
    assert min(below.min(), above.min()) >= 0
    assert (below if direction > 0 else above).min() <= (1 - share) * error


def test_no_square_is_off_by_more_than_its_share():
    generator = np.random.default_rng(1)
    a, b = generator.uniform(-8, 8, (2, 2_000_000))
    b[::2] = a[::2] + generator.uniform(-6.1, 6.1, 1_000_000)
    x, y = np.exp(a).astype(np.float32), np.exp(b).astype(np.float32)
    quotient = np.abs(x - y) / (x + y)
    square = np.minimum(quotient * quotient, np.float32(math.tanh(3) ** 2))
    exact = np.minimum(np.tanh((a - b) / 2) ** 2, math.tanh(3) ** 2)
    assert np.abs(square - exact).max() <= SQUARE_ERROR * UNIT


REFUSED = [
    ("columns", {"numeric": np.zeros(3, bool)}),
    ("alpha", {"alpha": -0.1}),
    ("alpha", {"alpha": math.inf}),
    ("alpha", {"alpha": 3.1}),
    ("keep", {"keep": 0}),
    ("scale", {"scale": 0}),
    ("scale", {"scale": 10 * SCALE}),
]


@pytest.mark.parametrize(("word", "changed"), REFUSED)
def test_invalid_arguments_are_refused(word, changed):
    numeric = np.array([False, True])
    arrays = *arrays_of([(1, 2.0)], [(1, 2.0)], numeric), np.ones(2)
    options = {"numeric": numeric, "alpha": 0.5, "norm": "rms", "keep": 5}
    with pytest.raises(ValueError, match=word):
        nearest(*arrays, **options | changed)
