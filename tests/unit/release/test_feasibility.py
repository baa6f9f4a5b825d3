"""Feasible intervals of published counts, in one piece and in parts (METHODS §11)."""

import pytest
from making.editions import CENSUS, SAFELY, drawn, facts, protected, required
from reident.release import feasibility, suppression
from reident.release.feasibility import narrow, propagate, witness
from reident.release.policies import publish
from reident.release.relations import relations
from reident.release.system import System

SIZES = {"s1": 60, "s2": 12, "s3": 35, "s4": 3, "s5": 120}


def known(counts):
    return {cell: count for cell, count in counts.items() if cell.quantity == "n_puf"}


def system(counts, policy=CENSUS):
    cells = {cell: publish(policy, count) for cell, count in counts.items()}
    ends = {cell: (one.low, one.high) for cell, one in cells.items()}
    ends |= {cell: (count, count) for cell, count in known(counts).items()}
    return System(relations(cells, facts(counts)), ends, 1000)


def in_parts(monkeypatch, size=30):
    for module in (feasibility, suppression):
        monkeypatch.setattr(module, "MAX_CELLS", size)


@pytest.mark.parametrize("policy", [CENSUS, SAFELY])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_system_in_parts_has_the_intervals_of_the_whole(monkeypatch, policy, seed):
    counts = drawn(SIZES, seed=seed, keep=7)
    study = system(counts, policy)
    whole = narrow(study)
    in_parts(monkeypatch)
    parts = narrow(study)
    assert {cell: one[:2] for cell, one in parts.items()} == {cell: one[:2] for cell, one in whole.items()}
    assert all(one.is_exact for one in parts.values())
    low, high = propagate(study)
    for at, cell in enumerate(study.cells):
        assert low[at] <= whole[cell].low <= counts[cell] <= whole[cell].high <= high[at]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_proven_in_parts_holds(monkeypatch, seed):
    """A width that is not proven is too narrow for certain."""
    study = system(drawn(SIZES, seed=seed, keep=7))
    whole = narrow(study)
    needs = dict.fromkeys(study.cells, 10)
    in_parts(monkeypatch)
    for cell, one in narrow(study, needs, witness(study)).items():
        assert whole[cell].low <= one.low <= one.high <= whole[cell].high
        assert one.outer_low <= whole[cell].low <= whole[cell].high <= one.outer_high
        assert (one.proven >= 10) == (whole[cell].proven >= 10)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_suppression_in_parts_has_the_weight_of_the_whole(monkeypatch, seed):
    counts = drawn(SIZES, seed=seed, keep=7)
    cells = {cell: publish(SAFELY, count) for cell, count in counts.items()}
    rows = relations(cells, facts(counts))
    whole = protected(cells, rows, known(counts), required(cells))
    in_parts(monkeypatch)
    parts = protected(cells, rows, known(counts), required(cells))
    assert parts.weight == whole.weight
    assert {cell: one.required for cell, one in parts.audit.items()} == {
        cell: one.required for cell, one in whole.audit.items()
    }
    assert all(one.width.proven >= one.required for one in parts.audit.values())
