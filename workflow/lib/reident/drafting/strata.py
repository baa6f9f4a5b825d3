"""Candidates for strata: the pairs that they leave, and the links that they lose (METHODS §2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reident.drafting import names
from reident.drafting.counterparts import Pair
from reident.drafting.recodes import Recode
from reident.drafting.sheet import number, percent
from reident.sections.codes import Coding, normaliser

MAX_LOST = 0.01
"""A variable becomes a stratum if it loses at most this share of the links."""

MANY_PAIRS = 20_000_000_000
"""Pairs that take long to compare; a draft then proposes strata whatever the variable is about."""

_MAX_STRATA = 2000
_MAX_LARGEST = 0.9


class Stratum(NamedTuple):
    """The effect of a variable as a stratum: the pairs of records that are equal on it, and the links that it loses.

    A link is lost if its two records differ on the variable, or miss it; None without links to compare.
    """

    pairs: int
    lost: int | None
    links: int

    def words(self, every: int) -> str:
        """Return the effect in words; `every` are the pairs without strata."""
        text = f"leaves {self.pairs:,} of {every:,} pairs ({percent(self.pairs / every)})"
        if self.lost is None:
            return f"{text}; links lost: unknown"
        share = percent(self.lost / max(1, self.links))
        return f"{text} and loses {self.lost:,} of {number(self.links, 'link')} ({share})"


def effect(pair: Pair, recode: Recode, linked: tuple[np.ndarray, np.ndarray] | None) -> Stratum | None:
    """Return the effect of a categorical pair as a stratum; None if it has too many codes or hardly divides."""
    counts = [_recoded(side, pair, recode) for side in ("puf", "eif")]
    if not all(2 <= len(codes) <= _MAX_STRATA for codes in counts):
        return None
    if max(counts[0].values()) > _MAX_LARGEST * sum(counts[0].values()):
        return None
    pairs = sum(rows * counts[1].get(code, 0) for code, rows in counts[0].items())
    if not pairs:
        return None
    if linked is None:
        return Stratum(pairs, None, 0)
    ways = [_way(side, recode) for side in ("puf", "eif")]
    lost = sum(puf is None or eif is None or ways[0](puf) != ways[1](eif) for puf, eif in zip(*linked, strict=True))
    return Stratum(pairs, lost, len(linked[0]))


def _recoded(side: str, pair: Pair, recode: Recode) -> dict[str, int]:
    way, result = _way(side, recode), Counter[str]()
    column = pair.puf if side == "puf" else pair.eif
    for code, rows in column.values.items():
        if code not in recode.missing.get(side, []):
            result[way(code)] += rows
    return result


def _way(side: str, recode: Recode) -> Callable[[str], str]:
    normal = normaliser(Coding("categorical", integer_coded=recode.integer_coded))
    table = (recode.table or {}) if recode.side == side else {}
    return lambda code: table.get(normal(code), normal(code))


def chosen(effects: dict[str, Stratum], every: int) -> str | None:
    """Return the variable that becomes the stratum; None if none should. `every` are the pairs without strata."""
    fit = {
        name: effect
        for name, effect in effects.items()
        if effect.lost is not None and effect.lost <= MAX_LOST * effect.links
    }
    if every < MANY_PAIRS:
        fit = {name: effect for name, effect in fit.items() if names.names_area(name)}
    return min(fit, key=lambda name: (fit[name].pairs, name)) if fit else None
