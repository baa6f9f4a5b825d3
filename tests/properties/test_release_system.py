"""The audit of published counts against every point and every pattern of tiny systems (METHODS §11)."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import release as oracle
from reident.release import solver
from reident.release.calls import Calls
from reident.release.cells import Cell, Published
from reident.release.feasibility import narrow
from reident.release.linear import Relation
from reident.release.suppression import protect
from reident.release.system import System

LARGEST = 7


@st.composite
def systems(draw, most=5):
    """Intervals around true counts, and relations that are true of these counts."""
    n = draw(st.integers(2, most))
    cells = [Cell("n", stratum=f"s{at}") for at in range(n)]
    truth = [draw(st.integers(0, 5)) for _ in cells]
    base = draw(st.sampled_from([1, 2, 3]))
    intervals = {
        cell: (count // base * base, count // base * base + base - 1) for cell, count in zip(cells, truth, strict=True)
    }
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        factors = [draw(st.sampled_from([-2, -1, 0, 1, 1])) for _ in cells]
        total = sum(factor * count for factor, count in zip(factors, truth, strict=True))
        kind = draw(st.sampled_from(["equal", "at most", "at least"]))
        low = -math.inf if kind == "at most" else total - draw(st.integers(0, 1)) * (kind != "equal")
        high = math.inf if kind == "at least" else total
        terms = {cell: float(factor) for cell, factor in zip(cells, factors, strict=True) if factor}
        if terms:
            rows.append(Relation(terms, low, high, kind))
    return intervals, rows


@given(systems())
def test_intervals_are_those_of_all_points(case):
    intervals, rows = case
    found = narrow(System(rows, intervals, LARGEST))
    expected = oracle.widest(intervals, rows)
    assert {cell: found[cell][:2] for cell in intervals} == expected
    assert all(found[cell].is_exact for cell in intervals)


@given(systems(most=4), st.randoms(use_true_random=False), st.data())
def test_no_pattern_of_less_weight_protects(case, shuffle, data):
    """Requirements, the least weight, and the same pattern for every order of cells and relations."""
    intervals, rows = case
    published = {cell: Published(f"{low}", low, low, high) for cell, (low, high) in intervals.items()}
    weights = {cell: data.draw(st.sampled_from([1.0, 2.0, 10.0])) for cell in intervals}
    dear = data.draw(st.sets(st.sampled_from(sorted(intervals)), max_size=1))
    free = {cell: weight for cell, weight in weights.items() if cell not in dear}
    asked = {cell: data.draw(st.integers(0, 4)) for cell in intervals}
    found = protect(published, rows, {}, asked, free, Calls(), LARGEST)
    required = oracle.attainable(intervals, rows, asked, free, LARGEST)
    assert {cell: one.required for cell, one in found.audit.items()} == required
    assert oracle.protects(intervals, rows, set(found.suppressed), required, LARGEST)
    assert found.weight == oracle.least_weight(intervals, rows, required, free, LARGEST)
    widths = oracle.widest(oracle.suppressed(intervals, set(found.suppressed), LARGEST), rows)
    for cell, one in found.audit.items():
        assert widths[cell][0] <= one.width.low <= one.width.high <= widths[cell][1]
        assert one.width.proven >= required[cell]
    turned = list(published.items())
    shuffle.shuffle(turned)
    assert protect(dict(turned), rows[::-1], {}, asked, free, Calls(), LARGEST) == found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(systems(most=4), st.data(), st.sampled_from([0, 20, 60]), st.sampled_from([0, 1000]))
def test_a_search_that_ends_early_protects_too(monkeypatch, case, data, limit, nodes):
    """What the policy asks for is kept, or what is left with every count suppressed."""
    monkeypatch.setattr(solver, "MAX_NODES", nodes)
    intervals, rows = case
    published = {cell: Published(f"{low}", low, low, high) for cell, (low, high) in intervals.items()}
    asked = {cell: data.draw(st.integers(0, 4)) for cell in intervals}
    free = dict.fromkeys(intervals, 1.0)
    found = protect(published, rows, {}, asked, free, Calls(limit), LARGEST)
    required = oracle.attainable(intervals, rows, asked, free, LARGEST)
    assert oracle.protects(intervals, rows, set(found.suppressed), required, LARGEST)
    widths = oracle.widest(oracle.suppressed(intervals, set(found.suppressed), LARGEST), rows)
    for cell, one in found.audit.items():
        assert widths[cell][0] <= one.width.low <= one.width.high <= widths[cell][1]
        assert one.required <= required[cell] or one.width.proven >= one.required


def test_relations_that_contradict_each_other_are_refused():
    cell = Cell("n")
    with pytest.raises(ValueError, match="contradict"):
        narrow(System([Relation({cell: 1.0}, 5, 5, "five")], {cell: (0, 4)}, LARGEST))
