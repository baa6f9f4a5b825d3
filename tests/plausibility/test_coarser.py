"""Numbers that are coarser in one file: the intervals, top code and shift that make both alike (METHODS §1.1)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import descriptions
from making.descriptions import checked
from making.examples import cases
from reident.plausibility import coarser

AGES = np.random.default_rng(5).integers(18, 95, 600).astype(float)
KINDS = [
    ("in threes", AGES // 3 * 3, AGES, "coarsen: {width: 3}"),
    ("in threes by their middle", AGES // 3 * 3 + 1, AGES, "coarsen: {width: 3}"),
    ("a top code", AGES, np.minimum(AGES, 75), "coarsen: {top: 75}"),
    (
        "in threes up to 75, a year earlier",
        np.minimum(AGES // 3 * 3, 75),
        AGES + 1,
        "coarsen: {width: 3, top: 75}, convert: {eif: {plus: -1}}",
    ),
    (
        "the external file in threes, a year later",
        AGES,
        np.minimum((AGES - 1) // 3 * 3, 75),
        "coarsen: {width: 3, top: 75}, convert: {puf: {plus: -1}}",
    ),
]


@pytest.mark.parametrize(("ours", "theirs", "expected"), cases(KINDS))
def test_what_makes_both_files_alike_is_found(ours, theirs, expected):
    found = coarser.find(ours, theirs)
    assert found.words == expected
    assert (found.apply(ours, "puf") == found.apply(theirs, "eif")).mean() == found.equal == 1


def test_numbers_of_one_precision_are_left_alone():
    for other in (AGES, AGES + 1, AGES + np.random.default_rng(6).integers(-1, 2, len(AGES)), 2026 - AGES):
        assert coarser.find(AGES, other) is None


@given(st.integers(2, 9), st.integers(-8, 8), st.booleans())
def test_drawn_intervals_and_shifts_make_as_many_equal_as_they_say(width, shift, swapped):
    sides = AGES // width * width, AGES + shift
    found = coarser.find(*(sides[::-1] if swapped else sides))
    ours, theirs = sides[::-1] if swapped else sides
    moved = {"puf": ours.copy(), "eif": theirs.copy()}
    moved[found.side] += found.plus
    equal = [
        min(one, found.top or 999) // (found.width or 1) == min(other, found.top or 999) // (found.width or 1)
        for one, other in zip(moved["puf"].tolist(), moved["eif"].tolist(), strict=True)
    ]
    assert found.equal == pytest.approx(np.mean(equal))
    assert found.equal > 0.85


def test_ages_in_threes_are_told_with_the_shift():
    study = descriptions.draw(np.random.default_rng(4))
    puf = study.puf.assign(v0=np.minimum(study.puf["v0"].round() // 3 * 3, 75))
    eif = study.eif.assign(v0=study.eif["v0"].round() + 1)
    lines = checked(descriptions.Described(puf, eif, study.links, study.types)).set_index(["scope", "check"])
    assert lines.at[("v0", "coarser"), "proposal"].startswith("coarsen: {width: 3, top: 75}")
    assert lines.at[("v0", "coarser"), "severity"] != ""
