"""What each policy publishes: tables computed by hand, the oracle for 0 … 2,000, inverse images, rates, cut points."""

import json
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial

import pytest
from oracles import rounding as oracle
from reident.linkage import intervals
from reident.release import policies
from reident.release.cells import Published
from reident.release.policies import bounds, cut_point, interval, publish, rate
from reident.sections.release import MAX_COUNT, Policy
from reident.study import rounding

SEED = "a seed of the tests"


@cache
def policy(name):
    return rounding.load(rounding.FOLDER / f"{name}.yaml")


def changed(name, **fields):
    return Policy.model_validate({**policy(name).model_dump(), **fields})


# Computed by hand.


CENSUS = """
    0 <15  1 <15  7 <15  14 <15  15 20  24 20  25 20  26 30  34 30  35 40  36 40  44 40  45 40  55 60  65 60  75 80
    85 80  94 90  95 100  99 100  100 100  124 100  125 100  126 150  174 150  175 200  225 200  275 300  974 950
    975 1000  999 1000  1000 1000  1049 1000  1050 1000  1051 1100  1150 1200  9949 9900  9950 10000
    9999 10000  10000 10000  10249 10000  10250 10000  10251 10500  10750 11000  99749 99500  99750 100000  99999 100000
    100499 100000  100500 100000  101500 102000  999499 999000  999500 1000000  999999 1000000  1000499 1000000
    1000500 1000000  1001500 1002000  1234567 1235000  12345000 12340000  12345678 12350000  999950000 1000000000
    1000000000000 1000000000000
"""
OPENSAFELY = """
    0 [REDACTED]  1 [REDACTED]  5 [REDACTED]  7 [REDACTED]  8 10  9 10  10 10  11 10  12 10  13 15  14 15  15 15  17 15
    18 20  22 20  23 25  25 25  27 25  28 30  35 35  37 35  38 40  99 100  100 100  102 100  103 105  125 125  127 125
    128 130  999 1000  1000 1000  1002 1000  1003 1005  9950 9950  9952 9950  9953 9955  99750 99750  999499 999500
    999500 999500  999502 999500  999503 999505  1234567 1234565  1234568 1234570
"""
MIDPOINT = """
    0 0  1 3  3 3  6 3  7 9  12 9  13 15  14 15  15 15  18 15  19 21  24 21  25 27  30 27  31 33  35 33  36 33  37 39
    99 99  100 99  102 99  103 105  125 123  126 123  127 129  999 999  1000 999  1002 999  1003 1005  9950 9951
    99750 99747  99751 99753  999499 999501  999500 999501  999504 999501  999505 999507  1234567 1234569
"""
NONE = """
    0 0  1 1  2 2  3 3  5 5  7 7  8 8  10 10  14 14  15 15  16 16  25 25  35 35  45 45  50 50  99 99  100 100  101 101
    125 125  175 175  999 999  1000 1000  1001 1001  9950 9950  10000 10000  99750 99750  100000 100000  999499 999499
    999500 999500  1000000 1000000  1234567 1234567  1000000000000 1000000000000
"""
BY_HAND = {"census-drb": CENSUS, "opensafely": OPENSAFELY, "midpoint-6": MIDPOINT, "none": NONE}

# The count, the multiple below, the one above, and the chance of the one above, in fifths or thirds.
BY_5 = """
    0 0 0 0,  1 0 5 1,  2 0 5 2,  3 0 5 3,  4 0 5 4,  5 5 5 0,  6 5 10 1,  7 5 10 2,  8 5 10 3,  9 5 10 4,  10 10 10 0,
    11 10 15 1,  14 10 15 4,  15 15 15 0,  24 20 25 4,  25 25 25 0,  34 30 35 4,  35 35 35 0,  36 35 40 1,  99 95 100 4,
    100 100 100 0,  101 100 105 1,  102 100 105 2,  125 125 125 0,  126 125 130 1,  127 125 130 2,  999 995 1000 4,
    1000 1000 1000 0,  1001 1000 1005 1,  9950 9950 9950 0,  99750 99750 99750 0,  999499 999495 999500 4,
    999500 999500 999500 0,  1234567 1234565 1234570 2
"""
BY_3 = """
    0 0 0 0,  1 0 3 1,  2 0 3 2,  3 3 3 0,  4 3 6 1,  5 3 6 2,  6 6 6 0,  7 6 9 1,  8 6 9 2,  9 9 9 0,  10 9 12 1,
    11 9 12 2,  14 12 15 2,  15 15 15 0,  24 24 24 0,  25 24 27 1,  34 33 36 1,  35 33 36 2,  36 36 36 0,  99 99 99 0,
    100 99 102 1,  101 99 102 2,  102 102 102 0,  125 123 126 2,  126 126 126 0,  127 126 129 1,  999 999 999 0,
    1000 999 1002 1,  1001 999 1002 2,  9950 9948 9951 2,  99750 99750 99750 0,  999499 999498 999501 1,
    999500 999498 999501 2,  1234567 1234566 1234569 1
"""
AROUND = {"base-5-random": BY_5, "base-3-random": BY_3}


