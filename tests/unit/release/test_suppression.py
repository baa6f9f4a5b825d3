"""Suppressions that protect published counts (METHODS §11)."""

import math

import pytest
from making.editions import CENSUS, SAFELY, drawn, facts, publish, required
from reident.release.cells import SUPPRESSED, Cell, Published
from reident.release.facts import Facts
from reident.release.linear import Relation
from reident.release.relations import relations
from reident.release.suppression import default_weights, protect

A, B, C, TOTAL = (Cell("n", stratum=stratum) for stratum in ("a", "b", "c", "ALL"))
SUM = [Relation({A: 1.0, B: 1.0, C: 1.0, TOTAL: -1.0}, 0, 0, "sum")]


def exact(count):
    return Published(str(count), count, count, count)


def test_a_suppressed_count_is_not_the_difference_of_the_others():
    """One small count among exact ones: a second stratum is suppressed, not the dear total."""
    cells = {A: Published("<15", None, 0, 14), B: exact(20), C: exact(30), TOTAL: exact(57)}
    found = protect(cells, SUM, {}, {A: 14})
    assert found.suppressed in {(B,), (C,)}
    assert found.weight == 1
    assert found.audit[A].width.proven >= 14


def test_a_known_count_is_not_suppressed_and_protects_nothing():
    cells = {A: Published("<15", None, 0, 14), B: exact(20), C: exact(30), TOTAL: exact(57)}
    found = protect(cells, SUM, {B: 20, C: 30}, {A: 14})
    assert found.suppressed == (TOTAL,)
    found = protect(cells, SUM, {B: 20, C: 30, TOTAL: 57}, {A: 14})
    assert found.suppressed == ()
    assert found.audit[A].required == 0, "known counts give it away; no suppression helps"
    assert found.audit[A].asked == 14


def test_wide_counts_need_no_suppression():
    cells = {cell: Published("100", 100, 75, 125) for cell in (A, B, C)}
    cells[TOTAL] = Published("300", 300, 275, 325)
    found = protect(cells, SUM, {}, dict.fromkeys(cells, 25))
    assert not found.suppressed
    assert not found.cuts


def test_a_count_that_is_suppressed_from_the_start_stays_so():
    cells = {A: Published(SUPPRESSED, None, 0, 2**62), B: exact(20), C: exact(30), TOTAL: exact(57)}
    found = protect(cells, SUM, {}, {A: 14})
    assert found.audit[A].status == "suppressed"
    assert len(found.suppressed) == 1


def test_weights_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        protect({A: exact(1)}, [], {}, {}, {A: 0.0})


def test_counts_that_contradict_the_relations_are_refused():
    with pytest.raises(ValueError, match="contradict"):
        protect({A: exact(1), B: exact(1), C: exact(1), TOTAL: exact(4)}, SUM, {}, {})


def test_totals_in_force_are_dear():
    base = Cell("n_suspected", metric="m", rank_limit=5)
    cells = [
        base,
        base._replace(rank_limit=4),
        base._replace(stratum="s"),
        base._replace(variant="v"),
        Cell("n_puf"),
    ]
    assert default_weights(cells) == dict(zip(cells, [10, 1, 1, 10, 10], strict=True))


STUDIES = {
    "one stratum": {"s1": 80},
    "everything is small": {"s1": 3, "s2": 1, "s3": 2},
    "empty strata": {"s1": 0, "s2": 40, "s3": 0},
    "equal strata": dict.fromkeys(["s1", "s2", "s3", "s4"], 30),
    "two strata, one of them small": {"s1": 400, "s2": 2},
}


@pytest.mark.parametrize("policy", [CENSUS, SAFELY])
@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("suspects", [True, False])
def test_every_count_is_protected(name, policy, suspects):
    counts = drawn(STUDIES[name], keep=6)
    if not suspects:
        counts = {cell: 0 if cell.metric else count for cell, count in counts.items()}
    cells = {cell: publish(policy, count) for cell, count in counts.items()}
    known = {cell: count for cell, count in counts.items() if cell.quantity == "n_puf"}
    found = protect(cells, relations(cells, facts(counts)), known, required)
    for cell, one in found.audit.items():
        assert one.width.proven >= one.required
        assert one.required <= one.asked or cell in known
        assert one.width.low <= counts[cell] <= one.width.high or not one.width.is_exact
    assert not set(found.suppressed) & set(known)


def test_studies_that_round_alike_are_protected_alike():
    """The pattern depends on what is published alone."""
    counts = drawn({"s1": 60, "s2": 12, "s3": 35})
    cells = {cell: publish(CENSUS, count) for cell, count in counts.items()}
    rows = relations(cells, facts(counts))
    one = protect(cells, rows, {}, required)
    other = protect(dict(reversed(cells.items())), rows[::-1], {}, required)
    assert one == other


def test_a_sharp_limit_is_an_integer_relation():
    part, whole = Cell("n_confirmed", metric="m"), Cell("n_suspected", metric="m")
    from reident.release.facts import Limit

    breaks = relations([part, whole], Facts(limits=(Limit(part, whole, 0.05, "breaks"),)))[-1]
    assert breaks[1:3] == (1, math.inf)
    assert breaks.terms == {part: 20.0, whole: -1.0}
    loose = relations([part, whole], Facts(limits=(Limit(part, whole, 0.123456, "breaks"),)))[-1]
    assert loose.low == 0
