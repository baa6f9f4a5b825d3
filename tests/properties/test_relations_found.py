"""Between which published counts a relation holds in every drawn study, and that the audit knows it (METHODS §11.2).

For each drawn combination of metrics, options and variants, all pairs of counts of which one is at most the other in
every small study are found. Each follows from the relations of the audit, by a linear program, or is refuted by a study
of :data:`REFUTED`: the pair held by chance.
"""

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from making import small_studies
from oracles import published
from reident.pipeline.releasing import Attack
from reident.release import containment
from reident.release.cells import Cell
from reident.release.facts import Facts
from reident.release.relations import relations
from reident.study.model import Study
from scipy import sparse
from scipy.optimize import linprog

REFUTED = Path(__file__).parent / "refuted.csv"
"""Numbers of studies, by combination, in which pairs of counts that held in the first 300 by chance do not hold."""

COMBINATIONS, STUDIES, FEW = 60, 300, 12


def facts(studies, *, complete):
    """What the public knows of drawn studies, from their options alone."""
    attacks, limits = {}, {}
    for variant, study in studies.items():
        model = Study.model_validate(study)
        attacks[variant] = Attack(model.strata, model.linking_variables, model.binning, model.chosen)
        limits[variant] = model.rank_filter.max_pairs
    same = frozenset(v for v, a in attacks.items() if v and a.strata == attacks[""].strata)
    return Facts(
        strata=tuple(small_studies.STRATA),
        puf_in_strata=True,
        same_files=same,
        same_records=frozenset(attacks),
        containments=containment.of(attacks, complete=complete),
    )


def counted(studies, seeds):
    """The names of all counts, and the counts of each small study, int64 (studies, counts), with what is complete."""
    names, table, complete = None, [], []
    for seed in seeds:
        rows = small_studies.rows(studies[""], seed)
        found = published.counts(studies, small_studies.STRATA, *rows)
        names = names or list(found)
        table.append([found[name] for name in names])
        columns = [x["name"] for x in studies[""]["linking_variables"]]
        complete.append(all(row[name] for side in rows[:2] for row in side for name in columns))
    return names, np.array(table), np.array(complete)


def with_sums(names, table):
    """The counts, and those who have a passing pair, suspected or ambiguous, of every line."""
    at = {name: place for place, name in enumerate(names)}
    lines = [(name, ("n_ambiguous", *name[1:])) for name in names if name[0] == "n_suspected"]
    sums = {("passing", *one[1:]): (one, other) for one, other in lines}
    forms = [{at[name]: 1} for name in names] + [{at[one]: 1, at[other]: 1} for one, other in sums.values()]
    more = [table[:, list(form)].sum(axis=1) for form in forms[len(names) :]]
    return [*names, *sums], forms, np.column_stack([table, *more]) if more else table


def holding(table):
    """Pairs of columns of which the first is at most the second in every row, and not the same number everywhere 0."""
    n = table.shape[1]
    holds = np.ones((n, n), bool)
    for row in np.unique(table, axis=0):
        holds &= row[:, None] <= row[None]
    return holds & ~np.eye(n, dtype=bool)


class Known:
    """What follows from the relations of the audit."""

    def __init__(self, names, facts):
        self.cells = [Cell(q, variant=v, metric=m, stratum=s, rank_limit=k) for q, v, m, s, k in names]
        at = {cell: place for place, cell in enumerate(self.cells)}
        rows, self.names = [], []
        for row in relations(self.cells, facts):
            assert row.terms.keys() <= at.keys()
            line = np.zeros(len(at))
            for cell, factor in row.terms.items():
                line[at[cell]] = factor
            for sign, bound in ((1, row.high), (-1, -row.low)):
                if np.isfinite(bound):
                    assert bound == 0
                    rows.append(sign * line)
                    self.names.append((row.name, [tuple(cell) for cell in row.terms]))
        self.matrix = np.array(rows)
        self.rows = sparse.csr_array(self.matrix)

    def below(self, forms):
        """Which sums follow to be at most which others, from relations of two of them one by one."""
        places = {frozenset(form): at for at, form in enumerate(forms)}
        found = np.eye(len(forms), dtype=bool)
        for form, at in places.items():
            for place in form:
                found[places[frozenset({place})], at] = True
        for row in self.matrix:
            few, many = (frozenset(np.flatnonzero(sign * row == 1)) for sign in (1, -1))
            if many in places and len(few) + len(many) == np.count_nonzero(row):
                for own in (few, *(frozenset({place}) for place in few)):
                    if own in places:
                        found[places[own], places[many]] = True
        for _ in range(8):
            found |= (found.astype(np.float32) @ found.astype(np.float32)) > 0
        return found

    def follows(self, small, large):
        """Whether Σ small ≤ Σ large wherever all relations hold."""
        objective = np.zeros(len(self.cells))
        for place, factor in small.items():
            objective[place] -= factor
        for place, factor in large.items():
            objective[place] += factor
        return (
            linprog(objective, A_ub=self.rows, b_ub=np.zeros(self.rows.shape[0]), bounds=(0, 1)).fun > -1e-9
        )


def unexplained(studies, names, table, complete, more=None):
    """The pairs of counts that hold in all studies, do not follow, and hold in further studies too."""
    found, ok = [], {}
    for all_known in (False, True):
        own = table[complete] if all_known else table
        if len(own) < len(table) / 4:
            continue
        known = Known(names, facts(studies, complete=all_known))
        assert [known.names[at] for at in np.flatnonzero((own @ known.matrix.T > 0).any(axis=0))] == []
        every, forms, wide = with_sums(names, own)
        holds = holding(wide)
        if more is not None:
            extra = more[0][more[1]] if all_known else more[0]
            if len(extra):
                holds &= holding(with_sums(names, extra)[2])
        near = np.array([[a[3] == b[3] or "ALL" in (a[3], b[3]) for b in every] for a in every])
        for one, other in zip(*np.nonzero(holds & near & ~known.below(forms)), strict=True):
            if not known.follows(forms[one], forms[other]):
                found.append((all_known, every[one], every[other]))
        ok[all_known] = int(holds.sum())
    return found, ok
