"""What follows from the relations of the audit, and which pairs of counts hold in many studies (METHODS §11.2)."""

import numpy as np
from reident.release.cells import Cell
from reident.release.relations import relations
from scipy import sparse
from scipy.optimize import linprog


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
        for cell, place in list(at.items()):
            if (cell.variant, cell.metric) in facts.same_attack:  # the count of the study need not be published
                at.setdefault(cell._replace(variant=""), place)
        rows, self.names = [], []
        for row in relations(self.cells, facts):
            line = np.zeros(len(self.cells))
            for cell, factor in row.terms.items():
                line[at[cell]] += factor
            for sign, bound in ((1, row.high), (-1, -row.low)):
                if np.isfinite(bound):
                    assert bound == 0
                    rows.append(sign * line)
                    self.names.append((row.name, [tuple(cell) for cell in row.terms]))
        self.matrix = np.array(rows)
        self.rows = sparse.csr_array(self.matrix)

    def broken(self, table):
        """The relations that some of the studies violate."""
        return [self.names[at] for at in np.flatnonzero((table @ self.matrix.T > 0).any(axis=0))]

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

    def against(self, small, large):
        """Counts with Σ small > Σ large for which all relations hold; None if there are none."""
        objective = np.zeros(len(self.cells))
        for sign, form in ((-1, small), (1, large)):
            for place, factor in form.items():
                objective[place] += sign * factor
        found = linprog(objective, A_ub=self.rows, b_ub=np.zeros(self.rows.shape[0]), bounds=(0, 1))
        return None if found.fun > -1e-9 else found.x

    def all_below(self, open_, below, forms):
        """The same of those that are open, from all relations together: `below` with what follows of them."""
        sums = sparse.csr_array(
            (np.ones(sum(map(len, forms))), ([at for at, form in enumerate(forms) for _ in form],
                                             [place for form in forms for place in form]))
        )  # fmt: skip
        # Of counts that follow to be equal, the first stands for all.
        first = (below & below.T).argmax(axis=1) == np.arange(len(forms))
        pending, below = open_ & ~below & np.outer(first, first), below.copy()
        for one, other in zip(*np.nonzero(pending), strict=True):
            if pending[one, other]:
                point = self.against(forms[one], forms[other])
                if point is None:
                    below |= np.outer(below[:, one], below[other])
                    pending &= ~below
                else:
                    values = sums @ point
                    pending &= values[:, None] <= values[None] + 1e-7
                    pending[one, other] = False
        return below
