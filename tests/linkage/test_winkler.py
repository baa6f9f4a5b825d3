"""Winkler's agreement on cases worked by hand, its options, and bad calls (METHODS §4.5)."""

import numpy as np
import pytest
from making.studies import plain
from pydantic import ValidationError
from reident.kernels.closest import closest
from reident.kernels.winkler import most_agreements
from reident.linkage.metrics.winkler import Nearest, ranges
from reident.study.model import Study

G2, G3 = Nearest(nearest=2), Nearest(nearest=3)

# masked values, held values, rule, {masked: held values that agree}
AGREE = [
    # gaps 2 and 8: 1 and 4 to either side; at the ends the one gap
    ("half gap", [2, 4, 12], [1, 3, 5, 5.1, 8, 16, 17], "half_gap", {2: [1, 3], 4: [3, 5], 12: [8, 16]}),
    # min(2, 8 / 2) of 4 is 2; 2 has 2 / 2 above alone, 12 the whole gap below alone
    ("as printed", [2, 4, 12], [0.9, 1, 3, 2, 6, 6.1, 4, 20, 20.1], "printed",
     {2: [1, 3, 2], 4: [3, 2, 6, 4], 12: [6, 6.1, 4, 20]}),
    ("as printed, repeated masked values", [4, 2, 4, 4, 2], [1, 3, 6], "printed", {2: [1, 3], 4: [3, 6]}),
    ("as printed, one masked value", [2], [-1e9, 7e300], "printed", {2: [-1e9, 7e300]}),
    ("half gap, one masked value", [2], [-1e9, 2, 7e300], "half_gap", {2: [-1e9, 2, 7e300]}),
    (
        "midpoint: beyond the ends too, both at the middle",
        [2, 4, 12],
        [-99, 3, 8, 99],
        "midpoint",
        {2: [-99, 3], 4: [3, 8], 12: [8, 99]},
    ),
    ("midpoint, one masked value", [2], [-1e9, 2, 7e300], "midpoint", {2: [-1e9, 2, 7e300]}),
    ("the two nearest", [5], [1, 4, 7, 9], G2, {5: [4, 7]}),
    ("ties at the last distance", [5], [1, 4, 6, 3, 7, 9], G3, {5: [4, 6, 3, 7]}),
    ("repeated values count each", [5], [5, 5, 5, 6], G2, {5: [5, 5, 5]}),
    ("fewer values than asked for", [5], [1, 900], G3, {5: [1, 900]}),
    ("just as many", [5], [1, 900, 6], G3, {5: [1, 900, 6]}),
    ("nothing held", [5], [], G2, {5: []}),
    # 0.3 − 0.2 < 0.1 in binary, 0.25 − 0.2 > half of it
    ("decimals: half gap", [0.1, 0.2, 0.3], [0.05, 0.15, 0.25, 0.26], "half_gap",
     {0.1: [0.05, 0.15], 0.2: [0.15, 0.25], 0.3: [0.25, 0.26]}),
    ("decimals: ties", [0.2], [0.1, 0.3, 0.4], Nearest(nearest=1), {0.2: [0.1, 0.3]}),
    ("decimals: 14 digits are told apart", [10000.0, 10000.2], [10000.100000001], "midpoint",
     {10000.0: [], 10000.2: [10000.100000001]}),
    ("missing values", [np.nan, 2, np.nan], [np.nan, 3], "midpoint", {2: [3]}),
    ("all missing", [np.nan], [1], "half_gap", {}),
    ("the largest numbers, nearest", [1e308], [-1e308, 1.7e308, 5], G2, {1e308: [1.7e308, 5]}),
    ("the largest numbers", [-1e308, 1e308], [0, 1.7e308], "midpoint", {-1e308: [0], 1e308: [0, 1.7e308]}),
]  # fmt: skip


@pytest.mark.parametrize(("masked", "held", "rule", "agree"), [c[1:] for c in AGREE], ids=[c[0] for c in AGREE])
def test_agreement(masked, held, rule, agree):
    found = ranges(np.array(masked, float), np.array(held, float), rule)
    assert {
        y: [x for x in held if low <= x <= high]
        for y, low, high in zip(found.puf_values.tolist(), found.low, found.high, strict=True)
    } == agree


