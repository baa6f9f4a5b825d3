"""What the audit takes as related holds in small random studies with units (METHODS §11.2)."""

import numpy as np
import pytest
from making import unit_studies
from making.known_relations import Known

COMBINATIONS = 30


def counted(studies, several):
    """The names of all counts, those of each study, and what is public of it."""
    found = [unit_studies.counts(studies, drawn) for drawn in several]
    names = list(found[0])
    table = np.array([[one[name] for name in names] for one in found])
    return names, table, [unit_studies.described(studies, drawn) for drawn in several]


def known_of(studies, names, public):
    complete, single = public
    return Known(names, unit_studies.facts(studies, complete=complete, single=single))


@pytest.mark.parametrize("number", range(0, COMBINATIONS, 3))
def test_relations_of_drawn_metrics_and_options_of_units_hold(number):
    studies = unit_studies.combination(number)
    names, table, public = counted(studies, [unit_studies.rows(studies[""], seed) for seed in range(40)])
    for one in set(public):
        chosen = [own == one for own in public]
        assert known_of(studies, names, one).broken(table[chosen]) == []
