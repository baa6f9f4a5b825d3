"""Checks of a linking variable that is compared by category, over the true links (METHODS §1.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reident.intake.severity import NOTABLE, UNDERSTATES
from reident.plausibility.crosstable import CrossTable
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

MAX_KEPT = 0.2
"""How often the file has a code that becomes another one, as a share of the other file, if that one stays as it is."""

_Z = 3.5
"""Standard errors by which a gain exceeds nothing."""


def check(name: str, puf: np.ndarray, eif: np.ndarray, chance: np.ndarray, trial: Trial) -> Iterator[Finding]:
    """Yield the findings from the codes of linked records; -1 is missing.

    `chance` is for each link the share of strangers that agree. What may be true of the people is grave only if the
    plain attack of `trial` finds more by allowing for it.
    """
    present = (puf >= 0) & (eif >= 0)
    puf, eif, chance = (column[present] for column in (puf, eif, chance))
    n = len(puf)
    if n < MIN_LINKS:
        yield Finding(name, "few_links", n, n=n)
        return
    agree, expected = float((puf == eif).mean()), float(chance.mean())
    yield Finding(name, "agreement", agree, expected, n)
    codes, puf, eif = _dense(puf, eif)
    recoded = max(recode(puf, eif), recode(eif, puf))
    if recoded:
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


def recode(own: np.ndarray, other: np.ndarray) -> float:
    """Return how much the table of counterparts that `init` drafts for a file raises agreement; 0 if it does not.

    Answers that err go to frequent codes: a code that both files have becomes no other that stays as it is. What
    strangers gain does not count: a rare code agrees more often if it becomes a frequent one, and tells less.
    """
    cross, n = CrossTable.tabulate(own, other), len(own)
    table = {code: to for code, to in cross.table().items() if code != to}
    n_own, n_other = ({code: int((side == code).sum()) for code in {*table, *table.values()}} for side in (own, other))
    table = {
        code: to
        for code, to in table.items()
        if to in table or not n_other[to] or n_own[code] < MAX_KEPT * n_other[code]
    }
    gained = cross.agreeing(table) - cross.agreeing({})
    if gained <= _Z * np.sqrt(abs(gained)):
        return 0.0
    usual = sum(n_other[code] * (n_own[to] - n_own[code]) / n for code, to in table.items())
    return float(gained - usual) / n if gained - usual >= MIN_GAIN * n else 0.0


def spread_share(own: np.ndarray, other: np.ndarray, spread: np.ndarray) -> float:
    """Return the share of links with some codes, without those that have them in both files."""
    return float((np.isin(own, spread) & (own != other)).mean()) if len(spread) else 0.0


def spread_codes(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the codes whose partners are distributed as everyone's, while those of other codes are not.

    Only codes of at least 5 % and eight of the links count, and at least two others must tell their partners apart. Of
    a code that is a value, too, those links count that have another code in the other file: that are
    :data:`MIN_ABSORBED` of all, three times as many as have it there alone, and have any of three other codes or more.
    """
    cross = _cross(own, other).astype(float)
    n, same = cross.sum(1), cross.diagonal()
    back, seen = cross.sum(0) - same, n >= MIN_LINKS // 2
    if seen.sum() < 3:
        return np.empty(0, np.int64)
    alone = seen & (2 * n > 3 * cross.sum(0))  # one that both files have about as often is a value
    share = back / np.maximum(cross.sum() - n, 1)
    error = np.sqrt(np.maximum(share * (1 - share), 0.25 / np.maximum(n, 1)) / np.maximum(n, 1))
    is_value = same >= np.maximum(n, 1) * (share + 2 * error)
    absorbs = seen & is_value & (n - same - back >= MIN_ABSORBED * len(own)) & (n - same > 3 * back)
    usual = np.array([_distance(cross, code, seen)[0] for code in np.flatnonzero(seen).tolist()])
    spread = []
    for code in np.flatnonzero((alone & ~is_value) | absorbs).tolist():
        distance, noise, rows, codes = _distance(cross, code, seen, off=bool(absorbs[code]))
        median = float(np.median(usual[np.flatnonzero(seen) != code]))
        is_alike = distance < max(1.6 * noise, 0.2 * median) and distance < 0.45 * median and 2.5 * noise < median
        if is_alike and rows >= max(0.05 * len(own), 8) and (codes >= 3 or not absorbs[code]):
            spread.append(code)
    return np.array(spread, np.int64)


def _distance(cross: np.ndarray, code: int, seen: np.ndarray, *, off: bool = False) -> tuple[float, float, int, int]:
    """Return how far the partners of a code are from those of all other codes that are seen, and what noise makes.

    With them come the links of the code and the codes of the others' partners; of a code with `off` only the links with
    another one count.
    """
    kept = np.arange(len(cross)) != code
    own, others = cross[code], cross[seen & kept].sum(0)
    if off:
        own, others = own[kept], others[kept]
    shares = others / max(others.sum(), 1)
    n = max(own.sum(), 1)
    distance = float(np.abs(own / n - shares).sum()) / 2
    return distance, 0.4 * float(np.sqrt(shares * (1 - shares) / n).sum()), int(own.sum()), int((shares > 0).sum())
