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

MAX_CALLS = 20_000
"""The calls of the solver for one statement; afterwards nothing more is told."""


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
        self._calls = 0

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
        for direction in (1, -1):
            if not (left := narrow()):
                return True
            self._find(direction * np.isin(np.arange(len(low)), left), low, high)
        for at in narrow():
            for direction in (1, -1):
                if at in narrow():
                    self._find(direction * (np.arange(len(low)) == at), low, high)
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

    def _find(self, direction: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
        """Find a secret with counts between two ends, the farther in a direction the better; False if there is none."""
        space = self._space
        if (low > high).any() or (low > space.top).any() or self._calls >= MAX_CALLS:
            return False
        # Who counts for one quantity and not for another one bounds how far their counts are apart.
        if (low[:, None] - high[None, :] > space.excess).any():
            return False
        # In a large study fractions that are rounded down are nearly always a secret too, and found much faster. Counts
        # that become too small by it are sought larger.
        raised = low
        for _ in range(ROUNDS if len(space.cells) > FEW else 0):
            if (point := self._solve(direction, raised, high, whole=False)) is None:
                if raised is low:
                    return False
                break
            if self._is_secret(point, low, high):
                return True
            raised = np.minimum(raised + np.maximum(low - self._whole @ point, 0), high)
        point = self._solve(direction, low, high, whole=True)
        return point is not None and self._is_secret(point, low, high)

    def _solve(self, direction: np.ndarray, low: np.ndarray, high: np.ndarray, *, whole: bool) -> np.ndarray | None:
        """Return how many records have each vector in a secret that the solver finds; int64 (u,)."""
        self._calls += 1
        space = self._space
        found = optimize.milp(
            -(direction @ self._counted),
            constraints=optimize.LinearConstraint(
                self._rows, np.r_[np.zeros(len(space.sizes)), low], np.r_[space.sizes, high]
            ),
            integrality=np.full(len(space.cells), int(whole)),
            options={"node_limit": MAX_NODES, "mip_rel_gap": 0 if len(space.cells) <= FEW else GAP},
        )
        if found.x is None:
            return None
        return (np.rint(found.x) if whole else np.floor(found.x + ROUNDING)).astype(np.int64)

    def _is_secret(self, point: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
        """Keep the counts of a secret, if it is one between two ends: the solver computes with fractions."""
        space = self._space
        counts = self._whole @ point
        used = np.bincount(space.cells, weights=point, minlength=len(space.sizes)).astype(np.int64)
        if (point < 0).any() or (used > space.sizes).any() or (counts < low).any() or (counts > high).any():
            return False
        self._secrets = np.vstack([self._secrets, counts])
        return True