def test_the_options():
    study = Study.model_validate(plain(metrics={"winkler": {"agreement": {"nearest": "360"}, "min_agree": "2"}}))
    options = study.chosen["winkler"]
    assert (options.agreement, options.min_agree) == (Nearest(nearest=360), 2)
    plainly = Study.model_validate(plain(metrics={"winkler": None})).chosen["winkler"]
    assert (plainly.agreement, plainly.min_agree) == ("half_gap", 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_agree": "3"}, r"must be at most the number of linking variables \(2\), but is 3\. Reduce it"),
        ({"min_agree": "0"}, "greater than or equal to 1"),
        ({"agreement": {"nearest": "0"}}, "greater than or equal to 1"),
        ({"agreement": {"closest": "0"}}, "greater than or equal to 1"),
        ({"agreement": {"closest": "3"}}, r"closest` must be at most the number of linking variables \(2\), but is 3"),
        ({"agreement": {"closest": "2"}, "min_agree": "2"}, "must not be given with `closest`"),
        ({"agreement": {"closest": "2", "nearest": "2"}}, "Extra inputs"),
        ({"agreement": "third_gap"}, "half_gap"),
    ],
)
def test_options_that_do_not_fit(options, said):
    with pytest.raises(ValidationError, match=said):
        Study.model_validate(plain(metrics={"winkler": options}))


MISSING = np.nan
CLOSEST = [
    # masked, EIF records, m, level of each EIF record; None: not comparable
    ("equally near values share a distance", [5], [[4], [6], [9], [5]], 1, [2, 2, 4, 1]),
    ("the second smallest", [5, 5, 5], [[5, 1, 9], [4, 5, 7], [7, 6, 5]], 2, [3, 2, 2]),
    ("too few values in common", [5, MISSING], [[5, 5], [MISSING, 5]], 1, [1, None]),
    ("too few of the masked values", [5, MISSING], [[5, 5], [MISSING, 5]], 2, [None, None]),
    ("repeated values count each", [5], [[5], [5], [5], [8]], 1, [1, 1, 1, 4]),
]


@pytest.mark.parametrize(("masked", "eif", "m", "levels"), [c[1:] for c in CLOSEST], ids=[c[0] for c in CLOSEST])
def test_the_closest(masked, eif, m, levels):
    eif = np.array(eif, float)
    puf, at, level, ambiguous, *_ = closest(
        np.array([masked], float), eif, eif, numeric=np.ones(len(masked), bool), m=m, slack=0.0, keep=9
    )
    known = [(level, at) for at, level in enumerate(levels) if level is not None]
    assert list(zip(level.tolist(), at.tolist(), strict=True)) == sorted(known)
    assert puf.tolist() == [0] * len(known)
    assert not ambiguous.any()


def test_a_category_is_near_to_itself_alone():
    puf, eif = np.array([[0.0, 7.0]]), np.array([[0.0, 9.0], [1.0, 7.0], [0.0, 8.0]])
    numeric = np.array([False, True])
    found = closest(puf, eif, eif, numeric=numeric, m=2, slack=0.0, keep=9)
    assert (found[1].tolist(), found[2].tolist()) == ([2, 0], [2, 3])  # 7 of another category is nearer
    assert closest(puf, eif, eif, numeric=numeric, m=1, slack=0.0, keep=2)[3].tolist() == [True]


@pytest.mark.parametrize(("n_puf", "n_eif"), [(0, 3), (3, 0), (0, 0)])
def test_the_closest_of_no_record(n_puf, n_eif):
    puf, eif = np.ones((n_puf, 2)), np.ones((n_eif, 2))
    found = closest(puf, eif, eif, numeric=np.ones(2, bool), m=1, slack=0.0, keep=2)
    assert [len(column) for column in found] == [0, 0, 0, n_puf, n_puf, n_puf]
    assert not found[3].any()


def test_bad_calls_of_the_closest():
    two, three = np.zeros((4, 2)), np.zeros((4, 3))
    numeric, good = np.ones(2, bool), {"m": 1, "slack": 0.0, "keep": 1}
    for matrices in ((two, two, three), (three, two, two), (two, two[0], two)):
        with pytest.raises(ValueError, match="with 2 columns"):
            closest(*matrices, numeric=numeric, **good)
    for bad in ({"m": 0}, {"m": 3}, {"keep": 0}):
        with pytest.raises(ValueError, match=r"(m|keep) must be"):
            closest(two, two, two, numeric=numeric, **good | bad)
    wide = np.zeros((1, 256))
    with pytest.raises(ValueError, match="at most 255 variables"):
        closest(wide, wide, wide, numeric=np.ones(256, bool), **good)


def test_bad_calls():
    two, three = np.zeros((4, 2)), np.zeros((4, 3))
    with pytest.raises(ValueError, match="same columns"):
        most_agreements(two, two, three, min_agree=1, keep=1)
    with pytest.raises(ValueError, match="same columns"):
        most_agreements(two, two[:1], two, min_agree=1, keep=1)
    for options in ({"min_agree": 0, "keep": 1}, {"min_agree": 1, "keep": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            most_agreements(two, two, two, **options)


def test_more_agreements_than_variables_are_never_found():
    equal = np.zeros((4, 2))
    assert len(most_agreements(equal, equal, equal, min_agree=3, keep=5)[0]) == 0
    assert len(most_agreements(equal, equal, equal, min_agree=2, keep=5)[0]) == 16
