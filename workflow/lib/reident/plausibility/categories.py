"""Checks of a linking variable that is compared by category, over the true links (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reident.intake.severity import NOTABLE, UNDERSTATES
from reident.plausibility.findings import MIN_LINKS, Finding

MAX_CODES = 400
"""Codes that are looked at one by one: the most frequent ones."""

MIN_GAIN = 0.03
"""The smallest gain in agreement, as a share of the links, for which a recode is proposed."""

_Z = 3.5
"""Standard errors by which a gain exceeds nothing."""


def check(name: str, puf: np.ndarray, eif: np.ndarray, half: np.ndarray, chance: np.ndarray) -> Iterator[Finding]:
    """Yield the findings from the codes of linked records; -1 is missing.

    `half` tells the links from which a recode is learnt from those on which it is tried, and the other way round;
    `chance` is for each link the share of strangers that agree.
    """
    present = (puf >= 0) & (eif >= 0)
    puf, eif, half, chance = (column[present] for column in (puf, eif, half, chance))
    n = len(puf)
    if n < MIN_LINKS:
        yield Finding(name, "few_links", n, n=n)
        return
    agree, expected = float((puf == eif).mean()), float(chance.mean())
    yield Finding(name, "agreement", agree, expected, n)
    puf, eif = _dense(puf, eif)
    recoded = recode(puf, eif, half)
    if recoded is not None:
        yield Finding(name, "recode", agree + recoded, agree, n, UNDERSTATES, "recode")
    elif is_chance(agree, chance):
        yield Finding(name, "no_better_than_chance", agree, expected, n, UNDERSTATES)
        return
    for side, (own, other) in (("puf", (puf, eif)), ("eif", (eif, puf))):
        if share := spread_codes(own, other):
            severity = UNDERSTATES if share >= 0.1 else NOTABLE
            yield Finding(name, f"spread_code_{side}", share, n=n, severity=severity, proposal="missing")


def is_chance(agree: float, chance: np.ndarray) -> bool:
    """Return whether linked records agree no more than strangers: by less than a few standard errors, or hardly."""
    expected, n = float(chance.mean()), len(chance)
    if expected >= 1 - 1e-9:
        return False
    error = np.sqrt(max(float((chance * (1 - chance)).mean()), 1e-9) / n)
    kappa = (agree - expected) / (1 - expected)
    return bool(agree - expected < 2.6 * error and kappa < 0.2) or kappa < 0.05


def _dense(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return codes without gaps, those of both files that are not among the most frequent as one more."""
    codes, place, n = np.unique(np.concatenate([puf, eif]), return_inverse=True, return_counts=True)
    if len(codes) > MAX_CODES:
        rank = np.empty(len(codes), np.int64)
        rank[np.lexsort((codes, -n))] = np.arange(len(codes))
        place = np.minimum(rank[place], MAX_CODES)
    return place[: len(puf)], place[len(puf) :]


def _cross(puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return the links by both codes, int64 (k, k): rows of the PUF."""
    k = int(max(puf.max(initial=0), eif.max(initial=0))) + 1
    return np.bincount(puf * k + eif, minlength=k * k).reshape(k, k)


def recode(puf: np.ndarray, eif: np.ndarray, half: np.ndarray) -> float | None:
    """Return how much a recode learnt on one half of the links raises agreement on the other; None if it does not.

    A code of the EIF becomes the one that more than half of its links have, of at least three. What strangers gain by
    it does not count: a rare code agrees more often if it becomes a frequent one, and tells less.
    """
    gains = np.zeros(len(puf))
    k = int(max(puf.max(), eif.max())) + 1
    for learnt in (half, ~half):
        cross = np.zeros((k, k), np.int64)
        np.add.at(cross, (puf[learnt], eif[learnt]), 1)
        n, best = cross.sum(0), cross.argmax(0)
        clear = (n >= 3) & (2 * cross[best, np.arange(k)] > n)
        to = np.where(clear, best, np.arange(k))
        tried = ~learnt
        gains[tried] = (to[eif[tried]] == puf[tried]).astype(float) - (eif[tried] == puf[tried])
        shares = np.bincount(puf, minlength=k) / len(puf)
        gains[tried] -= shares[to[eif[tried]]] - shares[eif[tried]]
    total, changed = gains.sum(), np.abs(gains).sum()
    if changed and total > _Z * np.sqrt(changed) and total >= MIN_GAIN * len(puf):
        return float(total / len(puf))
    return None


def spread_codes(own: np.ndarray, other: np.ndarray) -> float:
    """Return the share of links with a code whose partners are distributed as everyone's.

    Those of other codes are not. Only codes of at least 5 % and eight of the links count, and at least two others must
    tell their partners apart.
    """
    cross = _cross(own, other)
    n = cross.sum(1)
    seen, alone = n >= MIN_LINKS // 2, 2 * n > 3 * cross.sum(0)  # one that both files have about as often is a value
    if seen.sum() < 3:
        return 0.0
    itself = cross.diagonal()[seen] / n[seen]
    by_chance = (cross.sum(0)[seen] - cross.diagonal()[seen]) / (cross.sum() - n[seen])
    cross, n = cross[seen].astype(float), n[seen].astype(float)
    rest = cross.sum(0) - cross
    others = rest.sum(1)
    shares, others_shares = cross / n[:, None], rest / np.maximum(others, 1)[:, None]
    distance = np.abs(shares - others_shares).sum(1) / 2
    noise = 0.4 * np.sqrt(others_shares * (1 - others_shares) / n[:, None]).sum(1)
    median = np.array([np.median(np.delete(distance, at)) for at in range(len(n))])
    spread = (
        alone[seen]
        & (n >= 0.05 * len(own))
        & (n >= 8)
        & (distance < 1.6 * noise)
        & (distance < 0.45 * median)
        & (2.5 * noise < median)
        & (itself < by_chance + 2 * np.sqrt(np.maximum(by_chance * (1 - by_chance), 0.25 / n) / n))
    )
    return float(n[spread].sum() / len(own))
