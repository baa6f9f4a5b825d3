"""A reader of a published edition who holds both files, and asks a solver what each record can be (METHODS §11.2).

It knows every suspected pair, and reads what is in the published table: texts, runs of texts and outcomes of limits,
by the words of the rounding rules. Links are unknowns: 0 or 1 for each pair, at most one for each record and, where
the reader takes it so, for each EIF record.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from oracles.statements import intervals
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

Pair = tuple[int, int]


class Reader:
    """Who reads lines of counts and of limits.

    `pairs` are, by name of a count, those that count for it; `lines` give for each name the first and the last text
    (both empty where nothing is told), `limits` names, largest counts and outcomes.
    """

    def __init__(
        self,
        policy: str,
        pairs: Mapping[str, set[Pair]],
        lines: Mapping[str, tuple[str, str]],
        limits: Iterable[tuple[str, int, str]],
        *,
        one_to_one: bool,
    ) -> None:
        self.pairs = sorted(set().union(*pairs.values()))
        rows, low, high = [], [], []

        def add(chosen: Iterable[bool], least: float, most: float) -> None:
            rows.append(np.array(list(chosen), float))
            low.append(least)
            high.append(most)

        for name, (first, last) in lines.items():
            suspected = len({p for p, _ in pairs[name]})
            texts = {text: (start, end) for text, start, end in intervals(policy, suspected + 50)}
            if first:
                add((pair in pairs[name] for pair in self.pairs), texts[first][0], texts[last][1])
        for name, largest, outcome in limits:
            if outcome in {"within", "above"}:
                ends = (0, largest) if outcome == "within" else (largest + 1, np.inf)
                add((pair in pairs[name] for pair in self.pairs), *ends)
        once = [self._sums(0)] + ([self._sums(1)] if one_to_one else [])
        links = vstack(once)
        counts = csr_array(np.array(rows).reshape(-1, len(self.pairs)))
        self._rows = vstack([links, counts]).tocsc()
        n = links.shape[0]
        self._low, self._high = np.r_[np.zeros(n), low], np.r_[np.ones(n), high]

    def _sums(self, side: int) -> Any:
        records = {record: at for at, record in enumerate(sorted({pair[side] for pair in self.pairs}))}
        at = [records[pair[side]] for pair in self.pairs]
        return csr_array((np.ones(len(at)), (at, np.arange(len(at)))))

    def can_be(self, linked: Iterable[Pair] = (), unlinked: Iterable[int] = ()) -> bool:
        """Return whether these pairs can be links while these PUF records have none of their candidates."""
        least, most = np.zeros(len(self.pairs)), np.ones(len(self.pairs))
        for pair in linked:
            least[self.pairs.index(pair)] = 1
        for record in unlinked:
            most[[at for at, (p, _) in enumerate(self.pairs) if p == record]] = 0
        found = milp(
            np.zeros(len(self.pairs)),
            constraints=LinearConstraint(self._rows, self._low, self._high),
            bounds=Bounds(least, most),
            integrality=np.ones(len(self.pairs)),
        )
        return found.x is not None
