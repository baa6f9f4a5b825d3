"""Parts of the intruder's file: how they are drawn, and what is counted in small cases (METHODS §6.5)."""

import numpy as np
import pytest
from making.populations import Kind, draw, ranked_pairs
from reident.larger import thinning
from reident.larger.rivals import NEVER, _link_rivals
from reident.linkage.metrics import REGISTRY
from reident.linkage.metrics.contract import Setting

SMALL = Kind("taxicab", 3, 0, strata=2, missing=0.1, people=400, n_puf=60, n_eif=40)


def test_counts_add_up_to_the_records_of_the_file():
    population = draw(SMALL, 1)
    study, ranked = population.study, ranked_pairs(population)
    table = thinning.thin(population.part, REGISTRY["taxicab"], study, ranked, Setting())
    assert list(table) == thinning.COLUMNS
    assert set(table.groupby(["share", "draw"])["n_records"].sum()) == {60}
    whole = table[table["share"] == 1]
    own = thinning.attacked(population.part, REGISTRY["taxicab"], population.study, Setting())
    assert whole.loc[whole["links"] > 0, "n_records"].sum() == (own.links > 0).sum()
    assert whole.loc[whole["held"] == 1, "n_records"].sum() == own.held.sum()


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
    assert _link_rivals(p, e, *links, sets).tolist() == expected