@pytest.mark.parametrize("name", BY_HAND)
def test_counts_are_published_as_computed_by_hand(name):
    cells = BY_HAND[name].split()
    pairs = list(zip(map(int, cells[::2]), cells[1::2], strict=True))
    assert len(pairs) >= 30
    assert {14, 15, 25, 35, 99, 100, 125, 999, 1000, 9950, 99750, 999499, 999500, 1234567} <= dict(pairs).keys()
    assert [(count, publish(policy(name), count).text) for count, _ in pairs] == pairs
    assert [(count, oracle.FIXED[name](count)) for count, _ in pairs] == pairs


@pytest.mark.parametrize("name", AROUND)
def test_random_rounding_takes_the_multiples_computed_by_hand(name):
    lines = [tuple(map(int, line.split())) for line in AROUND[name].split(",")]
    assert len(lines) >= 30
    assert {14, 15, 25, 35, 99, 100, 125, 999, 1000, 9950, 99750, 999499, 999500, 1234567} <= {one[0] for one in lines}
    for count, below, above, rest in lines:
        assert oracle.around(count, oracle.BASES[name]) == (below, above, Fraction(rest, oracle.BASES[name]))
        drawn = {publish(policy(name), count, f"cell {at}", SEED).value for at in range(60)}
        assert drawn == {below, above}, count


BOUNDS = sorted(
    {
        count + shift
        for power in range(3, 12)
        for count in (10**power, 10**power // 2 * 5, 999_500, 99_750, 9_950, 10**power + 10**power // 200)
        for shift in range(-3, 4)
    }
    | {MAX_COUNT - 1, MAX_COUNT}
)


@pytest.mark.parametrize("name", oracle.FIXED)
def test_counts_to_2000_and_at_the_bounds_are_published_as_by_the_oracle(name):
    for count in [*range(2001), *BOUNDS]:
        published = publish(policy(name), count)
        assert published.text == oracle.FIXED[name](count), count
        assert published.low <= count <= published.high
        assert published.value == (int(published.text) if published.text.isdigit() else None)


@pytest.mark.parametrize("name", oracle.BASES)
def test_random_counts_to_2000_and_at_the_bounds_are_one_of_two_multiples(name):
    for count in [*range(2001), *BOUNDS]:
        published, (below, above, _) = (
            publish(policy(name), count, "", SEED),
            oracle.around(count, oracle.BASES[name]),
        )
        assert published.value in {below, above}, count
        assert published.low <= count <= published.high
        assert published.text == str(published.value)


def test_nothing_has_more_than_four_significant_digits_by_the_rules_of_the_census_bureau():
    for count in [*range(15, 30_000), *BOUNDS, *range(10**6, 10**7, 997)]:
        assert len(publish(policy("census-drb"), count).text.rstrip("0")) <= 4


# Inverse images


@pytest.mark.parametrize("name", oracle.FIXED)
def test_the_interval_is_the_exact_inverse_image(name):
    images = oracle.images(oracle.FIXED[name], 31_000)
    for text, counts in images.items():
        if counts[-1] <= 30_000:
            assert counts == list(range(counts[0], counts[-1] + 1))
            assert interval(policy(name), text) == (counts[0], counts[-1]), text
            assert publish(policy(name), counts[0])[2:] == (counts[0], counts[-1])


@pytest.mark.parametrize("name", oracle.BASES)
def test_the_interval_of_random_rounding_is_every_count_that_can_become_the_number(name):
    images: dict[int, list[int]] = {}
    for count in range(30_100):
        for value in set(oracle.around(count, oracle.BASES[name])[:2]):
            images.setdefault(value, []).append(count)
    for value, counts in images.items():
        if value <= 30_000:
            assert interval(policy(name), str(value)) == (counts[0], counts[-1])
            assert counts == list(range(counts[0], counts[-1] + 1))


@pytest.mark.parametrize("text", ["", "17", "-20", "020", "20.0", "2e1", "1,000", "<10", "<15 ", "x ", "²0", "٢٠"])
def test_a_text_that_the_policy_does_not_publish_has_no_interval(text):
    with pytest.raises(ValueError, match="publishes no count"):
        interval(policy("census-drb"), text)


@pytest.mark.parametrize("count", [-1, MAX_COUNT + 1])
def test_a_count_out_of_range_is_refused(count):
    with pytest.raises(ValueError, match="from 0 to"):
        publish(policy("census-drb"), count)


# Random rounding


@pytest.mark.parametrize("name", oracle.BASES)
def test_random_rounding_is_unbiased_over_seeds(name):
    """Of 4,000 seeds the mean is within 4.5 standard errors of the count, for each rest."""
    base, seeds = oracle.BASES[name], 4000
    for count in (*range(base), 999_499):
        values = [publish(policy(name), count, "cell", f"{SEED} {at}").value for at in range(seeds)]
        below, _, chance = oracle.around(count, base)
        error = base * (float(chance) * float(1 - chance) / seeds) ** 0.5
        assert abs(sum(values) / seeds - count) <= 4.5 * error, count
        assert min(values) == below


@pytest.mark.parametrize("name", oracle.BASES)
def test_equal_cells_with_equal_counts_are_published_alike_and_others_are_not(name):
    draw = partial(publish, policy(name))
    assert {draw(7, "cell", SEED) for _ in range(10)} == {draw(7, "cell", SEED)}
    assert len({draw(7, f"cell {at}", SEED).value for at in range(40)}) == 2
    assert len({draw(7 + 15 * at, "cell", SEED).value - 15 * at for at in range(40)}) == 2


def test_the_draws_do_not_depend_on_the_process():
    program = (
        "from pathlib import Path; from reident.release.policies import publish; from reident.study import rounding;"
        f"policy = rounding.load(Path({str(rounding.FOLDER)!r}) / 'base-5-random.yaml');"
        f"print([publish(policy, count, 'a cell', {SEED!r}).value for count in range(100)])"
    )
    expected = [publish(policy("base-5-random"), count, "a cell", SEED).value for count in range(100)]
    for hash_seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment)
        assert json.loads(ran.stdout) == expected


