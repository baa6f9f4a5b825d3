"""Counts of two codes in linked records, and the conclusions about the codes (METHODS §1)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

MIN_LINKS = 5
"""The fewest links of a code that show its counterpart."""

_MIN_SHARE = 0.6
_MIN_GAIN = 0.5
"""How far the share of a counterpart is at least from its share among the links of other codes towards 1."""

_MIN_EVIDENCE = 5.0
"""The smallest logarithm of the likelihood ratio of a counterpart and of chance."""

_MAX_DISTANCE = 0.5
"""The largest distance of two distributions that are alike, beyond what few links bring about."""


class CrossTable(NamedTuple):
    """The links by the codes of both records, where both have a code; codes are sorted."""

    links: pd.DataFrame

    @classmethod
    def tabulate(cls, first: np.ndarray, second: np.ndarray) -> CrossTable:
        """Count pairs of codes, object (n,), None where there is none."""
        present = pd.notna(first) & pd.notna(second)
        (at, rows), (of, columns) = (pd.factorize(codes[present], sort=True) for codes in (first, second))
        links = np.zeros((len(rows), len(columns)), np.int64)
        np.add.at(links, (at, of), 1)
        return cls(pd.DataFrame(links, rows, columns))

    @property
    def n(self) -> int:
        """The number of links."""
        return int(self.links.to_numpy().sum())

    def without(self, rows: Set[str], columns: Set[str]) -> CrossTable:
        """Return the table of the links that have none of some codes."""
        return CrossTable(self.links.drop(index=list(rows), columns=list(columns), errors="ignore"))

    def agreeing(self, table: Mapping[str, str]) -> int:
        """Return how many links have the same code after the codes of the columns are recoded."""
        targets = ((table.get(code, code), code) for code in self.links.columns)
        return sum(int(self.links.at[row, code]) for row, code in targets if row in self.links.index)

    def _split(self, code: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the links of one code of the columns, and of all others, by row."""
        links = self.links.loc[:, self.links.columns == code].to_numpy().sum(1)
        return links, self.links.to_numpy().sum(1) - links

    def n_of(self, code: str) -> int:
        """Return the links of one code of the columns."""
        return int(self._split(code)[0].sum())

    def counterpart(self, code: str) -> str | None:
        """Return the code that most links of a code of the columns have, if they show that it is not by chance.

        At least :data:`MIN_LINKS` links and 60 % of the code's links have it. Its share is at least half way from its
        share among the links of all other codes to 1, and e⁵ times as likely as that one.
        """
        links, others = self._split(code)
        n = int(links.sum())
        if n < MIN_LINKS or not others.sum():
            return None
        best = int(links.argmax())
        share, chance = links[best] / n, max(others[best], 0.5) / others.sum()
        if share < _MIN_SHARE or share - chance < _MIN_GAIN * (1 - chance):
            return None
        evidence = links[best] * np.log(share / chance)
        if share < 1:
            evidence += (n - links[best]) * np.log((1 - share) / (1 - chance))
        return self.links.index[best] if evidence >= _MIN_EVIDENCE else None

    def is_alike(self, code: str) -> bool:
        """Return whether the links of a code of the columns are distributed roughly as those of all others."""
        links, others = self._split(code)
        n = int(links.sum())
        if not n or not others.sum():
            return True
        distance = np.abs(links / n - others / others.sum()).sum() / 2
        return bool(distance <= _MAX_DISTANCE + np.sqrt(np.count_nonzero(self.links.sum(axis=1)) / n) / 2)

    def table(self) -> dict[str, str]:
        """Return the codes of the columns with their counterparts: one to one, or the same ones if more links agree."""
        return max(self.one_to_one(), self.counterparts(set(self.links.columns)), key=self.agreeing)

    def counterparts(self, codes: Set[str]) -> dict[str, str]:
        """Return the counterpart of each of some codes of the columns that has one."""
        every = {code: self.counterpart(code) for code in self.links.columns if code in codes}
        return {code: row for code, row in every.items() if row is not None}

    def one_to_one(self) -> dict[str, str]:
        """Return the codes of the columns with those of the rows, one to one, that most links have.

        Empty unless at least 60 % of all links have them, and more than by chance; without codes of whose links fewer
        have the two together.
        """
        links = self.links.to_numpy()
        places = list(zip(*linear_sum_assignment(links, maximize=True), strict=True))
        agreeing = sum(int(links[place]) for place in places)
        chance = 1 / max(2, min(links.shape))
        if not self.n or agreeing / self.n < _MIN_SHARE or self.n * np.log(1 / chance) < _MIN_EVIDENCE:
            return {}
        table = {self.links.columns[column]: self.links.index[row] for row, column in places}
        return {code: row for code, row in sorted(table.items()) if self.share(code, row) >= _MIN_SHARE}

    def share(self, code: str, row: str) -> float:
        """Return the share of the links of a code of the columns that have a code of the rows."""
        links = self._split(code)[0]
        return float(links[self.links.index.get_loc(row)] / max(1, links.sum()))
