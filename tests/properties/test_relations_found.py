"""Between which published counts a relation holds in every drawn study, and that the audit knows it (METHODS §11.2).

For each drawn combination of metrics, options and variants, all pairs of counts of which one is at most the other in
every small study are found. Each follows from the relations of the audit, by a linear program, or is refuted by a
study of making/counterexamples.txt: it held by chance. A directed search is begun for pairs that are then left.
"""

from random import Random

import numpy as np
import pytest
from making import small_studies
from making.known_relations import Known, holding, with_sums
from oracles import published
from reident.linkage.metrics import REGISTRY
from reident.pipeline.releasing import Attack
from reident.release import containment
from reident.release.facts import Facts
from reident.study.model import Study

COMBINATIONS, STUDIES, STEPS = 60, 300, 150
QUICK = (1, 3)
"""The combinations that the normal tests search."""

OPEN = (7, 8, 9, 11, 16, 17, 19, 25, 29, 33, 35, 40, 44, 46, 48, 50, 54, 59)
"""Combinations with pairs of counts that have neither a proof nor a counterexample yet (METHODS §11.2)."""


def facts(studies, *, complete):
    """What the public knows of drawn studies, from their options alone."""
    attacks = {}
    for variant, study in studies.items():
        model = Study.model_validate(study)
        attacks[variant] = Attack(model.strata, model.linking_variables, model.binning, model.chosen)
    study = attacks[""]
    same = frozenset(v for v, a in attacks.items() if v and a.strata == study.strata)
    same_attack = {
        (v, name)
        for v in same
        for name, options in attacks[v].metrics.items()
        if (options, attacks[v].variables) == (study.metrics[name], study.variables)
        and (attacks[v].binning == study.binning or REGISTRY[name].reads == "prepared")
    }
    return Facts(
        strata=tuple(small_studies.STRATA),
        puf_in_strata=True,
        same_files=same,
        same_records=frozenset(attacks),
        same_attack=frozenset(same_attack),
        containments=containment.find(attacks, complete=complete),
    )


def counted(studies, seeds):
    """The names of all counts, and the counts of each small study, int64 (studies, counts), with what is complete."""
    return counted_rows(studies, [small_studies.rows(studies[""], seed) for seed in seeds])


def counted_rows(studies, several):
    """The same of the rows of small studies."""
    names, table, complete = None, [], []
    for rows in several:
        found = published.counts(studies, small_studies.STRATA, *rows)
        names = names or list(found)
        table.append([found[name] for name in names])
        columns = [x["name"] for x in studies[""]["linking_variables"]]
        complete.append(all(row[name] for side in rows[:2] for row in side for name in columns))
    return names, np.array(table), np.array(complete)


def climbed(studies, names, pair, start, *, complete, steps=STEPS):
    """Yield the counts of ever more studies, each changed from one in which x − y of the pair was largest."""
    one, other = pair
    draw, most = Random(start), None  # noqa: S311 - made-up people
    rows = small_studies.rows(studies[""], start)
    for step in range(steps):
        tried = small_studies.changed(studies[""], rows, draw) if step else rows
        _, table, known = counted_rows(studies, [tried])
        if known[0] != complete:
            continue
        wide = with_sums(names, table)[2][0]
        excess = wide[one] - wide[other], wide[one]
        if most is None or excess >= most:
            most, rows = excess, tried
        yield table, wide


def refuted(studies, known, names, wide, open_, starts, *, complete):
    """Take out the open pairs that a search from where each was nearest refutes, and return the number of searches."""
    searched = 0
    for one, other in zip(*np.nonzero(open_), strict=True):
        nearest = np.lexsort((wide[:, one], wide[:, one] - wide[:, other]))[::-1]
        for start in starts[nearest[:3]].tolist():
            if not open_[one, other]:
                break
            searched += 1
            for table, row in climbed(studies, names, (one, other), start, complete=complete):
                assert known.broken(table) == []
                open_ &= row[:, None] <= row[None]
                if not open_[one, other]:
                    break
    return searched


def chance(number, seeds):
    """The pairs of counts that hold in every small study, and neither follow nor are refuted by further studies.

    Also returned are how many pairs hold, how many of them follow, how many of the kept studies were needed to refute
    others, and how many directed searches.
    """
    studies, seeds = small_studies.combination(number), np.array(seeds)
    names, table, complete = counted(studies, seeds.tolist())
    kept = small_studies.counterexamples(number)
    _, others, known_there = counted_rows(studies, kept) if kept else (names, table[:0], complete[:0])
    left, holding_, followed, needed, searches = [], 0, 0, 0, 0
    for all_known in sorted(set(complete.tolist())):
        known = Known(names, facts(studies, complete=all_known))
        every, forms, wide = with_sums(names, table[complete == all_known])
        assert known.broken(table[complete == all_known]) == []
        holds = holding(wide)
        holds &= np.array([[a[3] == b[3] or "ALL" in (a[3], b[3]) for b in every] for a in every])
        open_, below = holds.copy(), known.below(forms)
        assert known.broken(others[known_there == all_known]) == []
        for row in with_sums(names, others[known_there == all_known])[2]:
            refuted_here = row[:, None] > row[None]
            needed += int((open_ & ~below & refuted_here).any())
            open_ &= ~refuted_here
        below = known.all_below(open_, below, forms)
        assert not (holds & below & ~open_).any(), "a study refutes what follows"
        first = (below & below.T).argmax(axis=1) == np.arange(len(every))
        open_ &= ~below & np.outer(first, first)
        searches += refuted(studies, known, names, wide, open_, seeds[complete == all_known], complete=all_known)
        holding_, followed = holding_ + int(holds.sum()), followed + int((holds & below).sum())
        left += [(all_known, every[one], every[other]) for one, other in zip(*np.nonzero(open_), strict=True)]
    return left, holding_, followed, needed, searches


@pytest.mark.parametrize("number", range(0, COMBINATIONS, 5))
def test_relations_of_drawn_metrics_and_options_hold(number):
    studies = small_studies.combination(number)
    names, table, complete = counted(studies, range(40))
    for all_known in (False, True):
        known = Known(names, facts(studies, complete=all_known))
        assert known.broken(table[complete == all_known]) == []


@pytest.mark.parametrize(
    "number",
    [at if at in QUICK else pytest.param(at, marks=pytest.mark.long) for at in range(COMBINATIONS) if at not in OPEN],
)
def test_no_further_relation_holds_between_published_counts(number):
    """What holds in all studies follows from the relations of the audit, or fails in a study that is kept."""
    left, *_ = chance(number, range(STUDIES))
    assert left == []