def test_random_rounding_without_a_seed_is_refused():
    with pytest.raises(ValueError, match="needs a seed"):
        publish(policy("base-5-random"), 7, "cell", "")


# Rates


def number(value):
    return Published(str(value), value, value, value)


SMALL = Published("<15", None, 0, 14)
RATES = [
    (20, 100, "0.200"),
    (150, 350, "0.429"),
    (1, 3, "0.333"),
    (1, 2000, ""),  # halfway between 0.000 and 0.001; 0.000 would read as none
    (3, 2000, "0.002"),
    (5, 2000, "0.002"),
    (1999, 2000, ""),
    (1997, 2000, "0.998"),
    (0, 100, ""),
    (100, 100, ""),
    (0, 0, ""),
    (110, 100, ""),
]


@pytest.mark.parametrize(("part", "whole", "expected"), RATES)
def test_a_rate_is_of_the_published_counts(part, whole, expected):
    assert rate(policy("census-drb"), number(part), number(whole)) == expected


def test_extremes_are_shown_where_the_policy_says_so():
    shown = policy("midpoint-6")
    assert rate(shown, number(0), number(99)) == "0.000"
    assert rate(shown, number(99), number(99)) == "1.000"
    assert rate(shown, number(1), number(2001)) == "0.000"
    assert rate(shown, number(105), number(99)) == ""


@pytest.mark.parametrize("withheld", [SMALL, policies.WITHHELD])
def test_a_rate_with_a_count_that_is_not_published_is_suppressed(withheld):
    for pair in ((withheld, number(100)), (number(20), withheld), (withheld, withheld)):
        assert rate(policy("census-drb"), *pair) == ""
        assert bounds(policy("census-drb"), *pair) == ("", "")


def test_the_interval_of_a_rate_is_of_the_rounded_counts_and_rounded_outward():
    census = policy("census-drb")
    low, high = bounds(census, number(150), number(350))
    exact = intervals.interval(150, 350)
    assert (low, high) == ("0.376", "0.483")
    assert float(low) <= exact.low <= rate_as_number(census, 150, 350) <= exact.high <= float(high)
    assert exact.low - float(low) < 0.001
    assert bounds(policy("none"), number(0), number(10)) == ("0.000", "0.309")
    assert bounds(policy("none"), number(10), number(10)) == ("0.691", "1.000")
    assert bounds(census, number(350), number(350)) == ("", "")
    assert bounds(policy("none"), number(11), number(10)) == ("", "")
    assert bounds(changed("census-drb", intervals="absent"), number(150), number(350)) == ("", "")


def rate_as_number(rules, part, whole):
    return float(rate(rules, number(part), number(whole)))


# Cut points

CUT_POINTS = [
    (0, "0"),
    (-0.0, "0"),
    (7, "7"),
    (12, "12"),
    (125, "120"),
    (135, "140"),
    (995, "1000"),
    (-125, "-120"),
    (-12345.6, "-12000"),
    (0.0125, "0.012"),
    (0.0135, "0.014"),
    (0.1 + 0.2, "0.3"),
    (1.0, "1"),
    (1.05, "1"),
    (1.15, "1.2"),
    (99.5, "100"),
    (1e15, "1000000000000000"),
    (1e-9, "0.000000001"),
    (Decimal("2.50"), "2.5"),
    ("1962", "2000"),
    (Decimal("1E+3"), "1000"),
]


@pytest.mark.parametrize(("value", "expected"), CUT_POINTS)
def test_a_cut_point_has_two_significant_digits(value, expected):
    assert cut_point(policy("census-drb"), value) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "-inf", "wide", ""])
def test_a_cut_point_that_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="finite number"):
        cut_point(policy("census-drb"), value)
