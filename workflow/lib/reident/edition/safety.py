"""What a statement may tell: the condition SAFE of METHODS §11.2, decided from public knowledge alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize, sparse

from reident.edition.space import Space
from reident.edition.texts import Texts

Box = tuple[tuple[int, int], ...]
"""The smallest and the largest count of each quantity by what is told. 0, and the suspected records, tell nothing."""

OPEN = 20
"""A told smallest count leaves at least one of so many suspected records open."""

MAX_NODES = 200
"""The nodes after which a search for whole numbers ends. What is not found counts as none, which tells less."""

FEW, GAP = 60, 0.2
"""Unknowns up to which a largest or smallest count is searched for exactly; with more, one near to it is enough."""

ROUNDS = 4
"""How often fractions are tried."""

ROUNDING = 1e-7
"""By how much a whole number that the solver computes may be too small."""

MANY = 1_000
"""Unknowns that are searched together in whole numbers. With more, first the largest change in the last secret that was
found, then all, and whole numbers are sought only beside fractions."""

MAX_CALLS, MAX_WORK = 20_000, 3_000_000
"""The calls of the solver for one statement, and the sum of their unknowns; afterwards nothing more is told."""


class Audit:
    """Decide which intervals may be told. An answer depends on the questions before it, never on a count.

    Parameters
    ----------
    space : Space
    texts : sequence of Texts
        The texts of each quantity.
    margin : int
        M, the number of records that stay free.
    hidden : int
        W, the largest count that small texts hide.
    """

    def __init__(self, space: Space, texts: Sequence[Texts], margin: int, hidden: int) -> None:
        self._space, self._texts, self._hidden = space, texts, hidden
        self._margin, self._step = margin, margin * (2 if space.shared else 1)
        # The counts of secrets that were found, for all questions to come.
        self._secrets = np.zeros((1, len(texts)), np.int64)
        self._answers: dict[Box, bool] = {}
        self._whole, self._counted = space.counted.astype(np.int64), space.counted.astype(float)
        unknowns = np.arange(len(space.cells))
        members = sparse.csr_array((np.ones(len(unknowns)), (space.cells, unknowns)), (len(space.sizes), len(unknowns)))
        self._rows = sparse.csc_array(sparse.vstack([members, sparse.csr_array(self._counted)]))
        self._calls, self._work = 0, 0
        self._is_large = len(space.cells) > MANY
        self._point, self._in_part = np.zeros(len(space.cells), np.int64), np.zeros(len(space.cells), bool)
        self._in_part[np.argsort(-space.sizes[space.cells], kind="stable")[:MANY]] = True

    def is_safe(self, box: Box) -> bool:
        """Return whether the intervals of a statement may be told."""
        if box not in self._answers:
            self._answers[box] = self._is_safe(np.array(box, np.int64).reshape(-1, 2))
        return self._answers[box]

    def _is_safe(self, box: np.ndarray) -> bool:
        (low, high), n = box.T, self._space.suspected
        from_below, from_above = low > 0, high < n
        if (low > high).any():
            return False
        if (from_below & ((n - low < self._hidden) | (OPEN * (n - low) < n))).any() or (high < self._hidden)[
            from_above
        ].any():
            return False
        inner = low + self._step * from_below, high - self._step * from_above
        if not len(self._between(*inner)) and not self._find(np.zeros(len(n)), *inner):
            return False
        return self._is_wide(low, high, inner)

    def _is_wide(self, low: np.ndarray, high: np.ndarray, inner: tuple[np.ndarray, np.ndarray]) -> bool:
        """Return whether every count keeps the width of a text of its policy, or all that it could be."""

        def narrow() -> list[int]:
            ends = zip(*self._ranges(low, high, inner), strict=True)
            return [at for at, (least, most) in enumerate(ends) if not self._keeps_width(at, least, most)]

        # First with secrets in which all narrow counts are large, or small; then with one count at a time.
        for everywhere in (False, True) if self._is_large else (True,):
            for direction in (1, -1):
                if not (left := narrow()):
                    return True
                self._find(direction * np.isin(np.arange(len(low)), left), low, high, everywhere=everywhere)
        for at in narrow():
            for direction in (1, -1):
                if at in narrow():
                    self._find(direction * (np.arange(len(low)) == at), low, high, everywhere=True)
            if at in narrow():
                return False
        return True

    def _ranges(
        self, low: np.ndarray, high: np.ndarray, inner: tuple[np.ndarray, np.ndarray]
    ) -> tuple[list[int], list[int]]:
        """Return a smallest and a largest count of each quantity that secrets prove."""
        counts, free = self._between(low, high), self._between(*inner)
        # M records of a secret that is M inside all ends can change, so that its counts move by up to M.
        least, most = np.maximum(free - self._margin, 0), np.minimum(free + self._margin, self._space.top)
        every = np.concatenate([counts, least, most])
        return every.min(axis=0).tolist(), every.max(axis=0).tolist()

    def _keeps_width(self, at: int, low: int, high: int) -> bool:
        if low == 0 and high >= self._space.top[at]:
            return True
        texts = self._texts[at]
        first = texts.at(low)
        for text in (first, texts.at(first.last + 1), texts.at(high)):
            if text.low < text.high and min(high, text.high) - max(low, text.low) >= texts.width(text):
                return True
        return False

    def _between(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        inside = ((self._secrets >= low) & (self._secrets <= high)).all(axis=1)
        return self._secrets[inside]

    def _find(self, direction: np.ndarray, low: np.ndarray, high: np.ndarray, *, everywhere: bool = False) -> bool:
        """Find a secret with counts between two ends, the farther in a direction the better; False if there is none."""
        space = self._space
        if (low > high).any() or (low > space.top).any() or self._calls >= MAX_CALLS or self._work >= MAX_WORK:
            return False
        # Who counts for one quantity and not for another one bounds how far their counts are apart.
        if (low[:, None] - high[None, :] > space.excess).any():
            return False
        if self._is_large and not everywhere:
            ends = (np.where(self._in_part, end, self._point) for end in (0, space.sizes[space.cells]))
            if self._search(direction, low, high, *ends):
                return True
        return self._search(direction, low, high, np.zeros(len(space.cells)), np.full(len(space.cells), np.inf))

    def _search(
        self, direction: np.ndarray, low: np.ndarray, high: np.ndarray, least: np.ndarray, most: np.ndarray
    ) -> bool:
        """Find a secret as :meth:`_find`, with unknowns between two ends."""
        # In a large study fractions that are rounded down are nearly always a secret too, and found much faster. Counts
        # that become too small by it are sought larger.
        raised = low
        for _ in range(ROUNDS if len(least) > FEW else 0):
            if (fractions := self._solve(direction, raised, high, least, most)) is None:
                if raised is low:
                    return False
                break
            point = np.floor(fractions + ROUNDING).astype(np.int64)
            if self._is_secret(point, low, high):
                return True
            if self._is_large and raised is low:
                near = point, np.ceil(fractions - ROUNDING)
            raised = np.minimum(raised + np.maximum(low - self._whole @ point, 0), high)
        fractions = self._solve(direction, low, high, *(near if self._is_large else (least, most)), whole=True)
        return fractions is not None and self._is_secret(np.rint(fractions).astype(np.int64), low, high)

    def _solve(
        self,
        direction: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        least: np.ndarray,
        most: np.ndarray,
        *,
        whole: bool = False,
    ) -> np.ndarray | None:
        """Return how many records have each vector in a secret that the solver finds; float64 (u,)."""
        free = np.flatnonzero(least < most)
        solved = np.where(least < most, 0.0, least)
        if not len(free):
            return solved
        rows = self._rows[:, free]
        at = np.unique(rows.indices) if len(free) < len(least) else slice(None)
        given = self._rows @ solved
        self._calls, self._work = self._calls + 1, self._work + len(free)
        found = optimize.milp(
            -(direction @ self._counted[:, free]),
            constraints=optimize.LinearConstraint(
                rows.tocsr()[at],
                (np.r_[np.zeros(len(self._space.sizes)), low] - given)[at],
                (np.r_[self._space.sizes, high] - given)[at],
            ),
            bounds=optimize.Bounds(least[free], most[free]),
            integrality=np.full(len(free), int(whole)),
            options={"node_limit": MAX_NODES, "mip_rel_gap": 0 if len(least) <= FEW else GAP},
        )
        if found.x is None:
            return None
        solved[free] = found.x
        return solved

    def _is_secret(self, point: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
        """Keep the counts of a secret, if it is one between two ends: the solver computes with fractions."""
        space = self._space
        counts = self._whole @ point
        used = np.bincount(space.cells, weights=point, minlength=len(space.sizes)).astype(np.int64)
        if (point < 0).any() or (used > space.sizes).any() or (counts < low).any() or (counts > high).any():
            return False
        self._point, self._secrets = point, np.vstack([self._secrets, counts])
        return True
