"""Parts of the links in which a variable agrees hardly better than chance, and elsewhere well (METHODS §1.1).

Rows that are shifted from some row on, codes of one region, or a century of a part are right in most of a file: over
all links the variable agrees less, and no check of all links can tell that from protection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from reident.intake.severity import UNDERSTATES
from reident.plausibility.findings import Finding
from reident.plausibility.records import Records, Values

MIN_LINKS, MIN_PART, MIN_REST = 40, 12, 20
"""The fewest links of which parts are looked at, of a part, and of the others."""

PARTS = 8
"""Parts of equal size into which the rows of a file are cut."""

MAX_CODES = 12
"""The most codes of a variable whose links are looked at one by one."""

MIN_DROP, ERRORS = 0.15, 5.0
"""How much less often a part agrees, and by how many standard errors: hundreds of parts are looked at."""

MAX_SHARE, MIN_REST_GAIN = 0.3, 0.3
"""The largest agreement beyond chance of a part, as a share of that of the others, and the smallest of the others."""

MAX_CHANCE = 0.9
"""The largest chance agreement within one file of a part: more is one value for nearly all, as another one implies."""

NEAR = 0.06
"""Numbers agree if at most this share of the numbers of both files is between them."""


class Part(NamedTuple):
    """Links of one part: what it is a part of, as :data:`words` has it, and which they are."""

    of: str
    links: np.ndarray


def check(records: Records) -> Iterator[Finding]:
    """Yield for each variable the part of the links in which it agrees worst, if that is hardly better than chance."""
    if records.links.n < MIN_LINKS:
        return
    every = list(parts(records))
    for name, values in records.variables.items():
        compared = linked(records, values)
        found = (measured(compared, part.links, part.of) for part in every if part.of != name)
        drops = [one for one in found if one is not None]
        if drops:
            worst = max(drops, key=lambda drop: drop.statistic)
            yield worst._replace(scope=name)


def parts(records: Records) -> Iterator[Part]:
    """Yield the parts of the links: by the rows of each file, strata, and codes of variables with few of them."""
    for side in ("puf", "eif"):
        rows = records.rows[side]
        eighth = np.minimum(rows[getattr(records.links, side)] * PARTS // len(rows), PARTS - 1)
        for at in range(PARTS):
            yield Part(f"{side}_rows", eighth == at)
            if 0 < at < PARTS - 1:
                yield Part(f"{side}_rows", eighth >= at)
                yield Part(f"{side}_rows", eighth < at)
    groups = {"stratum": records.strata["puf"]}
    groups |= {name: values.codes["puf"] for name, values in records.variables.items() if values.numbers is None}
    for of, codes in groups.items():
        own = codes[records.links.puf]
        present = np.unique(own[own >= 0])
        if 1 < len(present) <= MAX_CODES or of == "stratum":
            yield from (Part(of, own == code) for code in present.tolist()[:100])


class Compared(NamedTuple):
    """The values of a variable in linked records that both have it, and which links these are; `reach` of numbers."""

    puf: np.ndarray
    eif: np.ndarray
    present: np.ndarray
    reach: float


def linked(records: Records, values: Values) -> Compared:
    """Return the values of a variable in linked records."""
    columns = values.codes if values.places is None else values.places
    puf, eif = columns["puf"][records.links.puf], columns["eif"][records.links.eif]
    if values.places is None:
        return Compared(puf, eif, (puf >= 0) & (eif >= 0), 0.0)
    return Compared(puf, eif, ~np.isnan(puf) & ~np.isnan(eif), NEAR)


def agreement(puf: np.ndarray, eif: np.ndarray, reach: float) -> float:
    """Return the share of pairs that agree."""
    return float((np.abs(puf - eif) <= reach).mean())


def by_chance(puf: np.ndarray, eif: np.ndarray, reach: float) -> float:
    """Return the share of all pairs of a value of each that agree."""
    others = np.sort(eif)
    near = np.searchsorted(others, puf + reach, "right") - np.searchsorted(others, puf - reach)
    return float(near.mean()) / len(others)


def measured(compared: Compared, part: np.ndarray, of: str) -> Finding | None:
    """Return how much less often a part agrees than the others, if that is hardly more than by chance."""
    inside, outside = part & compared.present, ~part & compared.present
    n, m = int(inside.sum()), int(outside.sum())
    if n < MIN_PART or m < MIN_REST:
        return None
    of_part, of_rest = ((compared.puf[rows], compared.eif[rows], compared.reach) for rows in (inside, outside))
    own, others = agreement(*of_part), agreement(*of_rest)
    mean = (n * own + m * others) / (n + m)
    error = np.sqrt(mean * (1 - mean) * (1 / n + 1 / m)) + 1e-9
    if others - own < max(ERRORS * error, MIN_DROP):
        return None
    usual = by_chance(*of_rest)
    if others - usual < MIN_REST_GAIN or own - by_chance(*of_part) > MAX_SHARE * (others - usual):
        return None
    if any(by_chance(side[inside], side[inside], compared.reach) > MAX_CHANCE for side in compared[:2]):
        return None
    return Finding("", "part", others - own, own, n, UNDERSTATES, of)
