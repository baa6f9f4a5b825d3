"""Suppressions that protect published counts (METHODS §11)."""

import math

import pytest
from making.editions import CENSUS, drawn, facts, protected, required
from reident.release.cells import Cell, Published
from reident.release.facts import Facts
from reident.release.linear import Relation
from reident.release.policies import publish
from reident.release.relations import relations

A, B, C, TOTAL = (Cell("n", stratum=stratum) for stratum in ("a", "b", "c", "ALL"))
SUM = [Relation({A: 1.0, B: 1.0, C: 1.0, TOTAL: -1.0}, 0, 0, "sum")]


def exact(count):
    return Published(str(count), count, count, count)


def test_a_suppressed_count_is_not_the_difference_of_the_others():
    """One small count among exact ones: a second stratum is suppressed, not the dear total."""
    cells = {A: Published("<15", None, 0, 14), B: exact(20), C: exact(30), TOTAL: exact(57)}
    found = protected(cells, SUM, {}, {A: 14})
    assert found.suppressed in {(B,), (C,)}
    assert found.weight == 1
    assert found.audit[A].width.proven >= 14


def test_counts_that_contradict_the_relations_are_refused():
    with pytest.raises(ValueError, match="contradict"):
        protected({A: exact(1), B: exact(1), C: exact(1), TOTAL: exact(4)}, SUM, {}, {})


def test_studies_that_round_alike_are_protected_alike():
    """The pattern depends on what is published alone."""
    counts = drawn({"s1": 60, "s2": 12, "s3": 35})
    cells = {cell: publish(CENSUS, count) for cell, count in counts.items()}
    rows = relations(cells, facts(counts))
    one = protected(cells, rows, {}, required(cells))
    other = protected(dict(reversed(cells.items())), rows[::-1], {}, required(cells))
    assert one == other


def test_a_sharp_limit_is_an_integer_relation():
    part, whole = Cell("n_confirmed", metric="m"), Cell("n_suspected", metric="m")
    from reident.release.facts import LimitOutcome

    breaks = relations([part, whole], Facts(outcomes=(LimitOutcome(part, whole, 0.05, "breaks"),)))[-1]
    assert breaks[1:3] == (1, math.inf)
    assert breaks.terms == {part: 20.0, whole: -1.0}
    loose = relations([part, whole], Facts(outcomes=(LimitOutcome(part, whole, 0.123456, "breaks"),)))[-1]
    assert loose.low == 0
