"""Which counts are tied to each other, and which are suppressed together (METHODS §11.3)."""

import numpy as np
import pytest
from making.editions import CENSUS, drawn, facts, publish, required
from reident.release import calls, solver
from reident.release.calls import Calls
from reident.release.cells import Cell, Published
from reident.release.feasibility import narrow
from reident.release.groups import Ties, levels
from reident.release.linear import Relation
from reident.release.relations import relations
from reident.release.suppression import protect
from reident.release.system import System

A, B, C, D = (Cell("n", stratum=name) for name in "abcd")
ROWS = [
    Relation({A: 1.0, C: -1.0}, 0, 0, "a = c"),
    Relation({C: 1.0, B: 1.0, D: -1.0}, 0, np.inf, "d ≤ c + b"),
]


def test_what_can_vary_ties_components_together():
    free = System(ROWS, dict.fromkeys((A, B, C, D), (0, 9)), 50)
    assert len(set(Ties(free).component)) == 1


def test_a_constant_ties_nothing_together():
    known = System(ROWS, {A: (0, 9), B: (0, 9), C: (4, 4), D: (0, 9)}, 50)
    of = dict(zip(known.cells, Ties(known).component.tolist(), strict=True))
    assert of[B] == of[D]
    assert len({of[A], of[B], of[C]}) == 3


def test_distances_are_those_of_relations():
    free = System(ROWS, dict.fromkeys((A, B, C, D), (0, 9)), 50)
    assert Ties(free).distances(free.place[A]).tolist() == [0, 4, 2, 4]
    known = System(ROWS, {A: (0, 9), B: (0, 9), C: (4, 4), D: (0, 9)}, 50)
    assert Ties(known).distances(known.place[B]).tolist() == [np.inf, 0, np.inf, 2]


def test_relations_that_cancel_out_tie_all_the_same():
    rows = [
        Relation({A: 1.0, B: 1.0}, 0, 5, "sum"),
        Relation({A: 1.0, B: -1.0}, 0, 5, "difference"),
    ]
    assert len(set(Ties(System(rows, {A: (0, 9), B: (0, 9)}, 50)).component)) == 1


def test_groups_grow_from_a_line_to_all_counts():
    line = Cell("n_suspected", metric="m", rank_limit=5)
    steps = [
        line._replace(quantity="n_confirmed"),
        line._replace(rank_limit=4),
        line._replace(stratum="s"),
        line._replace(metric="other"),
        Cell("below_2", other="category"),
    ]
    together = [
        [bool(group[at] == group[0]) for at in range(1, len(steps) + 1)] for group in levels([line, *steps])
    ]
    assert together == [[at < level for at in range(5)] for level in range(1, 6)]


def test_conventions_and_scenarios_are_lines():
    cells = [
        Cell("below_2", other="category"),
        Cell("below_3", other="category"),
        Cell("below_2", other="wildcard"),
    ]
    cells += [
        Cell("match_own", other="few|1|0|0"),
        Cell("match_targets", other="few|1|1|1"),
        Cell("match_own", other="many|1|0|0"),
    ]
    group = next(levels(cells)).tolist()
    assert group[0] == group[1] != group[2]
    assert group[3] == group[4] != group[5]


def test_the_counts_of_an_earlier_edition_are_in_the_groups_of_the_new_one():
    cells = [Cell("n_suspected", metric="m"), Cell("n_suspected", file="released@1", metric="m")]
    assert len(set(next(levels(cells)))) == 1


# The limit ----------------------------------------------------------------------------------------


def test_calls_are_spent_by_phase():
    shares = []
    spent = Calls(10, shares.append)
    spent.add(4)
    assert not spent.are_spent
    spent.add(6)
    assert spent.are_spent
    spent.renew()
    assert not spent.are_spent
    spent.add(15)
    assert shares == [pytest.approx(share) for share in (4 / 30, 10 / 30, 25 / 30)]


def test_no_limit_is_never_reached_and_a_phase_can_be_ended():
    spent = Calls()
    spent.add(10**9)
    assert not spent.are_spent
    spent.end()
    assert spent.are_spent
    spent.renew()
    assert not spent.are_spent


def thirds():
    """Three counts of which each two are at most one, and their sum: fractions reach 3/2."""
    pairs = ((A, B), (B, C), (A, C))
    rows = [Relation({one: 1.0, other: 1.0}, 0, 1, "at most one of two") for one, other in pairs]
    return System(
        [*rows, Relation({A: 1.0, B: 1.0, C: 1.0, D: -1.0}, 0, 0, "sum")],
        dict.fromkeys((A, B, C), (0, 1)),
        50,
    )


def test_a_search_that_ends_early_proves_no_bound(monkeypatch):
    """The widths are those of witnesses; that no other count is possible is not claimed."""
    exact = narrow(thirds())
    monkeypatch.setattr(solver, "MAX_NODES", 0)
    for cell, width in narrow(thirds()).items():
        assert exact[cell].low >= width.outer_low
        assert exact[cell].high <= width.outer_high
        assert exact[cell].low <= width.low <= width.high <= exact[cell].high


def test_spent_calls_leave_widths_open():
    system = thirds()
    system.calls.limit = 0
    widths = narrow(system)
    assert not widths[D].is_exact
    assert widths[D].possible(5) == widths[D].outer_high - widths[D].outer_low
    assert widths[D].possible(0) == widths[D].proven == 0


@pytest.mark.parametrize("limit", [0, 30, 100, 300])
def test_whole_groups_are_suppressed_where_the_calls_are_spent(limit):
    counts = drawn({"s1": 60, "s2": 12, "s3": 35}, keep=7)
    cells = {cell: publish(CENSUS, count) for cell, count in counts.items()}
    rows = relations(cells, facts(counts))
    least = protect(cells, rows, {}, required)
    found = protect(cells, rows, {}, required, calls=Calls(limit))
    assert least.is_least
    assert found.weight >= least.weight
    assert found.suppressed == least.suppressed or not found.is_least
    assert all(one.width.proven >= one.required for one in found.audit.values())
    again = protect(dict(reversed(cells.items())), rows[::-1], {}, required, calls=Calls(limit))
    assert again == found


def test_the_default_limit_grows_with_the_edition():
    assert calls.limit(500) - calls.limit(0) == 500 * calls.PER_CELL


def test_a_cut_names_few_cells():
    """Whole cells of two leave 12 and 14 open, fractions 12 to 15; the cheap counts around have no part in it."""
    below_2, below_3 = (Cell(name, other="category") for name in ("below_2", "below_3"))
    pairs = Cell("cells_of_2", other="category")
    row = Relation({below_3: 1.0, below_2: -1.0, pairs: -2.0}, 0, 0, "pairs")
    others = {Cell("n", stratum=f"s{at}"): Published("9", 9, 8, 10) for at in range(30)}
    cells = {below_2: Published("10", 10, 10, 10), below_3: Published("15", 15, 12, 15), **others}
    asked = {below_3: 3}
    found = protect(cells, [row, Relation(dict.fromkeys(others, 1.0), 0, 400, "others")], {}, asked)
    assert found.suppressed in {(below_2,), (below_3,)}
    assert found.cuts == 1
