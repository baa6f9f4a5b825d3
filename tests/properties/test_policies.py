"""Rounding policies: any valid one against counting, and what follows from published counts (METHODS §11)."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracles import rounding as oracle
from pydantic import ValidationError
from reident.release.cells import Published
from reident.release.policies import bounds, cut_point, interval, publish, rate
from reident.sections.release import MAX_COUNT, Policy
from reident.study import rounding

FIXED = {name: rounding.load(rounding.FOLDER / f"{name}.yaml") for name in oracle.FIXED}
RANDOM = {name: rounding.load(rounding.FOLDER / f"{name}.yaml") for name in oracle.BASES}
BASE = FIXED["opensafely"].model_dump()
END = 3000
COUNTS = st.integers(0, MAX_COUNT) | st.integers(0, 12).flatmap(
    lambda power: st.integers(0, min(MAX_COUNT, 10**power * 2))
)
SEEDS = st.text(st.characters(codec="utf-8"), min_size=16, max_size=30)


@st.composite
def rules(draw):
    """A policy file of bands, most of them valid."""
    ends = sorted(draw(st.sets(st.integers(1, 400), max_size=3)))
    bases = sorted(draw(st.lists(st.integers(1, 60), min_size=len(ends), max_size=len(ends))))
    bands = [{"up_to": end, "nearest": base} for end, base in zip(ends, bases, strict=True)]
    last = draw(st.integers(1, 100).map(lambda base: {"nearest": base}) | st.just({"significant_digits": 2}))
    small = draw(st.none() | st.integers(2, 30).map(lambda below: {"below": below, "shown": f"<{below}"}))
    zero = draw(st.sampled_from(["small", "shown"]))
    return {**BASE, "bands": [*bands, last], "small": small, "zero": zero}


@given(content=rules())
def test_the_interval_of_any_policy_is_what_counting_finds(content):
    """And a larger count is never published as a smaller number."""
    try:
        policy = Policy.model_validate(content)
    except ValidationError:
        assume(False)
    published = [publish(policy, count) for count in range(END)]
    images = oracle.images(lambda count: published[count].text, END)
    for text, counts in images.items():
        if counts[-1] < END - 400:
            assert counts == list(range(counts[0], counts[-1] + 1))
            assert interval(policy, text) == (counts[0], counts[-1]), text
            assert published[counts[0]][2:] == (counts[0], counts[-1])
    values = [one.value for one in published if one.value is not None]
    assert values == sorted(values)


@given(name=st.sampled_from(sorted(FIXED)), count=COUNTS)
@example(name="census-drb", count=MAX_COUNT)
@example(name="none", count=MAX_COUNT)
def test_counts_of_every_size_are_published_as_by_the_oracle(name, count):
    policy = FIXED[name]
    published = publish(policy, count)
    assert published.text == oracle.FIXED[name](count)
    assert interval(policy, published.text) == published[2:]
    assert published.low <= count <= published.high
    assert publish(policy, published.low) == publish(policy, published.high) == published
    for outside in (published.low - 1, published.high + 1):
        if 0 <= outside <= MAX_COUNT:
            assert publish(policy, outside).text != published.text


@given(name=st.sampled_from(sorted(RANDOM)), count=COUNTS, cell=st.text(max_size=20), seed=SEEDS)
def test_random_rounding_takes_one_of_two_multiples_and_the_same_each_time(name, count, cell, seed):
    policy, base = RANDOM[name], oracle.BASES[name]
    published = publish(policy, count, cell, seed)
    assert published.value in oracle.around(count, base)[:2]
    assert published == publish(policy, count, cell, seed)
    assert (published.low, published.high) == interval(policy, published.text)
    assert (published.low, published.high) == (
        max(0, published.value - base + 1),
        min(MAX_COUNT, published.value + base - 1),
    )


NUMBERS = st.integers(0, 5000) | st.integers(0, MAX_COUNT)


@given(part=NUMBERS, whole=NUMBERS, decimals=st.integers(0, 4), extremes=st.sampled_from(["suppressed", "shown"]))
@example(part=1, whole=2000, decimals=1, extremes="shown")
@example(part=3, whole=2000, decimals=1, extremes="shown")
def test_a_rate_is_the_rounded_fraction_of_published_numbers(part, whole, decimals, extremes):
    """The exact counts behind them have no part in it."""
    policy = Policy.model_validate({**BASE, "rates": {"decimals": decimals}, "extremes": extremes})
    found = rate(policy, Published(str(part), part, part, part), Published(str(whole), whole, 0, MAX_COUNT))
    low, high = bounds(policy, Published(str(part), part, 0, 0), Published(str(whole), whole, 0, 0))
    if part > whole or whole == 0:
        assert found == low == high == ""
        return
    expected = oracle.rate(part, whole, decimals + 2)
    if extremes == "suppressed" and expected in {0, 1}:
        assert found == low == high == ""
        return
    assert Fraction(found) == expected
    assert len(found.partition(".")[2]) == len(low.partition(".")[2]) == len(high.partition(".")[2]) == decimals + 2
    assert 0 <= Fraction(low) <= Fraction(high) <= 1
    assert Fraction(low) <= Fraction(part, whole) <= Fraction(high)


@given(
    value=st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=6)
    | st.integers(-(10**9), 10**9).map(Decimal),
    digits=st.integers(1, 6),
)
@example(value=Decimal("-0.000015"), digits=1)
@example(value=Decimal(999500), digits=3)
def test_a_cut_point_is_the_nearest_number_with_these_digits(value, digits):
    policy = Policy.model_validate({**BASE, "cut_points": {"significant_digits": digits}})
    found = cut_point(policy, value)
    assert Fraction(found) == oracle.significant(Fraction(value), digits)
    assert "e" not in found.lower()
    assert "." not in found or not found.endswith(("0", "."))
    assert found != "-0"
    assert cut_point(policy, found) == found


@given(value=st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_a_cut_point_that_is_a_float_is_its_shortest_decimal(value):
    assert float(cut_point(FIXED["none"], value)) == pytest.approx(value, rel=0, abs=0)
