"""Checks of a linking variable that is compared by category, over the true links (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reident.intake.severity import NOTABLE, UNDERSTATES
from reident.plausibility.findings import MIN_LINKS, Finding
from reident.plausibility.links import Trial

MAX_CODES = 400
"""Codes that are looked at one by one: the most frequent ones."""

MIN_GAIN = 0.03
"""The smallest gain in agreement, as a share of the links, for which a recode is proposed."""

MIN_GRAVE = 0.1
"""The smallest share of the links whose code tells nothing for a grave warning."""

MIN_ABSORBED = 0.08
"""The smallest share of the links that have a code beyond those with it in the other file, as one for "refused" has."""

_Z = 3.5
"""Standard errors by which a gain exceeds nothing."""


def check(
    name: str, puf: np.ndarray, eif: np.ndarray, half: np.ndarray, chance: np.ndarray, trial: Trial
) -> Iterator[Finding]:
    """Yield the findings from the codes of linked records; -1 is missing.

    `half` tells the links from which a recode is learnt from those on which it is tried, and the other way round;
    `chance` is for each link the share of strangers that agree. What may be true of the people is grave only if the
    plain attack of `trial` finds more by allowing for it.
    """
    present = (puf >= 0) & (eif >= 0)
    puf, eif, half, chance = (column[present] for column in (puf, eif, half, chance))
    n = len(puf)
    if n < MIN_LINKS:
        yield Finding(name, "few_links", n, n=n)
        return
    agree, expected = float((puf == eif).mean()), float(chance.mean())
    yield Finding(name, "agreement", agree, expected, n)
    codes, puf, eif = _dense(puf, eif)
    recoded = recode(puf, eif, half)
    if recoded is not None:
        yield Finding(name, "recode", agree + recoded, agree, n, UNDERSTATES, "recode")
    elif is_chance(agree, chance):
        severity = UNDERSTATES if trial.is_needless() else NOTABLE
        yield Finding(name, "no_better_than_chance", agree, expected, n, severity)
        return
    for side, (own, other) in (("puf", (puf, eif)), ("eif", (eif, puf))):
        if share := spread_share(own, other, spread := spread_codes(own, other)):
            is_grave = share >= MIN_GRAVE and trial.finds_more_if_missing(side, codes[spread])
            severity = UNDERSTATES if is_grave else NOTABLE
            yield Finding(name, f"spread_code_{side}", share, n=n, severity=severity, proposal="missing")


def is_chance(agree: float, chance: np.ndarray) -> bool:
    """Return whether linked records agree no more than strangers: by less than a few standard errors, or hardly."""
    expected, n = float(chance.mean()), len(chance)
    if expected >= 1 - 1e-9:
        return False
    error = np.sqrt(max(float((chance * (1 - chance)).mean()), 1e-9) / n)
    kappa = (agree - expected) / (1 - expected)
    return bool(agree - expected < 2.6 * error and kappa < 0.2) or kappa < 0.05


def _dense(puf: np.ndarray, eif: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the codes, and those of both files by place in them; those beyond the most frequent ones as one more."""
    codes, place, n = np.unique(np.concatenate([puf, eif]), return_inverse=True, return_counts=True)
    if len(codes) > MAX_CODES:
        order = np.lexsort((codes, -n))
        place = np.minimum(np.argsort(order)[place], MAX_CODES)
        codes = np.append(codes[order[:MAX_CODES]], -1)
    return codes, place[: len(puf)], place[len(puf) :]


def _cross(puf: np.ndarray, eif: np.ndarray) -> np.ndarray:
    """Return the links by both codes, int64 (k, k): rows of the PUF."""
    k = int(max(puf.max(initial=0), eif.max(initial=0))) + 1
    return np.bincount(puf * k + eif, minlength=k * k).reshape(k, k)


def recode(puf: np.ndarray, eif: np.ndarray, half: np.ndarray) -> float | None:
    """Return how much a recode learnt on one half of the links raises agreement on the other; None if it does not.

    A code of the EIF becomes the one that more than half of its links have, of at least three, if that one is no code
    of the EIF or becomes another: answers that err go to frequent codes, which stay as they are. What strangers gain by
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
        to = np.where((to[to] == to) & (n[to] >= 3), np.arange(k), to)
        tried = ~learnt
        gains[tried] = (to[eif[tried]] == puf[tried]).astype(float) - (eif[tried] == puf[tried])
        shares = np.bincount(puf, minlength=k) / len(puf)
        gains[tried] -= shares[to[eif[tried]]] - shares[eif[tried]]
    total, changed = gains.sum(), np.abs(gains).sum()
    if changed and total > _Z * np.sqrt(changed) and total >= MIN_GAIN * len(puf):
        return float(total / len(puf))
    return None


def spread_share(own: np.ndarray, other: np.ndarray, spread: np.ndarray) -> float:
    """Return the share of links with some codes, without those that have them in both files."""
    return float((np.isin(own, spread) & (own != other)).mean()) if len(spread) else 0.0


def spread_codes(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the codes whose partners are distributed as everyone's, while those of other codes are not.

    Only codes of at least 5 % and eight of the links count, and at least two others must tell their partners apart. Of
    a code that is a value, too, those links count that have another code in the other file: that are
    :data:`MIN_ABSORBED` of all, three times as many as have it there alone, and have any of three other codes or more.
    """
    cross = _cross(own, other)
    n, same = cross.sum(1), cross.diagonal()
    off, back = n - same, cross.sum(0) - same
    alone = 2 * n > 3 * cross.sum(0)  # one that both files have about as often is a value
    absorbs = (off - back >= MIN_ABSORBED * len(own)) & (off > 3 * back)
    seen = n >= MIN_LINKS // 2
    if seen.sum() < 3:
        return np.empty(0, np.int64)
    by_chance = back[seen] / (cross.sum() - n[seen])
    itself = same[seen] / n[seen]
    is_value = itself >= by_chance + 2 * np.sqrt(np.maximum(by_chance * (1 - by_chance), 0.25 / n[seen]) / n[seen])
    if not (alone | absorbs)[seen].any():
        return np.empty(0, np.int64)
    own_cross = cross - np.diag(np.where(absorbs, same, 0))
    cross, n = cross[seen].astype(float), own_cross[seen].sum(1).astype(float)
    rest = cross.sum(0) - cross
    rest[:, seen] -= np.diag(rest[:, seen].diagonal() * (absorbs[seen] & is_value))
    shares = own_cross[seen] / np.maximum(n, 1)[:, None]
    others_shares = rest / np.maximum(rest.sum(1), 1)[:, None]
    distance = np.abs(shares - others_shares).sum(1) / 2
    noise = 0.4 * np.sqrt(others_shares * (1 - others_shares) / np.maximum(n, 1)[:, None]).sum(1)
    median = np.array([np.median(np.delete(distance, at)) for at in range(len(n))])
    is_spread = (distance < np.maximum(1.6 * noise, 0.2 * median)) & (distance < 0.45 * median) & (2.5 * noise < median)
    is_spread &= (n >= 0.05 * len(own)) & (n >= 8)
    several = (others_shares > 0).sum(1) >= 3
    return np.flatnonzero(seen)[is_spread & ((alone[seen] & ~is_value) | (absorbs[seen] & is_value & several))]
