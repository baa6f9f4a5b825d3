"""Euclidean's kernel: each case a sentence, judged by the definition written out (METHODS §4.3, §5)."""

import math

import numpy as np
import pytest
from oracles import euclidean as oracle
from oracles.bounds import bounds
from oracles.mixed import as_rows, records, spreads
from reident.kernels import euclidean
from reident.kernels.euclidean import nearest
from reident.kernels.searchroom import Files, make_room

NAN = math.nan
HUGE = 1.7e308


def compared(puf, eif, kinds, spread=None, **options):
    """Arrays and options from rows of values: a whole number or None for "c", a float or None for "n"."""
    arrays = []
    for rows in (puf, eif):
        codes, values = np.full((len(rows), len(kinds)), -1, np.int32), np.full((len(rows), len(kinds)), NAN)
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if value is not None:
                    (codes if kinds[j] == "c" else values)[i, j] = value
        arrays.append((codes, values))
    (puf_codes, puf_values), (eif_codes, eif_values) = arrays
    spread = np.ones(len(kinds)) if spread is None else np.array(spread, float)
    numeric = np.array([kind == "n" for kind in kinds], bool)
    options = {"numeric": numeric, "alpha": 0.5, "norm": "rms", "keep": 5} | options
    return (puf_codes, eif_codes, puf_values, eif_values, spread), options


CASES = [
    ("no PUF record, no pair", [], [(1, 2.0)], "cn", {}),
    ("no EIF record, no pair, nobody crowded", [(1, 2.0)], [], "cn", {}),
    ("equal records have level 0", [(1, 2.0)], [(1, 2.0)], "cn", {}),
    (
        "a category differs or not, however far its code",
        [(1, 2.0), (9, 2.0)],
        [(2, 2.0), (1000000, 2.0)],
        "cn",
        {"norm": "primer", "alpha": 1.0},
    ),
    ("missing in the PUF, in the EIF, in both", [(None, 2.0), (1, None)], [(1, 2.0), (None, None)], "cn", {}),
    (
        "all missing: α on every variable is above the threshold of rms",
        [(None, None)],
        [(None, None)],
        "cn",
        {},
    ),
    (
        "all missing lies at α/√v by the primer's norm",
        [(None,) * 5] * 2,
        [(None,) * 5] * 3,
        "ccnnn",
        {"norm": "primer"},
    ),
    ("half a match, half missing is the threshold itself, and no pair", [(1, None)], [(1, 2)], "cc", {}),
    ("the same with four variables", [(1, None, 3, None)], [(1, 2, 3, 4)], "cccc", {}),
    (
        "values beyond six deviations are as far as six",
        [(0.0,) * 9],
        [(6.0,) + (0.0,) * 8, (900.0,) + (0.0,) * 8],
        "n" * 9,
        {},
    ),
    ("equal differences on either side tie", [(5.0,)], [(4.9,), (5.1,), (4.8,), (5.2,)], "n", {"keep": 3}),
    ("the best level has more than keep pairs: crowded", [(1,)], [(1,), (1,), (2,)], "c", {"keep": 1}),
    (
        "the second level would exceed keep",
        [(1, 1, 1)],
        [(1, 1, 1), (1, 1, 2), (1, 2, 1)],
        "ccc",
        {"keep": 2, "alpha": 1.0},
    ),
    ("keep beyond the number of EIF records keeps all", [(1.0,)], [(1.0,), (1.1,)], "n", {"keep": 10**9}),
    (
        "without a spread values are equal or six apart",
        [(1.0, 1.0)],
        [(1.0, 2.0), (1.0, 1.0)],
        "nn",
        {"spread": [0.0, NAN]},
    ),
    ("an infinite spread is undefined too", [(1.0, 1.0)], [(2.0, 1.0)], "nn", {"spread": [math.inf, 1.0]}),
    (
        "values beyond the range of their difference",
        [(HUGE, 1.0, 1.0)],
        [(-HUGE, 1.0, 1.0), (HUGE, 1.0, 1.0)],
        "nnn",
        {},
    ),
    (
        "infinite values are equal to themselves alone",
        [(math.inf, 1.0)],
        [(math.inf, 1.0), (-math.inf, 1.0), (0.0, 1.0)],
        "nn",
        {},
    ),
    (
        "far from the centre values still differ",
        [(1e6,), (1e6 + 0.3,)],
        [(1e6 + 0.3,), (1e6,)],
        "n",
        {"spread": [1e-3]},
    ),
    (
        "those far out are as near as they are, not as near as the cut",
        [(0.0,), (90.0,), (0.0,)],
        [(90.0,)] * 2 + [(91.0,)] * 3,
        "n",
        {"keep": 2, "norm": "primer", "alpha": 1.0},
    ),
    ("α of 0 suspects nobody", [(1,)], [(1,)], "c", {"alpha": 0.0}),
    (
        "α above 1 makes missing worse than different",
        [(1, None, 1)],
        [(2, 1, 1), (1, 1, 1)],
        "ccc",
        {"alpha": 1.5, "norm": "primer"},
    ),
]


