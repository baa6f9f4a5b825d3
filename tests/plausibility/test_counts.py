"""The counts of the checks of a description, against those made record by record (METHODS §1.1)."""

from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import description as oracle
from reident.plausibility import joins, numbers, parts, recodes

VALUES = st.lists(st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 6))), max_size=14)
PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


def columns(records):
    """The strata and the numbers of some records, NaN where missing."""
    strata = np.array([stratum for stratum, _ in records], np.int32)
    return strata, np.array([np.nan if value is None else value for _, value in records], float)


@given(puf=VALUES, eif=VALUES)
def test_single_equal_numbers_are_those_of_one_record_in_each_file(puf, eif):
    (strata, ours), (others, theirs) = columns(puf), columns(eif)
    shifts = (0.0, 1.0, -2.0)
    sides = {"puf": ours, "eif": theirs}, {"puf": strata, "eif": others}
    for shift, found in zip(shifts, joins.single_equal(*sides, shifts), strict=True):
        moved = [(stratum, None if number is None else number + shift) for stratum, number in eif]
        assert set(zip(*(rows.tolist() for rows in found), strict=True)) == oracle.single_equal(puf, moved)


@given(pairs=PAIRS, reach=st.integers(0, 3))
def test_agreement_and_chance_are_shares_of_pairs(pairs, reach):
    puf, eif = (list(side) for side in zip(*pairs, strict=True))
    sides = np.array(puf, float), np.array(eif, float), reach
    found = parts.agreement(*sides), parts.by_chance(*sides)
    assert found == pytest.approx(oracle.agreement(puf, eif, reach))


@given(pairs=PAIRS, more=st.integers(0, 30))
def test_a_part_is_off_by_the_difference_that_stands_out(pairs, more):
    pairs = [*pairs, *((100 + at, 150 + at) for at in range(more))]
    puf, eif = (list(side) for side in zip(*pairs, strict=True))
    found = numbers.part_offset(np.array(puf, float), np.array(eif, float))
    differences, first, second = oracle.most_frequent_difference(puf, eif)
    n = len(set(pairs))
    if first < max(12, 0.12 * n) or first <= 3 * second:
        assert found is None
    else:
        assert (found[0], {found[1]}) == (pytest.approx(first / n), differences)


@given(
    cells=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    others=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    data=st.data(),
)
def test_records_without_a_link_that_resemble_another_are_counted(cells, others, data):
    linked = data.draw(st.sets(st.integers(0, len(cells) - 1)))
    sides = {"puf": np.array(cells), "eif": np.array(others)}
    links = {"puf": np.array(sorted(linked), int), "eif": np.empty(0, int)}
    n, twins, single, first = oracle.resembling(cells, others, linked)
    found, chance = joins.resembling(sides, links, "puf", "join")
    assert found == n
    assert (chance > 0) == (twins > 0)
    assert joins.resembling(sides, links, "puf", "unique_join")[0] == single
    assert joins.resembling(sides, links, "puf", "first_join")[0] == first


@given(
    ends=st.lists(st.integers(0, 30), max_size=12, unique=True),
    codes=st.lists(st.sampled_from("ab"), min_size=6, max_size=6),
)
def test_ranges_of_a_code_are_its_numbers(ends, codes):
    ends = sorted(ends)[: len(ends) // 2 * 2]
    table = {(ends[at], ends[at + 1]): codes[at // 2] for at in range(0, len(ends), 2)}
    found = recodes.ranges({f"{first}-{last}": code for (first, last), code in table.items()})
    covered = {
        code: {n for n in range(32) for first, last in spans if first <= n <= last} for code, spans in found.items()
    }
    assert covered == oracle.codes_of(table, range(32))
    assert all(before[1] + 1 < after[0] for spans in found.values() for before, after in pairwise(spans))


DATES = st.dates(date(1940, 1, 1), date(2025, 12, 31))


@st.composite
def dates(draw):
    """A date, and one that may have its day and month exchanged, its year or month alone, or be any other."""
    one = draw(DATES)
    made = [one, date(one.year, 1, 1), date(one.year, 7, 1), one.replace(day=1), one.replace(day=15), draw(DATES)]
    made += [one + timedelta(days=1), *([date(one.year, one.day, one.month)] if one.day <= 12 else [])]
    return one, draw(st.sampled_from(made))


@given(pairs=st.lists(dates(), min_size=1, max_size=20))
def test_exchanged_and_coarse_dates_are_those_of_the_calendar(pairs):
    x, y = (np.array([one.toordinal() for one in side], float) for side in zip(*pairs, strict=True))
    assert numbers.exchanged(x, y) == pytest.approx(oracle.exchanged(pairs))
    assert numbers.coarse_dates(x, y) == pytest.approx(oracle.coarse(pairs))
