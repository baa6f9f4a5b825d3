"""Parts of the intruder's file: how they are drawn, and what is counted in small cases (METHODS §6.5)."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from making.populations import Kind, draw, ranked_pairs
from reident.larger import thinning
from reident.larger.rivals import NEVER, _of_links
from reident.linkage.metrics import REGISTRY
from reident.linkage.scoring import Work

SMALL = Kind("taxicab", 3, 0, strata=2, missing=0.1, people=400, n_puf=60, n_eif=40)


def test_a_part_has_the_records_of_its_share_and_depends_on_seed_share_and_draw():
    cases = itertools.product((0.25, 0.5), (1, 2), (1, 2))
    drawn = {(share, at, seed): thinning.chosen(40, share, at, seed) for share, at, seed in cases}
    assert {share: len(rows) for (share, _, _), rows in drawn.items()} == {0.25: 10, 0.5: 20}
    assert len({rows.tobytes() for rows in drawn.values()}) == len(drawn)
    assert all((np.diff(rows) > 0).all() for rows in drawn.values())
    assert len(thinning.chosen(3, 1 / 16, 1, 1)) == 1


def test_all_parts_have_three_times_the_records_of_the_file():
    assert sum(share * draws for share, draws in thinning.DRAWS.items()) == 3


def test_counts_add_up_to_the_records_of_the_file():
    population = draw(SMALL, 1)
    table = thinning.thin(population.part, REGISTRY["taxicab"], population.study, ranked_pairs(population))
    assert list(table) == thinning.COLUMNS
    assert set(table.groupby(["share", "draw"])["n_records"].sum()) == {60}
    whole = table[table["share"] == 1]
    own = thinning.attacked(population.part, REGISTRY["taxicab"], population.study, Work())
    assert whole.loc[whole["links"] > 0, "n_records"].sum() == (own.links > 0).sum()
    assert whole.loc[whole["held"] == 1, "n_records"].sum() == own.held.sum()


def test_progress_grows_to_one():
    population, told = draw(SMALL, 1), []
    thinning.thin(
        population.part, REGISTRY["taxicab"], population.study, ranked_pairs(population), (), 1, told.append
    )
    assert told == sorted(told)
    assert told[-1] <= 1 + 1e-9


def test_a_file_of_one_record_can_be_thinned():
    kind = SMALL._replace(people=50, n_puf=5, n_eif=1, strata=1)
    population = draw(kind, 3)
    table = thinning.thin(population.part, REGISTRY["taxicab"], population.study, ranked_pairs(population))
    assert set(table["n_eif"]) == {1}


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ("all", [1, 0, NEVER, NEVER]),
        ("full", [NEVER, 0, NEVER, NEVER]),
        ("jointly_observed", [NEVER, 0, NEVER, NEVER]),
    ],
)
def test_the_largest_set_on_which_two_records_agree_decides(sets, expected):
    p = np.array([[1, 1], [2, 2], [3, 3], [3, 3], [-1, 4]], np.int32)
    e = np.array([[1, 5], [1, 6], [2, 2], [3, 3], [4, -1]], np.int32)
    links = np.array([0, 1, 2, 4]), np.array([0, 2, 3, 4])
    assert _of_links(p, e, *links, sets).tolist() == expected


def test_no_link_is_no_rival():
    none = pa.table({"puf": pa.array([], pa.int32()), "eif": pa.array([], pa.int32())})
    population = draw(SMALL._replace(metric="unicity"), 1)
    part, study = population.part, population.study._replace(iuf=none)
    states = thinning.whole(part, REGISTRY["unicity"], study, ranked_pairs(population))
    assert not states.held.any()
    assert (states.rivals == part.keep).all()
