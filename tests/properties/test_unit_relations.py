"""Which relations hold between published counts of units, and that the audit knows them (METHODS §11.2).

As in test_relations_found: every pair of counts x ≤ y that holds in all small studies of a drawn combination of metrics
and options follows from the relations of the audit, or is refuted by a study that a directed search finds.
"""

from random import Random

import numpy as np
import pytest
from making import unit_studies
from making.known_relations import Known, holding, with_sums

COMBINATIONS, STUDIES, STEPS = 30, 300, 200


def counted(studies, several):
    """The names of all counts, those of each study, and what is public of it."""
    found = [unit_studies.counts(studies, drawn) for drawn in several]
    names = list(found[0])
    table = np.array([[one[name] for name in names] for one in found])
    return names, table, [unit_studies.described(studies, drawn) for drawn in several]


def known_of(studies, names, public):
    complete, single = public
    return Known(names, unit_studies.facts(studies, complete=complete, single=single))


def climbed(studies, names, pair, start, public):
    """Yield the counts of ever more studies, each changed from one in which x − y of the pair was largest."""
    draw, most, drawn = Random(0), None, start  # noqa: S311 - made-up people
    for step in range(STEPS):
        tried = unit_studies.changed(studies[""], drawn, draw) if step else drawn
        if unit_studies.described(studies, tried) != public:
            continue
        wide = with_sums(*counted(studies, [tried])[:2])[2][0]
        excess = wide[pair[0]] - wide[pair[1]], wide[pair[0]]
        if most is None or excess >= most:
            most, drawn = excess, tried
        yield wide


def chance(number, seeds):
    """The pairs of counts that hold in every small study, and neither follow nor are refuted by a directed search."""
    studies = unit_studies.combination(number)
    several = [unit_studies.rows(studies[""], seed) for seed in seeds]
    names, table, public = counted(studies, several)
    left, held, followed = [], 0, 0
    for one in sorted(set(public), key=str):
        chosen = [at for at, own in enumerate(public) if own == one]
        known, (every, forms, wide) = known_of(studies, names, one), with_sums(names, table[chosen])
        assert known.broken(table[chosen]) == []
        holds = holding(wide)
        holds &= np.array([[a[3] == b[3] or "ALL" in (a[3], b[3]) for b in every] for a in every])
        below = known.all_below(holds, known.below(forms), forms)
        first = (below & below.T).argmax(axis=1) == np.arange(len(every))
        open_ = holds & ~below & np.outer(first, first)
        held, followed = held + int(holds.sum()), followed + int((holds & below).sum())
        for x, y in zip(*np.nonzero(open_), strict=True):
            nearest = np.lexsort((wide[:, x], wide[:, x] - wide[:, y]))[::-1]
            for place in nearest[:3].tolist():
                for row in climbed(studies, names, (x, y), several[chosen[place]], one) if open_[x, y] else ():
                    assert known.broken(row[None, : len(names)]) == []
                    open_ &= row[:, None] <= row[None]
                    if not open_[x, y]:
                        break
        left += [(one, every[x], every[y]) for x, y in zip(*np.nonzero(open_), strict=True)]
    return left, held, followed


@pytest.mark.parametrize("number", range(0, COMBINATIONS, 3))
def test_relations_of_drawn_metrics_and_options_of_units_hold(number):
    studies = unit_studies.combination(number)
    names, table, public = counted(studies, [unit_studies.rows(studies[""], seed) for seed in range(40)])
    for one in set(public):
        chosen = [own == one for own in public]
        assert known_of(studies, names, one).broken(table[chosen]) == []