@pytest.mark.parametrize(
    ("puf", "eif", "kinds", "options"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_case(puf, eif, kinds, options):
    arrays, options = compared(puf, eif, kinds, **options)
    assert as_rows(nearest(*arrays, **options)) == oracle.nearest(*arrays, **options)


def test_levels_are_the_scores_of_the_definition_in_millionths_of_a_millionth():
    arrays, options = compared(
        [(1, None, 10.0)], [(2, 5, 11.0)], "ccn", [1, 1, 2.0], norm="primer", alpha=0.8
    )
    assert oracle.nearest(*arrays, **options)[0] == []  # √(1 + 0.64 + tanh²(1/4)) / 3 is above 0.4
    arrays, options = compared(
        [(1, None, 10.0)], [(1, 5, 11.0)], "ccn", [1, 1, 2.0], norm="primer", alpha=0.8
    )
    level = round(math.sqrt(0.8**2 + math.tanh(0.25) ** 2) / 3 * 1e12)
    assert as_rows(nearest(*arrays, **options)) == ([(0, 0, level)], [False])


LARGE = [
    ("several groups of leaves", 3, 9000, [12, 30, "skewed", "heaped", "continuous"], 0.05, {}),
    (
        "several groups, the threshold excludes nothing",
        3,
        9000,
        [4] * 9 + ["continuous"] * 8,
        0.05,
        {"norm": "primer"},
    ),
    ("one more than a group of leaves", 2, 4097, [3, "small"], 0.3, {"norm": "primer"}),
    ("all records equal", 2, 5000, [1, "constant"], 0.0, {"norm": "primer"}),
    ("few distinct records, all of them tied", 3, 5000, [2, "heaped"], 0.2, {"keep": 400, "norm": "primer"}),
    (
        "a tie of thousands just above the nearest",
        2,
        5000,
        ["heaped"] * 3,
        0.0,
        {"norm": "primer", "keep": 2000},
    ),
    ("more groups than a block of boxes holds", 1, 290_000, ["skewed"], 0.05, {"norm": "primer", "keep": 3}),
    ("records that search in two rounds", 1200, 90, [5, "small", "continuous"], 0.1, {"norm": "primer"}),
    (
        "more variables than bit maps count differences",
        3,
        1500,
        [2] * 40 + ["small"] * 4,
        0.05,
        {"norm": "primer"},
    ),
    ("more categories than bit maps have room for", 3, 1500, [900] * 20, 0.02, {"norm": "primer"}),
]


@pytest.mark.parametrize(
    ("n_puf", "n_eif", "kinds", "missing", "options"),
    [case[1:] for case in LARGE],
    ids=[case[0] for case in LARGE],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_large(n_puf, n_eif, kinds, missing, options, threads):
    generator = np.random.default_rng(n_eif)
    puf_codes, puf_values = records(generator, n_puf, kinds, missing)
    eif_codes, eif_values = records(generator, n_eif, kinds, missing)
    numeric = np.array([isinstance(kind, str) for kind in kinds])
    arrays = puf_codes, eif_codes, puf_values, eif_values, spreads(eif_values)
    options = {"numeric": numeric, "alpha": 0.5, "norm": "rms", "keep": 20} | options
    done = []
    found = nearest(*arrays, **options, threads=threads, progress=done.append)
    assert as_rows(found) == oracle.nearest(*arrays, **options)
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
def test_bounds_are_on_their_side_of_the_cost(kinds, alpha):
    generator = np.random.default_rng(5)
    puf_codes, puf_values = records(generator, 40, kinds, 0.1)
    eif_codes, eif_values = records(generator, 300, kinds, 0.1)
    numeric, spread = np.array([isinstance(kind, str) for kind in kinds]), spreads(eif_values)
    files = Files(puf_codes, eif_codes, puf_values, eif_values)
    spread[[kind == "outlying" for kind in kinds]] = 1.0
    usable = np.where(np.isfinite(spread) & (spread > 0), spread, NAN)
    metric, index, puf = euclidean._prepared(files, numeric, usable, alpha, True)
    desk = euclidean._make_desk(len(kinds))
    room = make_room(index, puf, desk, 5)
    low, high, box = (np.full((2, 40, 300), NAN, np.float32) for _ in range(3))
    bounds(metric, desk, files, index, puf, room, low, high, box)
    cost = np.array(
        [
            [
                math.fsum(
                    oracle.variable_score(numeric[j], p_codes[j], e_codes[j], p[j], e[j], usable[j], alpha)
                    ** 2
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


REFUSED = [
    ("columns", {"numeric": np.zeros(3, bool)}),
    ("alpha", {"alpha": -0.1}),
    ("alpha", {"alpha": math.inf}),
    ("keep", {"keep": 0}),
]


@pytest.mark.parametrize(("word", "changed"), REFUSED)
def test_arrays_and_options_that_make_no_sense_are_refused(word, changed):
    arrays, options = compared([(1, 2.0)], [(1, 2.0)], "cn")
    with pytest.raises(ValueError, match=word):
        nearest(*arrays, **options | changed)


def test_a_negative_spread_is_refused():
    arrays, options = compared([(1, 2.0)], [(1, 2.0)], "cn", [1.0, -1.0])
    with pytest.raises(ValueError, match="spread"):
        nearest(*arrays, **options)
